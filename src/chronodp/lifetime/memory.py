"""What a series must remember from one step to the next, sealed in the ledger."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Self

from chronodp.errors import UnknownDocument
from chronodp.lifetime.design import LifetimeDesign
from chronodp.privacy import canonical, load, to_document
from chronodp.reading import parse_json

__all__ = ["Memory", "Step"]


@dataclass(frozen=True, slots=True)
class Memory:
    """Where a series stands.

    Attributes:
        design: everything public about it; sealed too, so that nobody else can give it other terms.
        issues: how many there were.
        head: of the chain over all segments of the tally.
        seeded: whether any draw could be repeated.
    """

    design: LifetimeDesign
    issues: int
    head: bytes = field(repr=False)
    seeded: bool

    def to_bytes(self) -> bytes:
        """Return what is sealed."""
        content = {
            "kind": "lifetime state",
            "design": to_document(self.design),
            "issues": self.issues,
            "head": self.head.hex(),
            "seeded": self.seeded,
        }
        return canonical(content).encode()

    @classmethod
    def from_bytes(cls, stored: bytes, name: str) -> Self:
        """Return what was sealed; the state of another kind of stream is refused."""
        try:
            content: Any = parse_json(stored)
            if content["kind"] != "lifetime state":
                raise ValueError
            design: LifetimeDesign = load(content["design"], LifetimeDesign)
            return cls(design, int(content["issues"]), bytes.fromhex(content["head"]), bool(content["seeded"]))
        except (ValueError, TypeError, LookupError):  # without its cause, which could show what is sealed
            raise UnknownDocument(f"stream {name!r} is of another kind: no lifetime series has this name") from None


@dataclass(frozen=True, slots=True)
class Step:
    """The public side of a step: the request of an issue, and what it asks if not the usual; of an event nothing."""

    request: str | None = None
    asked: str | None = None

    def to_text(self) -> str:
        """Return what the ledger keeps of it."""
        return json.dumps([self.request] if self.asked is None else [self.request, self.asked])

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return a step as it was kept."""
        return cls(*json.loads(text))

"""What a stream hands to the ledger for sealing: its design, whether its draws could be repeated, and its memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from chronodp.errors import UnknownDocument
from chronodp.privacy.documents import load
from chronodp.reading import parse_json

__all__ = ["Form", "Standing", "frame", "packed", "unframe"]

Design = TypeVar("Design")
Memory = TypeVar("Memory")


@dataclass(frozen=True, slots=True)
class Standing(Generic[Design, Memory]):
    """All that a stream must know to go on.

    Attributes:
        plan: the JSON that identifies it.
        design: what the plan describes. Public.
        memory: what the mechanism remembers between steps. Secret.
        seeded: whether draws so far could be repeated.
    """

    plan: str
    design: Design
    memory: Memory = field(repr=False)
    seeded: bool


@dataclass(frozen=True, slots=True)
class Form(Generic[Design, Memory]):
    """How streams of one kind become bytes and come back. A form never changes: what was sealed must resume."""

    seal: Callable[[Standing[Design, Memory]], bytes]
    unseal: Callable[[bytes], Standing[Design, Memory]]


def packed(
    kind: type[Design], write: Callable[[Memory], bytes], read: Callable[[Design, bytes], Memory]
) -> Form[Design, Memory]:
    """Return the form of streams whose memory is bytes behind a head.

    Args:
        kind: of their design.
        write: a memory as bytes.
        read: a memory of a design, from bytes.
    """

    def seal(standing: Standing[Design, Memory]) -> bytes:
        return frame({"design": standing.plan, "seeded": standing.seeded}, write(standing.memory))

    def unseal(state: bytes) -> Standing[Design, Memory]:
        head, memory = unframe(state)
        plan = head.get("design")
        if not isinstance(plan, str):
            raise UnknownDocument("a stream's state is damaged")
        design: Design = load(plan, kind)
        return Standing(plan, design, read(design, memory), head["seeded"])

    return Form(seal, unseal)


def frame(head: Mapping[str, Any], memory: bytes) -> bytes:
    """Return a head of plain texts and numbers, and a memory behind it."""
    text = json.dumps(head).encode()
    return len(text).to_bytes(4, "big") + text + memory


def unframe(state: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the head and the memory behind it."""
    size = int.from_bytes(state[:4], "big")
    head = parse_json(state[4 : 4 + size])
    if not isinstance(head, dict) or not isinstance(head.get("seeded"), bool):
        raise UnknownDocument("a stream's state is damaged")
    return head, state[4 + size :]

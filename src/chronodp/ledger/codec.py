"""How a stream becomes the bytes that the ledger seals, and comes back from them.

The bytes of one sealed state:

    0 … 3          size of the head, n, big-endian
    4 … 4 + n - 1  head: JSON in UTF-8, of public things
    4 + n …        state: the mechanism's secret, to the end

All of it is sealed together. "Certificates" in ``docs/explanation/proofs/ledger.md`` says what the seal is bound to.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from chronodp.errors import UnknownDocument
from chronodp.privacy import load
from chronodp.reading import parse_json

__all__ = ["Snapshot", "StateCodec", "frame_head", "framed_codec", "unframe"]

Design = TypeVar("Design")
State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Snapshot(Generic[Design, State]):
    """All that a stream must know to go on.

    Attributes:
        plan: the JSON that identifies it.
        design: what the plan describes. Public.
        state: what the mechanism remembers between steps. Secret.
        seeded: whether draws so far could be repeated.
    """

    plan: str
    design: Design
    state: State = field(repr=False)
    seeded: bool


@dataclass(frozen=True, slots=True)
class StateCodec(Generic[Design, State]):
    """How streams of one kind become bytes and come back. A codec never changes: what was sealed must resume.

    Attributes:
        body: what changes with every step.
        decode: a stream, from its head and its body.
        head: what stands before the body and stays the same as long as the stream goes on; nothing if not said.
    """

    body: Callable[[Snapshot[Design, State]], bytes]
    decode: Callable[[bytes], Snapshot[Design, State]]
    head: Callable[[Snapshot[Design, State]], bytes] = lambda snapshot: b""  # noqa: ARG005 (of whatever stream)

    def encode(self, snapshot: Snapshot[Design, State]) -> bytes:
        """Return a stream as bytes."""
        return self.head(snapshot) + self.body(snapshot)


def framed_codec(
    kind: type[Design], body: Callable[[Snapshot[Design, State]], bytes], read: Callable[[Design, bytes], State]
) -> StateCodec[Design, State]:
    """Return the codec of streams whose state is bytes behind a head.

        4 bytes            size of the head, big-endian
        that many bytes    JSON: {"design": …, "seeded": …}
        the rest           the state, as ``body`` makes it

    Args:
        kind: of their design.
        body: their state as bytes.
        read: a state of a design, from bytes.
    """

    def head(snapshot: Snapshot[Design, State]) -> bytes:
        return frame_head({"design": snapshot.plan, "seeded": snapshot.seeded})

    def decode(sealed: bytes) -> Snapshot[Design, State]:
        said, state = unframe(sealed)
        plan = said.get("design")
        if not isinstance(plan, str):
            raise UnknownDocument("a stream's state is damaged")
        design: Design = load(plan, kind)
        return Snapshot(plan, design, read(design, state), said["seeded"])

    return StateCodec(body, decode, head)


def frame_head(head: Mapping[str, Any]) -> bytes:
    """Return a head of plain texts and numbers as it stands before a state."""
    text = json.dumps(head).encode()
    return len(text).to_bytes(4, "big") + text


def unframe(sealed: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the head and the state behind it."""
    size = int.from_bytes(sealed[:4], "big")
    head = parse_json(sealed[4 : 4 + size])
    if not isinstance(head, dict) or not isinstance(head.get("seeded"), bool):
        raise UnknownDocument("a stream's state is damaged")
    return head, sealed[4 + size :]

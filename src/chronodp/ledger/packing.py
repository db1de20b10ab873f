"""What a stream hands to the ledger for sealing: its design, whether its draws could be repeated, and its memory."""

from __future__ import annotations

import json
from typing import TypeVar

from chronodp.errors import UnknownDocument
from chronodp.privacy.documents import dump, load
from chronodp.reading import parse_json

__all__ = ["pack", "unpack"]

Design = TypeVar("Design")


def pack(design: object, memory: bytes, *, seeded: bool) -> bytes:
    """Return a stream's state as bytes."""
    head = json.dumps({"design": dump(design), "seeded": seeded}).encode()
    return len(head).to_bytes(4, "big") + head + memory


def unpack(state: bytes, kind: type[Design]) -> tuple[Design, bytes, bool]:
    """Return the design, the memory, and whether the draws so far could be repeated; refuse other kinds of stream."""
    size = int.from_bytes(state[:4], "big")
    head = parse_json(state[4 : 4 + size])
    if (
        not isinstance(head, dict)
        or not isinstance(head.get("design"), str)
        or not isinstance(head.get("seeded"), bool)
    ):
        raise UnknownDocument("a stream's state is damaged")
    design: Design = load(head["design"], kind)
    return design, state[4 + size :], head["seeded"]

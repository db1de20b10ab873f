"""Which people held which keys in the windows that are open; what counts of it is decided when a window closes.

A set of pairs has no order and no repeats: how records come, twice or in other batches, changes nothing. A stored part
is pairs one after another, all numbers with their least byte first:

    16 bytes            person: keyed BLAKE2b of the name
    4 bytes             n, the size of the key's text
    n bytes             the text in UTF-8
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chronodp.live.hash_table import HASH, Hashes, as_hashes
from chronodp.live.key_limits import KeyLimits
from chronodp.live.people import PersonHashes
from chronodp.live.records import Batch
from chronodp.live.window_totals import Counted, Part, Used, sort_out

__all__ = ["KeysClosing", "WindowKeys"]

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class KeysClosing:
    """A window that is to be closed: who held which key in it. How often people have counted the stream knows."""

    window: int
    pairs: Pairs

    @property
    def people(self) -> Hashes:
        """Nobody's windows are counted."""
        return as_hashes(b"")


class WindowKeys:
    """People and keys of open windows.

    Args:
        limits: the windows.
        key: of the hash that takes the place of people's names.
    """

    def __init__(self, limits: KeyLimits, key: bytes) -> None:
        self._limits = limits
        self._hashes = PersonHashes(key)
        self._pairs: dict[int, set[tuple[bytes, str]]] = {}

    @property
    def entries(self) -> int:
        """How many pairs are kept for open windows: what memory depends on."""
        return sum(map(len, self._pairs.values()))

    def add(self, batch: Batch, *, first: int, last: int) -> tuple[Counted, list[Part]]:
        """Count the records of windows ``first`` to ``last``; return what became of them, and what to store."""
        window, taken, counted = sort_out(self._limits.windows, batch, first=first, last=last)
        people, places = batch.people[taken], batch.places[taken]
        fresh: dict[int, set[tuple[bytes, str]]] = {}
        for number, person, place in zip(window[taken].tolist(), people.tolist(), places.tolist(), strict=True):
            pair = (self._hashes[batch.names[person]], batch.keys[place])
            if pair not in self._pairs.get(number, ()):
                fresh.setdefault(number, set()).add(pair)
        parts = [Part(number, _stored(pairs)) for number, pairs in sorted(fresh.items())]
        for part in parts:
            self.restore(part)
        return counted, parts

    def restore(self, part: Part) -> None:
        """Add what was stored of a window."""
        pairs = self._pairs.setdefault(part.window, set())
        content, at = part.content, 0
        while at < len(content):
            begin = at + HASH + 4
            end = begin + int.from_bytes(content[at + HASH : begin], "little")
            pairs.add((content[at : at + HASH], content[begin:end].decode()))
            at = end

    def closing(self, window: int, used: Used) -> KeysClosing:  # noqa: ARG002 (of totals)
        """Return what a window holds, in an order that tells nothing of how it came."""
        held = sorted(self._pairs.get(window, ()))
        return KeysClosing(window, tuple((person.hex(), key) for person, key in held))

    def values(self, closings: Sequence[KeysClosing]) -> list[Pairs]:
        """Return what streams take of windows."""
        return [closing.pairs for closing in closings]

    def forget(self, before: int) -> None:
        """Drop all windows before one."""
        for window in [window for window in self._pairs if window < before]:
            del self._pairs[window]


def _stored(pairs: set[tuple[bytes, str]]) -> bytes:
    texts = [(person, key.encode()) for person, key in pairs]
    return b"".join(person + len(text).to_bytes(4, "little") + text for person, text in sorted(texts))

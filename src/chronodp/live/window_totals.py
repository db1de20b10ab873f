"""What people have put into the windows that are open, kept so that no record can touch another person's.

Sums are exact whole numbers and everything else is decided when a window closes, so the order in which records come,
and how they are cut into batches, changes nothing.

Steps 2 to 5 of "What is computed" in ``docs/explanation/proofs/live.md``: `WindowTotals.add` is step 2 and the sums of
step 3, `WindowTotals.closing` the clip of step 3, and 4 and 5. A stored entry:

    0 … 15     person: keyed BLAKE2b of the name, zeros where nobody is named
    16 … 19    place, the number of the group
    20 … 35    id: keyed BLAKE2b of the cell and the record's id, zeros without ids
    36 … 43    steps, signed

All numbers have their least byte first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from chronodp.live.contribution import Limits
from chronodp.live.records import Batch
from chronodp.live.windows import Windows

__all__ = ["Closing", "Counted", "Part", "PersonHashes", "Tally", "WindowTotals", "sort_out"]

Totals = NDArray[np.int64]

_HASH = 16
_KEY = np.dtype([("person", f"V{_HASH}"), ("place", "<u4")])
_ENTRY = np.dtype([("key", f"V{_KEY.itemsize}"), ("id", f"V{_HASH}"), ("steps", "<i8")])
_NOBODY = bytes(_HASH)
_REMEMBERED = 100_000  # hashes of people kept to save time


@dataclass(frozen=True, slots=True)
class Counted:
    """What became of the records of a batch, for the owner's eyes only.

    Attributes:
        taken: counted.
        late: dated into windows that were closed, or before the first.
        future: dated too far ahead.
        elsewhere: of a group that is not on the list, or after the last window.
    """

    taken: int = 0
    late: int = 0
    future: int = 0
    elsewhere: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """What a batch added to one window, for storage: a secret."""

    window: int
    content: bytes


@dataclass(frozen=True, slots=True)
class Closing:
    """A window that is to be closed: its totals in steps of the grid, and who counts in it."""

    window: int
    totals: Totals
    people: tuple[bytes, ...]


class Tally(Protocol):
    """What people have put into open windows, whatever is counted there."""

    @property
    def entries(self) -> int:
        """How much is kept: what memory depends on."""
        ...

    def add(self, batch: Batch, *, first: int, last: int) -> tuple[Counted, list[Part]]:
        """Count the records of windows ``first`` to ``last``; return what became of them, and what to store."""
        ...

    def restore(self, part: Part) -> None:
        """Add what was stored of a window."""
        ...

    def closing(self, window: int, used: Callable[[list[bytes]], dict[bytes, int]]) -> Any:
        """Return what a window holds; ``used`` tells in how many windows people have counted before."""
        ...

    def values(self, closings: Any) -> Any:
        """Return what streams take of windows."""
        ...

    def forget(self, before: int) -> None:
        """Drop all windows before one."""
        ...


class PersonHashes:
    """Keyed hashes that take the place of names; those of people are kept for a while.

    Args:
        key: of the hash.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._known: dict[str, bytes] = {}

    def __getitem__(self, name: str) -> bytes:
        """Return the hash of a person."""
        known = self._known.get(name)
        if known is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            known = self._known[name] = self.make("person", name)
        return known

    def make(self, purpose: str, name: str, within: bytes = b"") -> bytes:
        """Return the hash of a name for a purpose."""
        content = name.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(
            within + content, key=self._key, digest_size=_HASH, person=purpose.encode().ljust(16)
        ).digest()


def sort_out(
    windows: Windows, batch: Batch, *, first: int, last: int
) -> tuple[NDArray[np.int64], NDArray[np.intp], Counted]:
    """Return each record's window, which records count in windows ``first`` to ``last``, and what became of all."""
    window = windows.number(batch.times)
    taken = np.flatnonzero((window >= first) & (window <= last) & (batch.places >= 0))
    before = window < first
    after = ~before & (window > last)
    beyond = before & (window == -1) & (batch.times >= windows.begins(first))
    late = int(np.count_nonzero(before & ~beyond))
    future = int(np.count_nonzero(after))
    return window, taken, Counted(len(taken), late, future, len(window) - len(taken) - late - future)


class WindowTotals:
    """Per-person totals of open windows.

    Args:
        limits: who is protected and how far one person reaches.
        key: of the hash that takes the place of people's names.
    """

    def __init__(self, limits: Limits, key: bytes) -> None:
        self._limits = limits
        self._hashes = PersonHashes(key)
        self._totals: dict[int, dict[bytes, int]] = {}
        self._ids: dict[int, dict[bytes, int]] = {}
        self._rows: dict[int, Totals] = {}  # where nobody is named, records stand for themselves

    @property
    def entries(self) -> int:
        """How many numbers are kept for open windows: what memory depends on."""
        return sum(sum(map(len, kept.values())) for kept in (self._totals, self._ids))

    def add(self, batch: Batch, *, first: int, last: int) -> tuple[Counted, list[Part]]:
        """Count the records of windows ``first`` to ``last``; return what became of them, and what to store."""
        window, taken, counted = sort_out(self._limits.windows, batch, first=first, last=last)
        parts = [Part(number, content) for number, content in self._parts(batch, window, taken)]
        for part in parts:
            self.restore(part)
        return counted, parts

    def restore(self, part: Part) -> None:
        """Add what was stored of a window."""
        entries = np.frombuffer(part.content, dtype=_ENTRY)
        if not self._limits.people and not self._limits.ids:
            places = np.frombuffer(entries["key"].tobytes(), dtype=_KEY)["place"]
            rows = self._rows.setdefault(part.window, np.zeros(self._limits.columns, np.int64))
            np.add.at(rows, places, entries["steps"])
            return
        totals = self._totals.setdefault(part.window, {})
        keys, steps = _bytes(entries["key"]), entries["steps"].tolist()
        if not self._limits.ids:
            for key, step in zip(keys, steps, strict=True):
                totals[key] = totals.get(key, 0) + step
            return
        known = self._ids.setdefault(part.window, {})
        for key, identity, step in zip(keys, _bytes(entries["id"]), steps, strict=True):
            # Of records with one id the least counts, whichever came first.
            before = known.get(identity)
            if before is None or step < before:  # the least: the same whatever the order of arrival
                known[identity] = step
                totals[key] = totals.get(key, 0) + step - (before or 0)

    def closing(self, window: int, used: Callable[[list[bytes]], dict[bytes, int]]) -> Closing:
        """Return what a window holds; ``used`` tells in how many windows people have counted before."""
        limits = self._limits
        columns = limits.columns
        if window in self._rows:
            return Closing(window, self._rows[window].copy(), ())
        held = self._totals.get(window, {})
        keys = np.frombuffer(b"".join(held), dtype=_KEY)
        steps = _whole(held.values())
        if limits.people:  # otherwise records were clipped one by one
            steps = np.clip(steps, *limits.range)
        people: tuple[bytes, ...] = ()
        kept = np.ones(len(keys), np.bool_)
        if limits.chosen_groups is not None:
            kept = _first_places(keys, columns, limits.chosen_groups)
        if limits.first_windows is not None:
            everyone = list(dict.fromkeys(_bytes(keys["person"])))
            before = used(everyone)
            people = tuple(person for person in everyone if before.get(person, 0) < limits.first_windows)
            allowed = set(people)
            kept &= np.fromiter((person in allowed for person in _bytes(keys["person"])), np.bool_, len(keys))
        totals = np.zeros(columns, np.int64)
        np.add.at(totals, keys["place"][kept], steps[kept])
        return Closing(window, totals, people)

    def values(self, closings: Sequence[Closing]) -> NDArray[np.float64]:
        """Return what streams take of windows, windows by groups."""
        totals: NDArray[np.float64] = np.array([closing.totals for closing in closings]) * self._limits.grid.step
        return totals

    def forget(self, before: int) -> None:
        """Drop all windows before one."""
        for kept in (self._totals, self._ids, self._rows):
            for window in [window for window in kept if window < before]:
                del kept[window]

    def _parts(self, batch: Batch, window: NDArray[np.int64], taken: NDArray[np.intp]) -> Iterator[tuple[int, bytes]]:
        if not len(taken):
            return
        hashes = np.array([self._hashes[name] for name in batch.names] or [_NOBODY], dtype=f"V{_HASH}")
        windows, people, places = window[taken], batch.people[taken], batch.places[taken]
        steps = self._to_steps(batch.values[taken]) if batch.values is not None else np.ones(len(taken), np.int64)
        if not self._limits.people:
            steps = np.clip(steps, *self._limits.range)
        order = np.argsort(windows, kind="stable")
        if not self._limits.ids:
            # One number for each window, person and place: sums of whole numbers in any order.
            packed = ((windows - windows.min()) * len(hashes) + people) * self._limits.columns + places
            _, order, inverse = np.unique(packed, return_index=True, return_inverse=True)
            sums = np.zeros(len(packed), np.int64)
            np.add.at(sums, order[inverse], steps)
            steps = sums
        keys = np.zeros(len(order), dtype=_KEY)
        keys["person"], keys["place"] = hashes[people[order]], places[order]
        entries = np.zeros(len(order), dtype=_ENTRY)
        entries["key"] = np.frombuffer(keys.tobytes(), dtype=f"V{_KEY.itemsize}")
        entries["steps"] = steps[order]
        if batch.ids is not None:
            cells = _bytes(entries["key"])
            names = [batch.ids[at] for at in taken[order].tolist()]
            # Repeats are told apart within one person's cell, so that nobody's id can push out another's record.
            told = [self._hashes.make("id", name, cell) for name, cell in zip(names, cells, strict=True)]
            entries["id"] = np.array(told, dtype=f"V{_HASH}")
        found, begins = np.unique(windows[order], return_index=True)
        for number, rows in zip(found.tolist(), np.split(entries, begins[1:]), strict=True):
            yield number, rows.tobytes()

    def _to_steps(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return whole steps; values are limited so that sums of 2^32 of them fit 64 bits."""
        limit = float(2**31 - 1)
        with np.errstate(over="ignore"):
            scaled = np.clip(values / self._limits.grid.step, -limit, limit)
        return np.floor(scaled + 0.5).astype(np.int64)


def _first_places(keys: NDArray[np.void], columns: int, most: int) -> NDArray[np.bool_]:
    """Return which cells are among the first of their person, counted from a place that the person's hash picks."""
    seeds = np.frombuffer(keys["person"].tobytes(), dtype="<u8").reshape(-1, 2)
    turned = (keys["place"] + seeds[:, 0] % columns) % columns
    order = np.lexsort((turned, seeds[:, 0], seeds[:, 1]))
    sorted_seeds = seeds[order]
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = np.any(sorted_seeds[1:] != sorted_seeds[:-1], axis=1)
    begins = np.maximum.accumulate(np.where(fresh, np.arange(len(order)), 0))
    kept = np.zeros(len(order), np.bool_)
    kept[order] = np.arange(len(order)) - begins < most
    return kept


def _whole(totals: Collection[int]) -> NDArray[np.int64]:
    """Return totals as an array; what lies beyond 64 bits lies beyond every clip as well."""
    try:
        return np.fromiter(totals, np.int64, len(totals))
    except OverflowError:
        return np.array([min(max(total, -(2**62)), 2**62) for total in totals], dtype=np.int64)


def _bytes(column: NDArray[np.void]) -> list[bytes]:
    """Return the cells of a column of fixed width as bytes."""
    width, content = column.dtype.itemsize, column.tobytes()
    return [content[at : at + width] for at in range(0, len(content), width)]

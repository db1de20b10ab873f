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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from chronodp.live.contribution import Limits
from chronodp.live.hash_table import HASH, Hashes, Numbers, as_hashes
from chronodp.live.people import REMEMBERED, NumberedPeople, PersonHashes
from chronodp.live.records import Batch
from chronodp.live.window_sums import LeastOfIds, Sums, WindowSums
from chronodp.live.windows import Windows

__all__ = ["Closing", "Counted", "Part", "Tally", "Used", "WindowTotals", "sort_out"]

Totals = NDArray[np.int64]
Used = Callable[[Hashes], Numbers]
"""Tells in how many windows people have counted before, each of them named once."""

_KEY = np.dtype([("person", f"V{HASH}"), ("place", "<u4")])
_ENTRY = np.dtype([("key", f"V{_KEY.itemsize}"), ("id", f"V{HASH}"), ("steps", "<i8")])
_NOBODY = bytes(HASH)
_NONE: Numbers = np.zeros(0, np.int64)


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
    people: Hashes


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

    def closing(self, window: int, used: Used) -> Any:
        """Return what a window holds; ``used`` tells in how many windows people have counted before."""
        ...

    def values(self, closings: Any) -> Any:
        """Return what streams take of windows."""
        ...

    def forget(self, before: int) -> None:
        """Drop all windows before one."""
        ...


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
        self._people = NumberedPeople(self._hashes)
        self._open: dict[int, WindowSums] = {}

    @property
    def entries(self) -> int:
        """How many numbers are kept for open windows: what memory depends on."""
        return sum(map(len, self._open.values()))

    def add(self, batch: Batch, *, first: int, last: int) -> tuple[Counted, list[Part]]:
        """Count the records of windows ``first`` to ``last``; return what became of them, and what to store."""
        window, taken, counted = sort_out(self._limits.windows, batch, first=first, last=last)
        parts = []
        for number, people, entries in self._entries(batch, window, taken):
            self._count(number, people, entries)
            parts.append(Part(number, entries.tobytes()))
        return counted, parts

    def restore(self, part: Part) -> None:
        """Add what was stored of a window."""
        entries = np.frombuffer(part.content, dtype=_ENTRY)
        self._count(part.window, self._people.number(_keys(entries)["person"]), entries)

    def closing(self, window: int, used: Used) -> Closing:
        """Return what a window holds; ``used`` tells in how many windows people have counted before."""
        limits = self._limits
        cells, steps = self._open[window].totals() if window in self._open else (_NONE, _NONE)
        numbers, places = np.divmod(cells, limits.columns)
        if limits.people:  # otherwise records were clipped one by one
            steps = np.clip(steps, *limits.range)
        kept = np.ones(len(cells), np.bool_)
        if limits.chosen_groups is not None:
            kept = _first_places(self._people.hashes(numbers), places, limits.columns, limits.chosen_groups)
        people = as_hashes(b"")
        if limits.first_windows is not None and len(cells):
            begin = np.ones(len(cells), np.bool_)
            begin[1:] = numbers[1:] != numbers[:-1]  # cells stand in the order of people
            everyone = self._people.hashes(numbers[begin])
            counts = used(everyone) < limits.first_windows
            people = everyone[counts]
            kept &= counts[np.cumsum(begin) - 1]
        totals = np.zeros(limits.columns, np.int64)
        np.add.at(totals, places[kept], steps[kept])
        return Closing(window, totals, people)

    def values(self, closings: Sequence[Closing]) -> NDArray[np.float64]:
        """Return what streams take of windows, windows by groups."""
        totals: NDArray[np.float64] = np.array([closing.totals for closing in closings]) * self._limits.grid.step
        return totals

    def forget(self, before: int) -> None:
        """Drop all windows before one, and people of no window if they are many."""
        self._open = {window: held for window, held in self._open.items() if window >= before}
        if len(self._people) <= REMEMBERED:
            return
        columns, everyone = self._limits.columns, len(self._people)
        kept = np.zeros(everyone, np.bool_)
        for held in self._open.values():
            kept[held.totals()[0] // columns] = True
        if 2 * np.count_nonzero(kept) >= everyone:  # not worth the time yet
            return
        kept[::2] = True
        numbers = self._people.forget(kept)
        for held in self._open.values():
            held.renumber(lambda cells: numbers[cells // columns] * columns + cells % columns)

    def _entries(
        self, batch: Batch, window: NDArray[np.int64], taken: NDArray[np.intp]
    ) -> Iterator[tuple[int, Numbers, NDArray[np.void]]]:
        """Yield for each window the numbers of people, and the entries to store."""
        if not len(taken):
            return
        windows, places, people = window[taken], batch.places[taken], self._numbers(batch, taken)
        steps = self._to_steps(batch.values[taken]) if batch.values is not None else np.ones(len(taken), np.int64)
        if not self._limits.people:
            steps = np.clip(steps, *self._limits.range)
        if self._limits.ids:
            order = np.argsort(windows, kind="stable")
            steps = steps[order]
        else:
            order, steps = self._add_up(windows, people, places, steps)
        keys = np.zeros(len(order), dtype=_KEY)
        keys["person"], keys["place"] = self._people.hashes(people[order]), places[order]
        entries = np.zeros(len(order), dtype=_ENTRY)
        entries["key"] = np.frombuffer(keys.tobytes(), dtype=f"V{_KEY.itemsize}")
        entries["steps"] = steps
        if batch.ids is not None:
            cells = _bytes(entries["key"])
            names = [batch.ids[at] for at in taken[order].tolist()]
            # Repeats are told apart within one person's cell, so that nobody's id can push out another's record.
            told = [self._hashes.make("id", name, cell) for name, cell in zip(names, cells, strict=True)]
            entries["id"] = as_hashes(b"".join(told))
        found, begins = np.unique(windows[order], return_index=True)
        whose = np.split(people[order], begins[1:])
        yield from zip(found.tolist(), whose, np.split(entries, begins[1:]), strict=True)

    def _numbers(self, batch: Batch, taken: NDArray[np.intp]) -> Numbers:
        """Return the numbers of people whose records are taken."""
        names = batch.names
        if not names:
            return np.repeat(self._people.number(as_hashes(_NOBODY)), len(taken))
        people = batch.people[taken]
        if len(people) != len(names) or np.any(people != np.arange(len(names))):
            names = [names[at] for at in people.tolist()]
        return self._people.name(names)

    def _add_up(
        self, windows: Numbers, people: Numbers, places: Numbers, steps: Numbers
    ) -> tuple[NDArray[np.intp], Numbers]:
        """Return where the first record of each window, person and place stands, and the sums of each."""
        columns, everyone = self._limits.columns, len(self._people)
        since = windows - windows.min()
        if (int(since.max()) + 1) * everyone * columns >= 2**62:
            named, people = np.unique(people, return_inverse=True)
            everyone = len(named)
        packed = (since * everyone + people) * columns + places
        order = np.argsort(packed, kind="stable")
        begin = np.ones(len(order), np.bool_)
        begin[1:] = packed[order[1:]] != packed[order[:-1]]
        return order[begin], np.add.reduceat(steps[order], np.flatnonzero(begin))

    def _count(self, window: int, people: Numbers, entries: NDArray[np.void]) -> None:
        """Add entries to a window; people are given by number, too."""
        if window not in self._open:
            self._open[window] = LeastOfIds() if self._limits.ids else Sums()
        places = _keys(entries)["place"].astype(np.int64)
        cells = people * self._limits.columns + places
        self._open[window].add(cells, entries["id"], entries["steps"].astype(np.int64))

    def _to_steps(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return whole steps; values are limited so that sums of 2^32 of them fit 64 bits."""
        limit = float(2**31 - 1)
        with np.errstate(over="ignore"):
            scaled = np.clip(values / self._limits.grid.step, -limit, limit)
        return np.floor(scaled + 0.5).astype(np.int64)


def _first_places(people: Hashes, places: Numbers, columns: int, most: int) -> NDArray[np.bool_]:
    """Return which cells are among the first of their person, counted from a place that the person's hash picks."""
    seeds = people.view("<u8").reshape(-1, 2)
    turned = (places.astype(np.uint64) + seeds[:, 0] % np.uint64(columns)) % np.uint64(columns)
    order = np.lexsort((turned, seeds[:, 0], seeds[:, 1]))
    sorted_seeds = seeds[order]
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = np.any(sorted_seeds[1:] != sorted_seeds[:-1], axis=1)
    begins = np.maximum.accumulate(np.where(fresh, np.arange(len(order)), 0))
    kept = np.zeros(len(order), np.bool_)
    kept[order] = np.arange(len(order)) - begins < most
    return kept


def _keys(entries: NDArray[np.void]) -> NDArray[np.void]:
    """Return person and place of entries."""
    return np.ascontiguousarray(entries["key"]).view(_KEY)


def _bytes(column: NDArray[np.void]) -> list[bytes]:
    """Return the cells of a column of fixed width as bytes."""
    width, content = column.dtype.itemsize, column.tobytes()
    return [content[at : at + width] for at in range(0, len(content), width)]

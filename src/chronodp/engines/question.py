"""What every engine is asked, and what it answers: bounded integer totals, one for each cell of a public grid.

A cell is a period and a place; a place is a group, or a group and a bin. The answer depends on a person only through at
most `max_periods` periods, `max_places` places in each and a total clipped to `clip`, whatever the table holds and
whatever the key; the argument stands in ``docs/explanation/proofs/bounding.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from chronodp.engines.reading import Reading, ReadingCheck, Wanted
from chronodp.engines.sources import Source
from chronodp.privacy import Calendar, Grid
from chronodp.privacy.documents import document

__all__ = ["ROW_LIMIT", "Engine", "Grouping", "Progress", "Question", "Tally", "Totals"]

ROW_LIMIT = 2**31 - 1
"""Steps beyond which a single row's value is taken as this many; public, and never below twice the clip."""

Progress = Callable[[float], None]
"""Told now and then which fraction of the work is done."""


@document("grouping")
@dataclass(frozen=True, slots=True)
class Grouping:
    """A column and the public keys by which it is released; rows with any other key are left out."""

    column: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """What to add up, and how far one person may reach.

    Attributes:
        calendar: the public grid of time.
        time: the column with the time of a row.
        user: the column with the person; None where every row stands for itself.
        value: the column to add up or to bin; None to count rows.
        grid: the steps in which values are added up.
        clip: least and most steps of a person in a cell (of a row, where there is no person).
        groupings: columns that split the answer, with their public keys.
        edges: ascending edges of bins of ``value``; rows are then counted by bin, the upper edge of the last included.
        max_periods: how many periods of one person count; None for all.
        max_places: in how many places one person counts within a period; None for all.
        reading: what the owner declared about how cells are written.
    """

    calendar: Calendar
    time: str
    user: str | None
    value: str | None
    grid: Grid
    clip: tuple[int, int]
    groupings: tuple[Grouping, ...] = ()
    edges: tuple[float, ...] = ()
    max_periods: int | None = None
    max_places: int | None = None
    reading: Reading = field(default_factory=Reading)

    @property
    def wanted(self) -> tuple[Wanted, ...]:
        """The columns that are read, and as what."""
        wanted = [Wanted("time", "time", self.time)]
        wanted += [] if self.user is None else [Wanted("user", "name", self.user)]
        wanted += [] if self.value is None else [Wanted("value", "number", self.value)]
        return (*wanted, *(Wanted("by", "name", grouping.column) for grouping in self.groupings))

    @property
    def groups(self) -> int:
        """How many groups there are."""
        count = 1
        for grouping in self.groupings:
            count *= len(grouping.keys)
        return count

    @property
    def places(self) -> int:
        """How many places a period has."""
        return self.groups * max(1, len(self.edges) - 1)

    @property
    def cells(self) -> int:
        """How many numbers are asked for."""
        return len(self.calendar) * self.places


@dataclass(frozen=True, slots=True)
class Tally:
    """What the bounds take away, for the owner's eyes only: publishing it would be a release of its own.

    Attributes:
        people: people with at least one row that counts.
        people_over: of these, how many were over a limit and lost periods or places.
        cells: pairs of a person and a cell.
        cells_kept: of these, how many were kept.
        before: sum of people's totals before anything was bounded.
        clipped: the same after clipping.
        kept: the same after leaving out periods and places as well: what is released, before noise.
    """

    people: int
    people_over: int
    cells: int
    cells_kept: int
    before: float
    clipped: float
    kept: float


@dataclass(frozen=True, slots=True)
class Totals:
    """The answer: exact integers, the same from every engine.

    Attributes:
        sums: clipped totals added up, in steps of the grid, by period and place.
        people: how many people (or rows, where there is no person) were added up there.
    """

    sums: NDArray[np.int64]
    people: NDArray[np.int64]


class Engine(Protocol):
    """Reads a source and answers a question."""

    def find(self, data: object) -> Source:
        """Return the source that a user's words stand for."""
        ...

    def totals(self, source: Source, question: Question, *, key: str, progress: Progress = ...) -> Totals:
        """Return the bounded totals; ``key`` decides which periods of people over the limit count."""
        ...

    def look(self, source: Source, question: Question) -> ReadingCheck:
        """Return how the source is read and what is left out, for the owner only."""
        ...

    def tally(self, source: Source, question: Question, *, key: str, progress: Progress = ...) -> Tally:
        """Return what the bounds take away, for the owner only."""
        ...

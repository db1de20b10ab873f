"""What every engine is asked for: bounded integer totals, one for each cell of a public grid.

A cell is a period and a place; a place is a group, or a group and a bin. The answer depends on a person only through at
most `max_periods` periods, `max_places` places in each and a total clipped to `clip`, whatever the table holds and
whatever the key; the argument stands in ``docs/explanation/proofs/bounding.md``, "What is computed" and "Why one unit
changes no more than is stated".
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from chronodp.engines.expressions import Cell, Derived, Expressions, expressions_of
from chronodp.engines.reading import Reading, Wanted
from chronodp.errors import InvalidArgument
from chronodp.privacy import LATER, Calendar, Grid, document

__all__ = [
    "LONGEST_SERIES",
    "ROW_LIMIT",
    "TALLIED",
    "WIDEST_SQUARED",
    "WIDEST_WEIGHED",
    "Grouping",
    "Progress",
    "Question",
    "Scaling",
]

WIDEST_SQUARED = 2**31
"""Most steps between the ends of a clip whose squares are asked for: twice a total less both ends, squared, is then at
most 2^62 and fits 64 bits in every engine."""

WIDEST_WEIGHED = 2**30
"""Most steps of a row times the rows of a person, where rows are weighed: sums of 2^32 such rows are then at most 2^62
and fit 64 bits in every engine."""

TALLIED = 1000
"""Parts of a row in which weights are told to the owner."""

LONGEST_SERIES = 2**31
"""Most steps of a person's cell, and of the length to which a whole series is scaled: see `lengths`."""

ROW_LIMIT = 2**31 - 1
"""Steps of a single row that count at most where totals are released; never below twice the clip."""

Progress = Callable[[float], None]
"""Told now and then which fraction of the work is done."""


@document("grouping")
@dataclass(frozen=True, slots=True)
class Grouping:
    """A column and the public keys by which it is released; rows with any other key are left out.

    Attributes:
        column: which one.
        keys: as cells that hold them are read.
        found: True where a private step found the keys, and nobody declared them; there may then be none.
    """

    column: str
    keys: tuple[str, ...]
    found: bool | None = field(default=None, metadata=LATER)


@dataclass(frozen=True, slots=True)
class Scaling:
    """By how much values are divided before they are added up, where groups are not alike.

    Attributes:
        grouping: the place of the column whose keys say it.
        scales: above 0, one for each of its keys.
    """

    grouping: int
    scales: tuple[float, ...]

    def of_groups(self, groupings: Sequence[Grouping]) -> tuple[float, ...]:
        """Return the scale of each group: of keys of all columns together."""
        codes = itertools.product(*(range(len(grouping.keys)) for grouping in groupings))
        return tuple(self.scales[code[self.grouping]] for code in codes)


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
        squares: by how many bits the square of each kept total is shifted down before squares are added up, see
            `square`; None where no squares are asked for.
        row_limit: steps beyond which a single row's value is taken as this many; public.
        where: which rows count, as an expression over one row; None for all.
        columns: columns that are made of others; ``value`` and groupings may name them.
        rows: of how many rows a person has the weight in a group of a period. ``clip`` is then of a row, and totals are
            of what rows lie above its lower end, or of ones in bins, see `weigh`; ``max_places`` is a limit of groups.
            None where people's totals are clipped.
        window: for how many periods an active one makes a person present, itself included. Totals are then of who is
            present in each period of the calendar. None where each period is counted by itself.
        max_stays: where people are present, how many of their stays count over all places, the first in time; None for
            all. See `stays`.
        norm: to which length a person's whole series is scaled, in steps; then no periods or places are chosen. None
            where clip and limits alone bound a person.
        scaling: by how much values of each key are divided before they are rounded to steps, so that one clip serves
            groups that are not alike; None where values are taken as they stand.
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
    squares: int | None = None
    row_limit: int = ROW_LIMIT
    where: str | None = None
    columns: tuple[Derived, ...] = ()
    rows: int | None = None
    norm: int | None = None
    window: int | None = None
    max_stays: int | None = None
    scaling: Scaling | None = None

    def __post_init__(self) -> None:
        self._check_window()
        if self.scaling is not None:
            keys = self.groupings[self.scaling.grouping].keys
            if self.value is None or self.edges or len(keys) != len(self.scaling.scales):
                raise InvalidArgument("scaling", self.scaling, "a number for each key, where values are added up")
        if self.rows is not None and self.rows * self.row_reach > WIDEST_WEIGHED:
            allowed = f"at most {WIDEST_WEIGHED:,} steps wide, times the rows of a person, where rows are weighed"
            raise InvalidArgument("clip", self.clip, allowed)
        if self.norm is not None:
            self._check_norm(self.norm)
        if self.squares is None:
            return
        if not 0 <= self.squares <= 62:
            raise InvalidArgument("squares", self.squares, "a shift from 0 to 62 bits")
        if self.clip[1] - self.clip[0] > WIDEST_SQUARED:
            raise InvalidArgument(
                "clip", self.clip, f"at most {WIDEST_SQUARED:,} steps wide where squares are added up"
            )

    def _check_window(self) -> None:
        if self.window is None and self.max_stays is not None:
            raise InvalidArgument("max_stays", self.max_stays, "left out unless it is asked who is present")
        one = round(1 / self.grid.step)
        plain = self.value is None and (self.squares, self.rows, self.norm) == (None, None, None)
        if self.window is not None and (self.user is None or not plain or self.clip != (0, one) or self.window < 1):
            raise InvalidArgument(
                "window", self.window, "used with counts of people only, where each counts once: clip (0, 1)"
            )

    def _check_norm(self, norm: int) -> None:
        if not 0 <= norm <= LONGEST_SERIES or max(map(abs, self.clip)) > LONGEST_SERIES:
            raise InvalidArgument("norm", norm, f"at most {LONGEST_SERIES:,} steps, and so the ends of the clip")
        if self.user is None or self.squares is not None or (self.max_periods, self.max_places) != (None, None):
            raise InvalidArgument(
                "norm", norm, "used with counts of people only, without bounds on periods, places or squares"
            )

    @property
    def per_unit(self) -> tuple[float, ...]:
        """How many steps a value of 1 has: of every key of the grouping that scales, or one number for all rows.

        Without scales a power of two. With them a float, and a value times it is rounded as every engine rounds; that
        is a function of the row alone, and what it makes is clipped like anything else.
        """
        scales = (1.0,) if self.scaling is None else self.scaling.scales
        return tuple(1 / scale / self.grid.step for scale in scales)

    @property
    def row_reach(self) -> int:
        """The most steps that one row adds where rows are weighed: the clip's width, or 1 in its bin."""
        return round(1 / self.grid.step) if self.edges else self.clip[1] - self.clip[0]

    @property
    def weighed_bins(self) -> int:
        """How many places share the weight of a person's rows: the bins of a group where rows are weighed."""
        return 1 if self.rows is None else max(1, len(self.edges) - 1)

    def weigh(self, totals: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return ⌊total / max(rows, L)⌋ for L = ``rows`` of the question, in whole numbers throughout.

        A total is of L times each row, and ``rows`` are the person's in the group and period. So each row counts with
        the weight min(1, L / rows): up to L rows exactly, and more of them as their mean times L, rounded down once.
        All that is added up is 0 or more, so rounding down is rounding towards 0. Engines that have no numpy write the
        same formula.
        """
        if self.rows is None:
            raise AssertionError("no rows are weighed")
        return totals // np.maximum(rows, self.rows)

    def weights(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the weight of a person's rows in a group and period: as many as they are, and at most L."""
        if self.rows is None:
            raise AssertionError("no rows are weighed")
        return np.minimum(rows, self.rows)

    def tallied(self, totals: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the weight of a person's rows in a place, in parts of `TALLIED`, from their total as weighed."""
        return totals * TALLIED // self.row_reach if self.edges else TALLIED * self.weights(rows)

    @property
    def both_ends(self) -> int:
        """The sum of the clip's ends: twice a total less this is how far the total lies from the middle, in halves."""
        return sum(self.clip)

    def square(self, totals: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return ⌊(2 total - low - high)² / 2^squares⌋ of clipped totals, in whole numbers throughout.

        The distance from the middle of the clip is squared, in half steps, so that both ends of the clip give the same
        and the most. Engines that have no numpy write the same formula.
        """
        if self.squares is None:
            raise AssertionError("no squares are asked for")
        doubled = 2 * totals - self.both_ends
        return doubled * doubled >> self.squares

    @property
    def wanted(self) -> tuple[Wanted, ...]:
        """The columns that are read, and as what."""
        return tuple(self.read_as.values())

    @property
    def read_as(self) -> dict[str, Wanted]:
        """The same by the names that their cells have in queries."""
        computed = self.expressions
        read = {"moment": Wanted("time", "time", self.time)}
        if self.user is not None:
            read["person"] = Wanted("user", "name", self.user)
        if self.value is not None and computed.number is None:
            read["number"] = Wanted("value", "number", self.value)
        for index, (grouping, key) in enumerate(zip(self.groupings, computed.keys, strict=True)):
            if key is None:
                read[f"group_{index}"] = Wanted("by", "name", grouping.column)
        names = self.expression_cells
        return read | {names[cell]: Wanted(used, cell.role, cell.column) for cell, used in computed.cells.items()}

    @property
    def expressions(self) -> Expressions:
        """The filter and the derived columns that are used, ready to be computed."""
        return expressions_of(
            self.where, self.columns, self.value, tuple(grouping.column for grouping in self.groupings)
        )

    @property
    def expression_cells(self) -> dict[Cell, str]:
        """The cells that expressions read, and their names in queries."""
        return {cell: f"cell_{index}" for index, cell in enumerate(self.expressions.cells)}

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

    @property
    def chooses(self) -> bool:
        """Whether a person can have more periods, or places in a period, than count."""
        periods, places = len(self.calendar), self.places // self.weighed_bins
        return (self.max_periods or periods) < periods or (self.max_places or places) < places

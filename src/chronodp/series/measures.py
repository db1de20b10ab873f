"""What is released of each period: a count, a sum, a mean, a histogram, a peak, or totals that someone else bounded.

Each measure knows what one unit can do to the numbers it is made of, and how far one person reaches.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar, Contribution
from chronodp.privacy.documents import document
from chronodp.privacy.parameters import check_number, check_whole
from chronodp.privacy.sensitivity import check_clip

__all__ = [
    "MOST_BINS",
    "Blocks",
    "Clip",
    "Count",
    "Histogram",
    "Mean",
    "Measure",
    "PanelMean",
    "Statistic",
    "Sum",
    "Total",
]

MOST_BINS = 10_000
Clip: TypeAlias = tuple[float, float]
Statistic: TypeAlias = Literal["total", "peak", "trough"]

_MOST_ROWS = 2**30


@document("count")
@dataclass(frozen=True, slots=True)
class Count:
    """How many rows there are; one person adds at most ``at_most`` to a period."""

    at_most: int = 1

    def __post_init__(self) -> None:
        check_whole("at_most", self.at_most, most=_MOST_ROWS)

    @property
    def label(self) -> str:
        """What the numbers are, in a word."""
        return "people" if self.at_most == 1 else "rows"

    @property
    def reach(self) -> float:
        """The largest number that one person adds."""
        return float(self.at_most)

    def contributions(self) -> tuple[Contribution, ...]:
        """Return what one unit can do to each number of a cell."""
        return (Contribution.count(at_most=self.at_most),)

    def __str__(self) -> str:
        return "count of people" if self.at_most == 1 else f"count of rows, at most {self.at_most} of one person"


@dataclass(frozen=True, slots=True)
class _Clipped:
    """A column of which a person's total in a period is clipped."""

    column: str
    clip: Clip

    def __post_init__(self) -> None:
        object.__setattr__(self, "clip", check_clip(self.clip))

    @property
    def label(self) -> str:
        """What the numbers are, in a word."""
        return self.column

    @property
    def reach(self) -> float:
        """The largest number that one person adds, before anything is taken away."""
        return max(abs(end) for end in self.clip)

    def contributions(self) -> tuple[Contribution, ...]:
        """Return what one unit can do to each number of a cell."""
        return (Contribution.total(clip=self.clip),)

    @property
    def _range(self) -> str:
        return f"a person's total in a period clipped to {self.clip[0]:g} … {self.clip[1]:g}"


@document("sum")
@dataclass(frozen=True, slots=True)
class Sum(_Clipped):
    """The sum of a column, a person's total in a period clipped to ``clip``."""

    def __str__(self) -> str:
        return f"sum of {self.column}, {self._range}"


@document("mean")
@dataclass(frozen=True, slots=True)
class Mean(_Clipped):
    """The mean over the people present, as a sum about the middle of the clip over a count: both are paid for."""

    def __post_init__(self) -> None:
        _Clipped.__post_init__(self)
        if self.clip[0] == self.clip[1]:
            raise InvalidArgument("clip", self.clip, "a pair (low, high) with low < high for a mean")

    def contributions(self) -> tuple[Contribution, ...]:
        """Return what one unit can do to the centred sum, and to the count."""
        low, high = (Fraction(end) for end in self.clip)
        half = (high - low) / 2
        centred = Contribution(presence=half, exchange=2 * half, row=2 * half, rewrite=2 * half)
        return centred, Contribution.count()

    def __str__(self) -> str:
        return f"mean of {self.column} over the people present, {self._range}"


@document("panel_mean")
@dataclass(frozen=True, slots=True)
class PanelMean(_Clipped):
    """The mean over a public number of people who are there all the time: a sum that is divided by it."""

    people: int

    def __post_init__(self) -> None:
        _Clipped.__post_init__(self)
        check_whole("people", self.people)

    def __str__(self) -> str:
        return f"mean of {self.column} over {self.people:,} people, {self._range}"


@document("histogram")
@dataclass(frozen=True, slots=True)
class Histogram:
    """How many people have a value in each bin; one person counts in at most ``at_most`` bins of a period."""

    column: str
    edges: tuple[float, ...]
    at_most: int = 1

    def __post_init__(self) -> None:
        allowed = f"2 to {MOST_BINS + 1:,} finite ascending numbers"
        if not isinstance(self.edges, tuple | list) or not 2 <= len(self.edges) <= MOST_BINS + 1:
            raise InvalidArgument("edges", self.edges, allowed)
        edges = tuple(check_number("edges", edge, allowed) for edge in self.edges)
        if any(low >= high for low, high in itertools.pairwise(edges)):
            raise InvalidArgument("edges", edges, allowed)
        object.__setattr__(self, "edges", edges)
        check_whole("at_most", self.at_most, most=len(edges) - 1)

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return len(self.edges) - 1

    @property
    def label(self) -> str:
        """What the numbers are, in a word."""
        return "people"

    @property
    def reach(self) -> float:
        """The largest number that one person adds to a bin."""
        return 1.0

    def contributions(self) -> tuple[Contribution, ...]:
        """Return what one unit can do to one bin."""
        return (Contribution.count(),)

    def __str__(self) -> str:
        return f"people by {self.column} in {self.bins} bins, one person in at most {self.at_most} of them"


@document("total")
@dataclass(frozen=True, slots=True)
class Total:
    """Totals that someone else has bounded and added up: one unit changes each by at most ``change``."""

    change: float
    name: str = "total"

    def __post_init__(self) -> None:
        Contribution.change(self.change)

    @property
    def label(self) -> str:
        """What the numbers are, in a word."""
        return self.name

    @property
    def reach(self) -> float:
        """The most that one unit changes a total."""
        return self.change

    def contributions(self) -> tuple[Contribution, ...]:
        """Return what one unit can do to each number of a cell."""
        return (Contribution.change(self.change),)

    def __str__(self) -> str:
        return f"{self.name}, as bounded before: one unit changes it by at most {self.change:g}"


@document("blocks")
@dataclass(frozen=True, slots=True)
class Blocks:
    """The total, the largest or the least of the counts or sums of a block of shorter periods, such as a day of hours.

    Attributes:
        statistic: 'total', 'peak' or 'trough'.
        of: what is counted or added up in each shorter period; a person is bounded there, not in the block.
        calendar: the shorter periods.
    """

    statistic: Statistic
    of: Count | Sum
    calendar: Calendar

    def __post_init__(self) -> None:
        if self.statistic not in get_args(Statistic):
            raise InvalidArgument("statistic", self.statistic, "'total', 'peak' or 'trough'")
        if not isinstance(self.of, Count | Sum):
            raise InvalidArgument("of", str(self.of), f"a count or a sum: of these a {self.statistic} can be told")

    @property
    def label(self) -> str:
        """What the numbers are, in a word."""
        return self.of.label

    @property
    def reach(self) -> float:
        """The most that one person adds to a number that a block is made of."""
        return self.of.reach

    def contributions(self) -> tuple[Contribution, ...]:
        """Return what one unit can do to each number that a block is made of."""
        return self.of.contributions()

    def __str__(self) -> str:
        return f"{self.statistic} over periods of {self.calendar.every} of the {self.of}"


Measure: TypeAlias = Count | Sum | Mean | PanelMean | Histogram | Total | Blocks

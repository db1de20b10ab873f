"""How many people, or rows, have a value in each bin of a column.

A bin is a place of ``docs/explanation/proofs/bounding.md``; M = R of ``docs/explanation/proofs/sensitivity.md`` for
people, and ``docs/explanation/proofs/rows.md`` for rows, which have a weight.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from chronodp.display import amount
from chronodp.errors import InvalidArgument
from chronodp.postprocess import Law
from chronodp.privacy import Contribution, check_column, check_number, check_whole, document, settle
from chronodp.series.measures.base import Clip, Measure
from chronodp.series.measures.rows import Weighed
from chronodp.series.noise import Noise, with_grid

__all__ = ["MOST_BINS", "Histogram", "RowHistogram"]

MOST_BINS = 10_000


def _check_edges(edges: object) -> tuple[float, ...]:
    """Return the edges of bins, if they are: finite ascending numbers."""
    allowed = f"2 to {MOST_BINS + 1:,} finite ascending numbers"
    if not isinstance(edges, tuple | list) or not 2 <= len(edges) <= MOST_BINS + 1:
        raise InvalidArgument("edges", edges, allowed)
    numbers = tuple(check_number("edges", edge, allowed) for edge in edges)
    if any(low >= high for low, high in itertools.pairwise(numbers)):
        raise InvalidArgument("edges", numbers, allowed)
    return numbers


class Binned(Measure):
    """What every histogram has: bins between its edges, which a private step can find."""

    __slots__ = ()

    edges: tuple[float, ...]
    size_name: ClassVar[str] = "edges"

    @property
    def declared(self) -> tuple[str, Clip] | None:
        """The outermost edges."""
        return "edges", (self.edges[0], self.edges[-1])

    @property
    def bin_edges(self) -> tuple[float, ...]:
        """The edges of bins."""
        return self.edges

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return len(self.edges) - 1

    def error(self, width: float) -> str:
        """Return the half-width of a band of 95 % in words."""
        return f"± {amount(width)} a bin in 95 of 100 bins"


@document("histogram")
@dataclass(frozen=True, slots=True)
class Histogram(Binned):
    """How many people have a value in each bin; one person counts in at most ``at_most`` bins of a period."""

    column: str
    edges: tuple[float, ...]
    at_most: int = 1
    whole = True

    def __post_init__(self) -> None:
        check_column("column", self.column)
        settle(self, edges=_check_edges(self.edges))
        check_whole("at_most", self.at_most, most=len(self.edges) - 1)

    def with_edges(self, edges: tuple[float, ...]) -> Histogram:
        """Return the histogram with other edges."""
        return replace(self, edges=edges)

    @property
    def label(self) -> str:
        """What the numbers are, in a word."""
        return "people"

    def label_for(self, called: str | None) -> str:
        """Return what the numbers are, in a word."""
        return self.label if called is None else "count"

    @property
    def reach(self) -> float:
        """The largest number that one person adds to a bin."""
        return 1.0

    @property
    def read_column(self) -> str | None:
        """The column whose values are binned."""
        return self.column

    @property
    def bins_of_one(self) -> int:
        """In how many bins of a period one person counts."""
        return self.at_most

    def contributions(self, *, rounding: float = 0.0) -> tuple[Contribution, ...]:
        """Return what one unit can do to one bin."""
        del rounding
        return (Contribution.count(),)

    def opposite(self, part: Contribution) -> Fraction | None:
        """Return 0: what is counted only ever adds."""
        del part
        return Fraction(0)

    def clip_in_quanta(self, step: float) -> tuple[int, int]:
        """Return none to one."""
        return 0, round(1 / step)

    def to_question(self) -> dict[str, Any]:
        """Return the measure as a curator is asked for it."""
        return {
            "kind": "histogram",
            "column": self.column,
            "edges": list(self.edges),
            "of": "people",
            "at_most": self.at_most,
        }

    def words(self, called: str | None = None) -> str:
        """Return what is released in plain words."""
        who = "people" if called is None else f"each {called} counted"
        return f"{who} by {self.column} in {self.bins} bins, one {called or 'person'} in at most {self.at_most} of them"


@document("row_histogram")
@dataclass(frozen=True, slots=True)
class RowHistogram(Weighed, Binned):
    """How many rows have a value in each bin; one person has the weight of at most ``at_most`` rows in a period.

    Rows outside the bins are left out before weights are given.
    """

    edges: tuple[float, ...]
    at_most: int = 1

    def __post_init__(self) -> None:
        self.check_weight(self.at_most)
        settle(self, edges=_check_edges(self.edges))

    def with_edges(self, edges: tuple[float, ...]) -> RowHistogram:
        """Return the histogram with other edges."""
        return replace(self, edges=edges)

    @property
    def label(self) -> str:
        """What the numbers are, in a word."""
        return "rows"

    @property
    def reach(self) -> float:
        """The most that one person adds to a bin."""
        return float(self.at_most)

    @property
    def row_weight(self) -> int | None:
        """The weight of how many rows one person has in all bins together."""
        return self.at_most

    @property
    def bins_touched(self) -> int:
        """All of them: a person's weight may be spread over many."""
        return self.bins

    def contributions(self, *, rounding: float = 0.0) -> tuple[Contribution, ...]:
        """Return what one unit can do to all bins together: no more than to one of them."""
        del rounding
        return (Contribution.count(at_most=self.at_most),)

    def clip_in_quanta(self, step: float) -> tuple[int, int]:
        """Return none to one row."""
        return 0, round(1 / step)

    def on_grid(self, law: Law, index: int, sensitivity: float, scale: float, *, times: int) -> Noise:
        """Return noise for the bins, on a grid of parts of a row."""
        del index, times
        return with_grid(law, sensitivity, scale, reach=self.reach, width=1.0, whole=False)

    def to_question(self) -> dict[str, Any]:
        """Return the measure as a curator is asked for it."""
        return {
            "kind": "histogram",
            "column": self.column,
            "edges": list(self.edges),
            "of": "rows",
            "at_most": self.at_most,
        }

    def words(self, called: str | None = None) -> str:
        """Return what is released in plain words."""
        return f"{self.words_alone()}, {self._weight(called)}"

    def words_alone(self) -> str:
        """Return the same where every row stands for itself."""
        return f"rows by {self.column} in {self.bins} bins"

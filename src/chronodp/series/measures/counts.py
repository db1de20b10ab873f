"""How many: people or rows of each period, and people by bins of a column.

M = R of ``docs/explanation/proofs/sensitivity.md`` for a cell that is counted; a bin is a place of
``docs/explanation/proofs/bounding.md``.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from chronodp.errors import InvalidArgument
from chronodp.privacy import Contribution, check_column, check_number, check_whole, document, settle
from chronodp.series.measures.asking import Argument, Asking
from chronodp.series.measures.base import Clip, Measure

__all__ = ["COUNT", "MOST_BINS", "Count", "Histogram", "check_edges"]

MOST_BINS = 10_000

_MOST_ROWS = 2**30


def check_edges(edges: object) -> tuple[float, ...]:
    """Return the edges of bins, if they are: finite ascending numbers."""
    allowed = f"2 to {MOST_BINS + 1:,} finite ascending numbers"
    if not isinstance(edges, tuple | list) or not 2 <= len(edges) <= MOST_BINS + 1:
        raise InvalidArgument("edges", edges, allowed)
    numbers = tuple(check_number("edges", edge, allowed) for edge in edges)
    if any(low >= high for low, high in itertools.pairwise(numbers)):
        raise InvalidArgument("edges", numbers, allowed)
    return numbers


@document("count")
@dataclass(frozen=True, slots=True)
class Count(Measure):
    """How many rows there are; one person adds at most ``at_most`` to a period."""

    at_most: int = 1
    whole = True
    in_blocks = True
    size_name = "at_most"

    def __post_init__(self) -> None:
        check_whole("at_most", self.at_most, most=_MOST_ROWS)

    def bounded_by(self, size: float) -> Count:
        """Return the count of so many times as many rows."""
        return Count(min(self.at_most * round(size), _MOST_ROWS))

    @property
    def label(self) -> str:
        """What the numbers are, in a word."""
        return "people" if self.at_most == 1 else "rows"

    def label_for(self, called: str | None) -> str:
        """Return what the numbers are, in a word."""
        return self.label if called is None or self.at_most > 1 else "count"

    @property
    def reach(self) -> float:
        """The largest number that one person adds."""
        return float(self.at_most)

    def contributions(self, *, rounding: float = 0.0) -> tuple[Contribution, ...]:
        """Return what one unit can do to each number of a cell."""
        del rounding
        return (Contribution.count(at_most=self.at_most),)

    def opposite(self, part: Contribution) -> Fraction | None:
        """Return 0: what is counted only ever adds."""
        del part
        return Fraction(0)

    def clip_in_quanta(self, step: float) -> tuple[int, int]:
        """Return none to as many rows as one person may add."""
        return 0, round(self.at_most / step)

    def open_words(self, called: str | None = None) -> str:
        """Return what is released in plain words while it is still to be found how many rows of one count."""
        return f"count of rows, at most as many of one {called or 'person'} as a private step finds best"

    def to_question(self) -> dict[str, Any]:
        """Return the measure as a curator is asked for it."""
        return {"kind": "count", "at_most": self.at_most}

    def words(self, called: str | None = None) -> str:
        """Return what is released in plain words."""
        if self.at_most == 1:
            return "count of people" if called is None else f"count, each {called} once"
        return f"count of rows, at most {self.at_most} of one {called or 'person'}"


@document("histogram")
@dataclass(frozen=True, slots=True)
class Histogram(Measure):
    """How many people have a value in each bin; one person counts in at most ``at_most`` bins of a period."""

    column: str
    edges: tuple[float, ...]
    at_most: int = 1
    whole = True
    size_name: ClassVar[str] = "edges"

    def __post_init__(self) -> None:
        check_column("column", self.column)
        settle(self, edges=check_edges(self.edges))
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

    def error(self, width: float) -> str:
        """Return the half-width of a band of 95 % in words."""
        return f"± {width:.4g} a bin in 95 of 100 bins"


COUNT = Asking(
    "count",
    "how many",
    "How many people, or rows, there are in each period.",
    (
        Argument(
            "at_most",
            "whole",
            "Most rows of one person that count in a period; 1 counts people.",
            1,
            needed=False,
            found=True,
        ),
    ),
    Count,
)

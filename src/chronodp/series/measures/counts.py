"""How many: people or rows of each period.

M = R of ``docs/explanation/proofs/sensitivity.md`` for a cell that is counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from chronodp.privacy import Contribution, check_whole, document
from chronodp.series.measures.asking import Argument, Asking
from chronodp.series.measures.base import Measure

__all__ = ["COUNT", "Count"]

_MOST_ROWS = 2**30


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

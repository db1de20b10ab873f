"""Totals that someone else has bounded and added up.

*Finished totals* of ``docs/explanation/proofs/release.md``: rounding adds one step of the grid to the change.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from chronodp.errors import InvalidArgument
from chronodp.privacy import Contribution, document
from chronodp.series.measures.base import Measure

__all__ = ["Total"]


@document("total")
@dataclass(frozen=True, slots=True)
class Total(Measure):
    """Totals that someone else has bounded and added up: one unit changes each by at most ``change``."""

    change: float
    name: str = "total"
    finished = True

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

    def contributions(self, *, rounding: float = 0.0) -> tuple[Contribution, ...]:
        """Return what one unit can do to each number, ``rounding`` included."""
        return (Contribution.change(self.change + rounding),)

    def opposite(self, part: Contribution) -> Fraction | None:
        """Return None: nobody said how a unit's changes go together."""
        del part
        return None

    def clip_in_quanta(self, step: float) -> tuple[int, int]:
        """Refuse: totals are not made of rows here."""
        raise AssertionError(f"no rows are added up on a grid of {step:g}")

    def to_question(self) -> dict[str, Any]:
        """Refuse: a curator adds up rows."""
        raise InvalidArgument("measure", str(self), "a count, a sum, a mean, a variance or a histogram")

    def words(self, called: str | None = None) -> str:
        """Return what is released in plain words."""
        return f"{self.name}, as bounded before: one {called or 'unit'} changes it by at most {self.change:g}"

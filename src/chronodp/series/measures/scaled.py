"""Sums of a column, a person's whole series scaled to a length of at most one number.

"One bound on a whole series" in ``docs/explanation/proofs/finding.md``: the one number takes the place of a clip, of a
limit of periods and of one of groups.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from chronodp.privacy import Contribution, check_clip, check_column, check_flag, check_positive, document, settle
from chronodp.series.measures.base import Measure

__all__ = ["ScaledSum"]

_FARTHEST = 2**31 - 1  # steps that a cell counts at most; the norm has at most 2^30 of them


@document("scaled_sum")
@dataclass(frozen=True, slots=True)
class ScaledSum(Measure):
    """The sum of a column, the series of a person over all periods and groups scaled to an l2 norm of at most ``most``.

    Attributes:
        column: what is added up.
        most: the largest l2 norm of a person's series.
        signed: whether totals below 0 count; if not, they are taken as 0.
    """

    column: str
    most: float
    signed: bool = True
    size_name = "bound"

    def __post_init__(self) -> None:
        check_column("column", self.column)
        check_flag("signed", self.signed)
        settle(self, most=check_positive("bound", self.most))
        check_clip((0.0, self.most))  # as far as a clip may go

    @property
    def norm(self) -> float | None:
        """The largest l2 norm of a person's series."""
        return self.most

    @property
    def label(self) -> str:
        """What the numbers are, in a word."""
        return self.column

    @property
    def reach(self) -> float:
        """The largest number that one person adds: all of the norm may lie in one cell."""
        return self.most

    @property
    def read_column(self) -> str | None:
        """The column that is added up."""
        return self.column

    @property
    def negative(self) -> bool:
        """Whether a person's total may be below 0."""
        return self.signed

    def contributions(self, *, rounding: float = 0.0) -> tuple[Contribution, ...]:
        """Return what one person can do to a single number; to all together, `privacy.of_scaled` says."""
        del rounding
        return (Contribution.total(clip=(-self.most if self.signed else 0.0, self.most)),)

    def bounded_by(self, size: float) -> ScaledSum:
        """Return the sum with a norm so many times as large."""
        return ScaledSum(self.column, self.most * size, self.signed)

    def clip_in_quanta(self, step: float) -> tuple[int, int]:
        """Return between which steps a person's total counts before the series is scaled: as far as engines can."""
        del step
        return (-_FARTHEST if self.signed else 0), _FARTHEST

    def norm_in_quanta(self, step: float) -> int | None:
        """Return the norm in whole steps, rounded down."""
        return math.floor(self.most / step)

    def to_question(self) -> dict[str, Any]:
        """Return the measure as a curator is asked for it."""
        return {"kind": "sum", "column": self.column, "norm": self.most, "signed": self.signed}

    def words(self, called: str | None = None) -> str:
        """Return what is released in plain words."""
        return f"sum of {self.column}, {_whose(called)} whole series scaled to a length of at most {self.most:g}"

    def open_words(self, called: str | None = None) -> str:
        """Return what is released in plain words while the length is still to be found."""
        where = "a length that a private step finds best"
        return f"sum of {self.column}, {_whose(called)} whole series scaled to {where}"


def _whose(called: str | None) -> str:
    return "a person's" if called is None else f"one {called}'s"

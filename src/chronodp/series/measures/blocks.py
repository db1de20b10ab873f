"""The total, the largest or the least of a block of shorter periods.

*Totals* and *Peaks and troughs* of ``docs/explanation/proofs/sharing-a-budget.md``; taken of whole numbers, before
noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar, Contribution, check_word, document
from chronodp.series.measures.base import Measure, Quanta, Statistic
from chronodp.series.measures.group_clips import GroupClips

__all__ = ["Blocks"]


@document("blocks")
@dataclass(frozen=True, slots=True)
class Blocks(Measure):
    """The total, the largest or the least of the counts or sums of a block of shorter periods, such as a day of hours.

    Attributes:
        statistic: 'total', 'peak' or 'trough'.
        of: what is counted or added up in each shorter period; a person is bounded there, not in the block.
        calendar: the shorter periods.
    """

    statistic: Statistic
    of: Measure
    calendar: Calendar

    def __post_init__(self) -> None:
        check_word("statistic", self.statistic, get_args(Statistic))
        if not self.of.in_blocks:
            raise InvalidArgument("of", str(self.of), f"a count or a sum: of these a {self.statistic} can be told")

    @property
    def block(self) -> Blocks | None:
        """The measure itself."""
        return self

    @property
    def label(self) -> str:
        """What the numbers are, in a word."""
        return self.of.label

    def label_for(self, called: str | None) -> str:
        """Return what the numbers are, in a word."""
        return self.of.label_for(called)

    @property
    def reach(self) -> float:
        """The most that one person adds to a number that a block is made of."""
        return self.of.reach

    @property
    def clips(self) -> GroupClips | None:
        """The clip of each group in a shorter period, where groups have their own."""
        return self.of.clips

    @property
    def extreme(self) -> bool:
        """Whether it is the largest or the least: sums of these say nothing."""
        return self.statistic != "total"

    def contributions(self, *, rounding: float = 0.0) -> tuple[Contribution, ...]:
        """Return what one unit can do to each number that a block is made of."""
        return self.of.contributions(rounding=rounding)

    def bounded_by(self, size: float) -> Blocks:
        """Return the same of shorter periods with sizes so many times as large."""
        return replace(self, of=self.of.bounded_by(size))

    def opposite(self, part: Contribution) -> Fraction | None:
        """Return how far what a person adds to a shorter period can go against the sign of its largest."""
        return self.of.opposite(part)

    def clip_in_quanta(self, step: float) -> tuple[int, int]:
        """Return the range of a person's total in a shorter period."""
        return self.of.clip_in_quanta(step)

    def gather(self, numbers: Quanta, starts: NDArray[np.int64], stops: NDArray[np.int64]) -> Quanta:
        """Return the total, the largest or the least of each block; whole numbers, so nothing is rounded."""
        # Blocks follow each other without a gap; what comes after the last one belongs to none.
        within = numbers[: stops[-1]]
        match self.statistic:
            case "total":
                return np.add.reduceat(within, starts, axis=0)
            case "peak":
                return np.maximum.reduceat(within, starts, axis=0)
            case "trough":
                return np.minimum.reduceat(within, starts, axis=0)

    def to_question(self) -> dict[str, Any]:
        """Return what is asked of each shorter period; the block is said beside it."""
        return self.of.to_question()

    def words(self, called: str | None = None) -> str:
        """Return what is released in plain words."""
        return f"{self.statistic} over periods of {self.calendar.every} of the {self.of.words(called)}"

"""Rows and not people's totals: their mean.

Each row counts with the weight min(1, L / m), where m is how many rows its person has in the group and period: one
person has the weight of at most L rows there, whatever their number.

The argument stands in ``docs/explanation/proofs/rows.md``: `RowMean.contributions` is *What one unit does*,
`RowMean.numbers` is *Two sums*, and `Question.weigh` of the engines is *Finite precision*.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from chronodp.display import amount
from chronodp.engines import Totals
from chronodp.errors import InvalidArgument
from chronodp.postprocess import Law
from chronodp.privacy import LATER, Contribution, check_clip, check_column, check_whole, counted, document, settle
from chronodp.series.measures.base import Clip, Each, Floats, Measure, Quanta
from chronodp.series.measures.group_clips import GroupClips, check_widest, clip_question, clip_words
from chronodp.series.measures.quotients import mean_ends
from chronodp.series.noise import Noise, with_grid

__all__ = ["RowMean", "Weighed"]

_MOST_ROWS = 2**20  # so many rows of one person, of 64 steps or more each, are within the 2^30 steps of a grid
_WIDEST = 2**20


@dataclass(frozen=True, slots=True)
class Weighed(Measure):
    """A column whose rows count each by itself, those of one person together as at most ``at_most`` of them."""

    column: str

    def check_weight(self, at_most: int) -> None:
        """Refuse a column that is none, and a number of rows that is none."""
        check_column("column", self.column)
        check_whole("at_most", at_most, most=_MOST_ROWS)

    @property
    def read_column(self) -> str | None:
        """The column that is read."""
        return self.column

    def opposite(self, part: Contribution) -> Fraction | None:
        """Return 0: what rows add is never below 0."""
        del part
        return Fraction(0)

    def _weight(self, called: str | None) -> str:
        rows = "1 row's" if self.row_weight == 1 else f"{self.row_weight} rows'"
        return f"at most {rows} weight for each {called or 'person'} in a period"


@document("row_mean")
@dataclass(frozen=True, slots=True)
class RowMean(Weighed):
    """The mean of rows, each clipped to ``clip``; one person has the weight of at most ``at_most`` rows in a period.

    Two numbers are released of each period: how far rows lie above the lower end of the clip, and how far below the
    upper one, both added up with their weights. Together they are the width of the clip for each row's weight, so one
    person moves both together by no more than ``at_most`` such widths. The mean divides the clip as they say.
    """

    clip: Clip
    at_most: int = 1
    clips: GroupClips | None = field(default=None, kw_only=True, metadata=LATER)
    noun: ClassVar[str] = "mean"
    averages: ClassVar[bool] = True
    ratio: ClassVar[bool] = True
    size_name: ClassVar[str] = "clip"

    def __post_init__(self) -> None:
        self.check_weight(self.at_most)
        low, high = check_widest(check_clip(self.clip), self.clips)
        settle(self, clip=(low, high))
        if low == high:
            raise InvalidArgument("clip", self.clip, "a pair (low, high) with low < high for a mean")
        if max(abs(low), abs(high)) > _WIDEST * (high - low):
            allowed = "wider: its ends are closer together than a millionth of their size"
            raise InvalidArgument("clip", self.clip, allowed)

    @property
    def label(self) -> str:
        """What the numbers are, in a word."""
        return self.column

    @property
    def each(self) -> Each:
        """A person where all of their rows together weigh as one, else a row."""
        return "person" if self.at_most == 1 else "row"

    @property
    def reach(self) -> float:
        """The most that one person adds to one of the two sums."""
        return self.at_most * (self.clip[1] - self.clip[0])

    @property
    def row_weight(self) -> int | None:
        """The weight of how many rows one person has."""
        return self.at_most

    @property
    def declared(self) -> tuple[str, Clip] | None:
        """The clip of a row."""
        return "clip", self.clip

    @property
    def bins(self) -> int:
        """Two: what lies above the lower end, and what lies below the upper one."""
        return 2

    @property
    def bins_touched(self) -> int:
        """Both."""
        return 2

    @property
    def negative(self) -> bool:
        """Whether a mean may be below 0."""
        return self.clip[0] < 0

    def contributions(self, *, rounding: float = 0.0) -> tuple[Contribution, ...]:
        """Return what one unit can do to both sums together: no more than to one of them."""
        del rounding
        low, high = (Fraction(end) for end in self.clip)
        row = high - low
        return (Contribution(presence=self.at_most * row, exchange=self.at_most * row, row=row, rewrite=row),)

    def clip_in_quanta(self, step: float) -> tuple[int, int]:
        """Return the outermost steps that are not beyond the clip of a row."""
        return math.ceil(self.clip[0] / step), math.floor(self.clip[1] / step)

    def on_grid(self, law: Law, index: int, sensitivity: float, scale: float, *, times: int) -> Noise:
        """Return noise for both sums, on the grid of rows."""
        del index, times
        width = self.clip[1] - self.clip[0]
        # L rows of the clip's width, and a row itself, are within 2^30 steps: so 64 bits hold all that is added up.
        reach = max(self.reach, *(abs(end) for end in self.clip))
        return with_grid(law, sensitivity, scale, reach=reach, width=width, whole=False)

    def numbers(self, totals: Totals, *, clip: tuple[int, int], noises: Sequence[Noise]) -> tuple[Quanta, ...]:
        """Return what lies above the lower end, and what lies below the upper one, side by side."""
        del noises
        # The second is the rest of what so much weight could be: both together are whole widths, whatever was rounded.
        above = totals.sums
        return (np.stack((above, (clip[1] - clip[0]) * totals.people - above), axis=-1).ravel(),)

    def read_out(
        self, parts: tuple[Floats, ...], terms: Floats, *, noises: Sequence[Noise], level: float
    ) -> tuple[Floats, Floats, Floats]:
        """Return the mean with Fieller's interval: all that the two noisy sums do not contradict."""
        above, below = parts[0][:, 0::2], parts[0][:, 1::2]
        low, high = (end * noises[0].step for end in self.clip_in_quanta(noises[0].step))
        half, middle = (high - low) / 2, (low + high) / 2
        sums, weights = (above - below) / 2, (above + below) / (2 * half)
        value = np.clip(sums / np.maximum(weights, 1.0), -half, half)
        scale = noises[0].scale
        draws = (scale / 2, scale / (2 * half)), (-scale / 2, scale / (2 * half))
        lower, upper = mean_ends(noises[0].law, draws, sums, weights, terms, half=half, level=level)
        return middle + value, middle + lower, middle + upper

    def together(self, periods: int) -> str:
        """Return how a number is made of so many periods: of all rows in all of them."""
        return f"over {counted(periods, 'period')} taken together, the"

    def to_question(self) -> dict[str, Any]:
        """Return the measure as a curator is asked for it."""
        return {
            "kind": "mean",
            "column": self.column,
            "clip": clip_question(self.clip, self.clips),
            "of": "rows",
            "at_most": self.at_most,
        }

    def words(self, called: str | None = None) -> str:
        """Return what is released in plain words."""
        if self.at_most > 1:
            return f"{self.words_alone()}, {self._weight(called)}"
        who = "the people present" if called is None else f"every {called} present"
        clipped = f"clipped to {clip_words(self.clip, self.clips)}"
        return f"mean of {self.column} over {who}, each with the mean of their rows in a period, a row {clipped}"

    def bounded_by(self, size: float) -> RowMean:
        """Return the mean with a clip so many times as wide."""
        return RowMean(self.column, (self.clip[0] * size, self.clip[1] * size), self.at_most)

    def open_words(self, called: str | None = None) -> str:
        """Return what is released in plain words while the clip is still to be found."""
        return f"mean of {self.column}, rows clipped where a private step finds it best, {self._weight(called)}"

    def words_alone(self) -> str:
        """Return the same where every row stands for itself."""
        return f"mean of {self.column} over rows, each clipped to {clip_words(self.clip, self.clips)}"

    @property
    def note(self) -> str:
        """How it is made."""
        return (
            "two noisy sums, of how far rows lie from either end of the clip, which tell the mean together: how many "
            "rows there are is not public"
        )

    def error(self, width: float) -> str:
        """Return the half-width of a band of 95 % in words, which hangs on how many rows there are."""
        # The difference of both sums by 2 is what the mean stands on: √2 less noise than each has. At an end of the
        # clip all of it is one sum's.
        near = width / math.sqrt(2)
        few, many = (f"± {amount(near / rows, 3)} with the weight of {rows:,} rows" for rows in (1_000, 100_000))
        return f"about {few}, {many}, in 95 of 100 periods; up to 1.4 times that if the mean is at an end of the clip"

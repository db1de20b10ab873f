"""Sums of a column, a person's total in a period clipped, and means that are a sum over a number of people.

A cell of "What is computed", step 4, in ``docs/explanation/proofs/bounding.md``; means are *Means* of
``docs/explanation/proofs/release.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from chronodp.display import amount
from chronodp.engines import Totals
from chronodp.errors import InvalidArgument
from chronodp.postprocess import Law
from chronodp.privacy import LATER, Contribution, check_clip, check_column, check_whole, document, settle
from chronodp.series.measures.asking import Argument
from chronodp.series.measures.base import Clip, Each, Floats, Measure, Quanta
from chronodp.series.measures.group_clips import GroupClips, check_widest, clip_question, clip_words
from chronodp.series.measures.quotients import mean_ends
from chronodp.series.noise import Noise, with_grid

__all__ = ["CLIP", "CLIPS", "Clipped", "Mean", "PanelMean", "Sum"]

_WIDEST = 2**20


@dataclass(frozen=True, slots=True)
class Clipped(Measure):
    """A column of which a person's total in a period is clipped; ``clip`` is the widest where groups have their own."""

    column: str
    clip: Clip
    clips: GroupClips | None = field(default=None, kw_only=True, metadata=LATER)

    def __post_init__(self) -> None:
        check_column("column", self.column)
        settle(self, clip=check_widest(check_clip(self.clip), self.clips))

    @property
    def label(self) -> str:
        """What the numbers are, in a word."""
        return self.column

    @property
    def reach(self) -> float:
        """The largest number that one person adds, before anything is taken away."""
        return max(abs(end) for end in self.clip)

    @property
    def read_column(self) -> str | None:
        """The column that is added up."""
        return self.column

    @property
    def declared(self) -> tuple[str, Clip] | None:
        """The clip of a person's total."""
        return "clip", self.clip

    @property
    def negative(self) -> bool:
        """Whether a person's total may be below 0."""
        return self.clip[0] < 0

    def contributions(self, *, rounding: float = 0.0) -> tuple[Contribution, ...]:
        """Return what one unit can do to each number of a cell."""
        del rounding
        return (Contribution.total(clip=self.clip),)

    def clip_in_quanta(self, step: float) -> tuple[int, int]:
        """Return the outermost steps that are not beyond the clip; toward 0 if none lies inside."""
        # Inwards: a person's total is at most M in size and two differ by at most hi - lo, on the grid as declared.
        low, high = math.ceil(self.clip[0] / step), math.floor(self.clip[1] / step)
        return (low, high) if low <= high else (math.trunc(self.clip[0] / step),) * 2

    def _range(self, called: str | None) -> str:
        return f"{_whose(called)} in a period clipped to {clip_words(self.clip, self.clips)}"

    def _open_range(self, called: str | None) -> str:
        return f"{_whose(called)} in a period clipped where a private step finds it best"


@document("sum")
@dataclass(frozen=True, slots=True)
class Sum(Clipped):
    """The sum of a column, a person's total in a period clipped to ``clip``."""

    in_blocks = True
    size_name = "clip"

    def bounded_by(self, size: float) -> Sum:
        """Return the sum with a clip so many times as wide."""
        low, high = self.clip
        return Sum(self.column, (low * size, high * size))

    def open_words(self, called: str | None = None) -> str:
        """Return what is released in plain words while the clip is still to be found."""
        return f"sum of {self.column}, {self._open_range(called)}"

    def to_question(self) -> dict[str, Any]:
        """Return the measure as a curator is asked for it."""
        return {"kind": "sum", "column": self.column, "clip": clip_question(self.clip, self.clips)}

    def words(self, called: str | None = None) -> str:
        """Return what is released in plain words."""
        return f"sum of {self.column}, {self._range(called)}"


@document("mean")
@dataclass(frozen=True, slots=True)
class Mean(Clipped):
    """The mean over the people present, as a sum about the middle of the clip over a count: both are paid for."""

    noun = "mean"
    kinds = ("sum", "count")
    averages = True
    ratio = True
    size_name = "clip"
    noise_in_all = math.sqrt(2)  # at an end of the clip the count's noise weighs as much as the sum's

    def __post_init__(self) -> None:
        Clipped.__post_init__(self)
        if self.clip[0] == self.clip[1]:
            raise InvalidArgument("clip", self.clip, "a pair (low, high) with low < high for a mean")

    @property
    def each(self) -> Each:
        """A person in a period."""
        return "person and period"

    @property
    def half(self) -> float:
        """How far the clip's ends are from its middle."""
        return (self.clip[1] - self.clip[0]) / 2

    def middle(self, noise_step: float) -> float:
        """Return what is taken from each person's total before adding up: the middle of the clip on the grid."""
        step = self.row_step(noise_step)
        return (math.ceil(self.clip[0] / step) + math.floor(self.clip[1] / step)) * step / 2

    def contributions(self, *, rounding: float = 0.0) -> tuple[Contribution, ...]:
        """Return what one unit can do to the centred sum, and to the count."""
        del rounding
        low, high = (Fraction(end) for end in self.clip)
        half = (high - low) / 2
        centred = Contribution(presence=half, exchange=2 * half, row=2 * half, rewrite=2 * half)
        return centred, Contribution.count()

    def row_step(self, noise_step: float) -> float:
        """Return twice the noise's: a sum about the middle of two grid points lies on a grid of half the step."""
        return 2 * noise_step

    def numbers(self, totals: Totals, *, clip: tuple[int, int], noises: Sequence[Noise]) -> tuple[Quanta, ...]:
        """Return the sum about the middle, in half steps, and the count."""
        # Twice the sum less (low + high) for each person: the middle of two whole numbers is whole in half steps.
        return 2 * totals.sums - sum(clip) * totals.people, totals.people * round(1 / noises[1].step)

    def read_out(
        self, parts: tuple[Floats, ...], terms: Floats, *, noises: Sequence[Noise], level: float
    ) -> tuple[Floats, Floats, Floats]:
        """Return the mean with Fieller's interval: all that the two noisy numbers do not contradict."""
        sums, counts = parts
        half, centre = self.half, self.middle(noises[0].step)
        value = np.clip(sums / np.maximum(counts, 1.0), -half, half)
        draws = (noises[0].scale, 0.0), (0.0, noises[1].scale)
        lower, upper = mean_ends(noises[0].law, draws, sums, counts, terms, half=half, level=level)
        return centre + value, centre + lower, centre + upper

    def on_grid(self, law: Law, index: int, sensitivity: float, scale: float, *, times: int) -> Noise:
        """Return noise for the centred sum, on half the grid of rows, or for the count."""
        del times
        if index == 1:
            return with_grid(law, sensitivity, scale, reach=1.0, width=1.0, whole=True)
        width = self.clip[1] - self.clip[0]
        if self.reach > _WIDEST * width:
            allowed = "wider: its ends are closer together than a millionth of their size"
            raise InvalidArgument("clip", self.clip, allowed)
        noise = with_grid(law, sensitivity, scale, reach=self.reach, width=width, whole=False)
        return replace(noise, step=noise.step / 2)

    def to_question(self) -> dict[str, Any]:
        """Return the measure as a curator is asked for it."""
        return {"kind": "mean", "column": self.column, "clip": clip_question(self.clip, self.clips), "of": "totals"}

    def bounded_by(self, size: float) -> Mean:
        """Return the mean with a clip so many times as wide."""
        return Mean(self.column, (self.clip[0] * size, self.clip[1] * size))

    def words(self, called: str | None = None) -> str:
        """Return what is released in plain words."""
        return f"{self._over(called)}, {self._range(called)}"

    def open_words(self, called: str | None = None) -> str:
        """Return what is released in plain words while the clip is still to be found."""
        return f"{self._over(called)}, {self._open_range(called)}"

    def _over(self, called: str | None) -> str:
        return f"mean of {self.column} over {'the people' if called is None else f'every {called}'} present"

    @property
    def note(self) -> str:
        """How it is made."""
        return "a noisy sum about the middle of the clip over a noisy count: how many are present is not public"

    def error(self, width: float) -> str:
        """Return the half-width of a band of 95 % in words, which hangs on how many are present."""
        few, many = (f"± {amount(width / people, 3)} with {people:,} present" for people in (1_000, 100_000))
        return f"about {few}, {many}, in 95 of 100 periods"


@document("panel_mean")
@dataclass(frozen=True, slots=True)
class PanelMean(Clipped):
    """The mean over a public number of people who are there all the time: a sum that is divided by it."""

    people: int
    noun = "mean"
    averages = True
    size_name = "clip"

    def __post_init__(self) -> None:
        Clipped.__post_init__(self)
        check_whole("people", self.people)

    @property
    def each(self) -> Each:
        """A person in a period."""
        return "person and period"

    @property
    def divisor(self) -> int | None:
        """The public number of people."""
        return self.people

    def to_question(self) -> dict[str, Any]:
        """Return the measure as a curator is asked for it."""
        return {
            "kind": "mean",
            "column": self.column,
            "clip": clip_question(self.clip, self.clips),
            "of": "totals",
            "people": self.people,
        }

    def bounded_by(self, size: float) -> PanelMean:
        """Return the mean with a clip so many times as wide."""
        return PanelMean(self.column, (self.clip[0] * size, self.clip[1] * size), self.people)

    def words(self, called: str | None = None) -> str:
        """Return what is released in plain words."""
        return f"{self._over(called)}, {self._range(called)}"

    def open_words(self, called: str | None = None) -> str:
        """Return what is released in plain words while the clip is still to be found."""
        return f"{self._over(called)}, {self._open_range(called)}"

    def _over(self, called: str | None) -> str:
        return f"mean of {self.column} over {self.people:,} {'people' if called is None else 'of them'}"

    @property
    def note(self) -> str:
        """How it is made."""
        return f"a noisy sum over {self.people:,}, which is public: right where all of them are present in every period"

    def error(self, width: float) -> str:
        """Return the half-width of a band of 95 % in words."""
        return f"± {amount(width / self.people)} in 95 of 100 periods"


def _whose(called: str | None) -> str:
    return "a person's total" if called is None else f"the total of one {called}"


CLIP = Argument("clip", "clip", "Least and most of one person's total in a period, or of a row.")
CLIPS = Argument("clip", "clips", f"{CLIP.about[:-1]}; or these for each key of a column that splits the answer.")

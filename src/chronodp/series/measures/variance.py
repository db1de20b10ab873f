"""How far people's totals in a period lie apart: their variance, from a noisy sum, count and sum of squares.

The argument stands in ``docs/explanation/proofs/variance.md``: `Variance.contributions` is *What is released*,
`Variance.numbers` is *Finite precision*, and `Variance.read_out` takes the three steps of "Intervals".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from chronodp.display import amount
from chronodp.engines import Totals
from chronodp.errors import InvalidArgument
from chronodp.postprocess import Law, deviations
from chronodp.privacy import Contribution, counted, document
from chronodp.series.measures.asking import Argument, Asking
from chronodp.series.measures.base import Each, Floats, Quanta
from chronodp.series.measures.quotients import mean_ends
from chronodp.series.measures.sums import CLIP, Clipped, Mean
from chronodp.series.noise import Noise, with_grid

__all__ = ["VARIANCE", "Variance"]

_NARROWEST, _WIDEST = 1e-20, 1e20  # squares of such numbers, and noise on them, stay within what noise may be
_ON_MEAN = 1 / 20  # of what an interval may miss, spent on where the mean lies; it matters in second order only


@document("variance")
@dataclass(frozen=True, slots=True)
class Variance(Clipped):
    """The variance of people's clipped totals over the people present, divided by how many they are.

    With x how far a person's total lies from the middle of the clip, h at most, three numbers are released of each
    period and paid for alike: the sum of x, the count, and the sum of x² - h²/2. One person adds at most h, 1 and
    h²/2 to them. The variance is the mean of x² less the square of the mean of x.
    """

    noun = "variance"
    kinds = ("sum", "count", "squares")
    averages = True
    ratio = True

    def __post_init__(self) -> None:
        Clipped.__post_init__(self)
        if self.clips is not None:
            allowed = "one pair (low, high) for a variance; where(...) asks for one group alone"
            raise InvalidArgument("clip", str(self.clips), allowed)
        if self.clip[0] == self.clip[1]:
            raise InvalidArgument("clip", self.clip, "a pair (low, high) with low < high for a variance")
        if not _NARROWEST <= self.clip[1] - self.clip[0] <= _WIDEST:
            allowed = f"a pair (low, high) from {_NARROWEST:g} to {_WIDEST:g} apart for a variance"
            raise InvalidArgument("clip", self.clip, allowed)

    @property
    def label(self) -> str:
        """What the numbers are, in a word: they are in squares of the column's units."""
        return f"variance of {self.column}"

    @property
    def each(self) -> Each:
        """A person in a period."""
        return "person and period"

    @property
    def negative(self) -> bool:
        """No variance is below 0."""
        return False

    @property
    def _mean(self) -> Mean:
        """The mean of the same totals, of which the sum and the count are the same numbers."""
        return Mean(self.column, self.clip)

    def contributions(self, *, rounding: float = 0.0) -> tuple[Contribution, ...]:
        """Return what one unit can do to the centred sum, to the count, and to the sum of squares less h²/2."""
        low, high = (Fraction(end) for end in self.clip)
        most = ((high - low) / 2) ** 2
        # A square lies between 0 and h². With h²/2 taken from it a person adds h²/2 in size and not h²; what a change
        # of it does is the same.
        squared = Contribution(presence=most / 2, exchange=most, row=most, rewrite=most)
        return *self._mean.contributions(rounding=rounding), squared

    def row_step(self, noise_step: float) -> float:
        """Return twice that of the sum's noise, as for the mean."""
        return self._mean.row_step(noise_step)

    def on_grid(self, law: Law, index: int, sensitivity: float, scale: float, *, times: int) -> Noise:
        """Return noise for the centred sum, for the count, or for the squares on half the grid on which they lie."""
        if index < 2:
            return self._mean.on_grid(law, index, sensitivity, scale, times=times)
        most = self._mean.half**2
        noise = with_grid(law, sensitivity, scale, reach=most, width=most, whole=False)
        return replace(noise, step=noise.step / 2)

    def squares_shift(self, noises: Sequence[Noise]) -> int | None:
        """Return how many bits finer squares of half steps are than the grid on which they are added up, or 0."""
        return max(0, _finer(noises))

    def numbers(self, totals: Totals, *, clip: tuple[int, int], noises: Sequence[Noise]) -> tuple[Quanta, ...]:
        """Return the centred sum, the count, and twice the squares less the largest square of each person."""
        sums, people = self._mean.numbers(totals, clip=clip, noises=noises)
        # Where half steps are so coarse that their squares are coarser than the grid, they are multiples of its steps.
        steps = 2 ** max(0, -_finer(noises))
        return sums, people, steps * (2 * totals.squares - self._largest(noises) * totals.people)

    def read_out(
        self, parts: tuple[Floats, ...], terms: Floats, *, noises: Sequence[Noise], level: float
    ) -> tuple[Floats, Floats, Floats]:
        """Return the variance, shown as 0 where it would be negative, and an interval of all that may be.

        For the true mean m, and g = m² + c - variance with c what was taken from each square, squares - 2 m sum +
        g count is noise alone. So all variances stay for which, at some m of an interval of the mean, this is within
        its noise of 0.
        """
        sums, counts, squares = parts
        half, centre = self._mean.half, self._square_centre(noises)
        most = (self._width(noises) * noises[0].step) ** 2  # nowhere is the variance larger (Popoviciu)
        people = np.maximum(counts, 1.0)
        value = centre + squares / people - np.clip(sums / people, -half, half) ** 2
        missing = 1 - level
        law, draws = noises[0].law, ((noises[0].scale, 0.0), (0.0, noises[1].scale))
        means = mean_ends(law, draws, sums, counts, terms, half=half, level=1 - _ON_MEAN * missing)
        # A mean that lies outside may cost either end, so its share is kept free on both sides.
        reach = deviations(law, 1 - (1 - 2 * _ON_MEAN) * missing)
        on_sum, on_count, on_squares = (terms[:, None] * (reach * noise.deviation) ** 2 for noise in noises)
        lead = counts**2 - on_count
        known = (counts > 0) & (lead > 0)
        uppers, lowers = [], []
        with np.errstate(divide="ignore", invalid="ignore"):  # where counts are too small to tell anything
            about = np.clip(sums / counts, *means)
            for mean in means:
                rest, spread = squares - 2 * mean * sums, on_squares + 4 * mean**2 * on_sum
                root = np.sqrt(np.maximum(spread * lead + on_count * rest**2, 0.0))
                # The largest g is convex in m and the least concave. So m² less the least is largest at an end of the
                # mean's interval, and so is a line below m² (its tangent) less the largest g least there.
                uppers.append(mean**2 + (rest * counts + root) / lead)
                lowers.append(about * (2 * mean - about) + (rest * counts - root) / lead)
        upper = np.where(known, np.clip(centre + np.maximum(*uppers), 0.0, most), most)
        lower = np.where(known, np.clip(centre + np.minimum(*lowers), 0.0, most), 0.0)
        return np.clip(value, lower, upper), lower, upper

    def together(self, periods: int) -> str:
        """Return how a number is made of so many periods: of everybody's totals in all of them."""
        return f"over {counted(periods, 'period')} taken together, the"

    def to_question(self) -> dict[str, Any]:
        """Return the measure as a curator is asked for it."""
        return {"kind": "variance", "column": self.column, "clip": list(self.clip)}

    def words(self, called: str | None = None) -> str:
        """Return what is released in plain words."""
        over = "the people" if called is None else f"every {called}"
        return f"variance of {self.column} over {over} present, {self._range(called)}"

    @property
    def note(self) -> str:
        """How it is made."""
        return (
            "noisy sums of distances from the middle of the clip and of their squares, over a noisy count; never shown "
            "below 0, so on average too large where it is smaller than its error"
        )

    def error(self, width: float) -> str:
        """Return the half-width of a band of 95 % in words, given that of the sum."""
        # Noise on squares is h/2 times that on the sum, as their sensitivities are, and for a mean in the middle that
        # of the count weighs at most as much; at an end of the clip it is √26 of the squares' alone (variance.md).
        near = math.sqrt(2) * width * self._mean.half / 2
        few, many = (f"± {amount(near / people, 3)} with {people:,} present" for people in (1_000, 100_000))
        return f"about {few}, {many}, in 95 of 100 periods; up to 3.6 times that if the mean is at an end of the clip"

    def _width(self, noises: Sequence[Noise]) -> int:
        """Return how many steps of the rows' grid the clip is wide: as many half steps is a total from its middle."""
        low, high = self.clip_in_quanta(self.row_step(noises[0].step))
        return high - low

    def _largest(self, noises: Sequence[Noise]) -> int:
        """Return the largest square of a person, as it is added up."""
        # Down, as engines shift each square: 2⌊u²/2^k⌋ - ⌊w²/2^k⌋ then lies between -⌊w²/2^k⌋ and ⌊w²/2^k⌋.
        return self._width(noises) ** 2 >> max(0, _finer(noises))

    def _square_centre(self, noises: Sequence[Noise]) -> float:
        """Return what was taken from each square, and what shifting it down took away on average."""
        exact = noises[0].step ** 2
        shifted = math.ldexp(exact, max(0, _finer(noises)))
        return self._largest(noises) * shifted / 2 + (shifted - exact) / 2


def _finer(noises: Sequence[Noise]) -> int:
    """Return how many bits finer the square of a half step is than the grid on which squares are added up."""
    # All three are powers of two, so exponents say all.
    return math.frexp(2 * noises[2].step)[1] - math.frexp(noises[0].step ** 2)[1]


VARIANCE = Asking(
    "variance",
    "variance",
    "The variance of people's totals, over the people present.",
    (Argument("column", "column"), CLIP),
    Variance,
)

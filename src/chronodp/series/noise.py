"""Which noise, how much, and on which grid: chosen from public numbers alone.

b = l1 / ε and σ = l2 / μ of the *Argument* in ``docs/explanation/proofs/release.md``; the grid is that of *Finite
precision* in ``docs/explanation/proofs/bounding.md``: noise spans about 2^25 steps, one person at most 2^30.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from chronodp.accounting import gaussian
from chronodp.postprocess import Law
from chronodp.privacy import (
    Cost,
    GaussianCost,
    LaplaceCost,
    Sensitivity,
    SequenceCost,
    check_positive,
    decimal_value,
    document,
)
from chronodp.randomness import LARGEST_SCALE, SMALLEST_SCALE, Entropy

__all__ = ["Noise", "calibrated", "cost_of", "with_grid"]

_FINE = 25  # noise spans about 2^25 steps: rounding a person's total is lost in it even for many people
_REACH = 30  # one person reaches at most 2^30 steps, so that sums of billions of people fit 64 bits
_HAIR = 1 + 1e-12
_COARSEST = 6  # people's numbers lie at least 2^6 steps apart at their farthest


@document("noise")
@dataclass(frozen=True, slots=True)
class Noise:
    """Independent noise on each of the numbers of one kind.

    Attributes:
        law: 'laplace' or 'gaussian'.
        sensitivity: most that one unit changes all these numbers together, in l1 or l2 as the law needs.
        scale: of the noise: Laplace's b or the standard deviation.
        step: the grid on which numbers and noise lie.
    """

    law: Law
    sensitivity: float
    scale: float
    step: float

    def __post_init__(self) -> None:
        for name in ("sensitivity", "scale", "step"):
            check_positive(name, getattr(self, name))

    @property
    def cost(self) -> LaplaceCost | GaussianCost:
        """What it costs."""
        if self.law == "laplace":
            return LaplaceCost(sensitivity=self.sensitivity, scale=self.scale)
        return GaussianCost(sensitivity=self.sensitivity, sigma=self.scale)

    @property
    def theorem(self) -> str:
        """By which theorem the cost is converted: it loses nothing."""
        if self.law == "laplace":
            return "the Laplace mechanism (pure)"
        return "Gaussian differential privacy (exact)"

    @property
    def drawable(self) -> bool:
        """Whether the sampler can draw it: it spans from 2^-30 to 2^30 steps of the grid."""
        return SMALLEST_SCALE <= self.scale / self.step <= LARGEST_SCALE

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return self.scale * (math.sqrt(2) if self.law == "laplace" else 1.0)

    def draws(self, entropy: Entropy) -> Callable[[tuple[int, int]], NDArray[np.int64]]:
        """Return what makes independent draws of a given shape, in steps of the grid."""
        law = entropy.laplace if self.law == "laplace" else entropy.gaussian
        return partial(law, self.scale / self.step)


def cost_of(noises: Sequence[Noise]) -> Cost:
    """Return the cost of several kinds of numbers released together."""
    costs = tuple(noise.cost for noise in noises)
    return costs[0] if len(costs) == 1 else SequenceCost(costs)


def calibrated(
    law: Law,
    sensitivities: Sequence[Sensitivity],
    *,
    epsilon: float,
    delta: float,
    within: float | None = None,
    shares: Sequence[Fraction] | None = None,
) -> list[tuple[float, float]]:
    """Return (sensitivity, scale) for each kind of numbers, the budget shared evenly among them or as ``shares`` say.

    Even shares are the best for a mean: its sum about the middle and its count matter alike where it matters most.
    Where something else is paid from (epsilon, delta) too, ``within`` is what is left: an epsilon for Laplace noise, mu
    for Gaussian. Shares are of epsilon, or of mu².
    """
    count = len(sensitivities)
    of_all = [Fraction(1, count)] * count if shares is None else shares
    if law == "laplace":
        whole = decimal_value(epsilon if within is None else within)
        parts = zip(sensitivities, of_all, strict=True)
        scales = [(part.l1, _scale_within(part.l1, whole * share)) for part, share in parts]
        return scales if shares is None else [(change, scale * _HAIR) for change, scale in scales]
    mu = gaussian.mu_for(epsilon, delta) if within is None else within
    # A hair wider, so that rounding in whoever adds the costs up cannot carry them over the guarantee.
    if shares is None:
        return [(part.l2, part.l2 / (mu / math.sqrt(count)) * _HAIR) for part in sensitivities]
    parts = zip(sensitivities, of_all, strict=True)
    return [(part.l2, part.l2 / (mu * math.sqrt(share)) * _HAIR) for part, share in parts]


def with_grid(law: Law, sensitivity: float, scale: float, *, reach: float, width: float, whole: bool) -> Noise:
    """Return the noise on a grid fine enough for the noise and coarse enough for exact sums.

    Args:
        law: of the noise.
        sensitivity: in the law's norm.
        scale: of the noise.
        reach: the largest number that one person adds.
        width: how far apart two people's numbers may be, which many steps must tell apart.
        whole: whether the numbers are counts, which a grid of at most 1 represents exactly.
    """
    # frexp(x)[1] - 1 is ⌊log2 x⌋: by the first term noise spans 2^25 to 2^26 steps. The second, rounded up, makes the
    # grid coarser where one person would reach beyond 2^30 of them.
    exponent = max(math.frexp(scale)[1] - 1 - _FINE, math.frexp(reach)[1] - _REACH)
    exponent = min(exponent, 0 if whole else math.frexp(width)[1] - 1 - _COARSEST)
    return Noise(law, sensitivity, scale, math.ldexp(1.0, exponent))


def _scale_within(sensitivity: float, epsilon: Fraction) -> float:
    """Return the least scale whose quotient, of the numbers as people write them, is not above epsilon."""
    exact = decimal_value(sensitivity)
    scale = float(exact / epsilon)
    # As people write the numbers, and as floats divide: some accountants do the one, some the other.
    while exact / decimal_value(scale) > epsilon or sensitivity / scale > float(epsilon):
        scale = math.nextafter(scale, math.inf)
    return scale

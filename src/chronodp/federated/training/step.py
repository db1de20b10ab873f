"""One private step: a secret sample of people, their clipped gradients added up, and noise.

The sum is one of whole numbers that one person, if sampled, moves by at most ``resolution`` in l2, and the noise is
exact Gaussian noise rounded to whole numbers, so the step is the sampled Gaussian mechanism of theory, without a
remainder.

"One step" of ``docs/explanation/proofs/private-training.md``; *Rounding* there says which way: the chance of a sample
down, the noise up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from chronodp.federated.training.clipping import whole_sum
from chronodp.privacy import (
    Claim,
    SampledGaussianCost,
    User,
    at_least,
    check_fraction,
    check_positive,
    check_whole,
    decimal_value,
    document,
    settle,
)
from chronodp.randomness import Entropy

__all__ = ["ARGUMENT", "RESOLUTION", "StepDesign", "private_sum", "sample"]

ARGUMENT = "docs/explanation/proofs/private-training.md"
RESOLUTION = 2**18
_WHOLE = 2**62  # denominator of the coins that sample


@document("training_step")
@dataclass(frozen=True, slots=True)
class StepDesign:
    """The public numbers of a step.

    Attributes:
        clip: the l2 length that a person's gradient is cut to.
        sigma: the noise's standard deviation as a multiple of ``clip``.
        rate: the chance of each person to be in the sample.
        resolution: how many whole steps ``clip`` is cut into.
    """

    clip: float
    sigma: float
    rate: float
    resolution: int = RESOLUTION

    def __post_init__(self) -> None:
        settle(
            self,
            clip=check_positive("clip", self.clip),
            sigma=check_positive("sigma", self.sigma),
            rate=check_fraction("rate", self.rate),
        )
        check_whole("resolution", self.resolution, most=RESOLUTION)

    @property
    def cost(self) -> SampledGaussianCost:
        """What one step costs a person who is in one holder's data."""
        return SampledGaussianCost(sensitivity=1.0, sigma=self.sigma, rate=self.rate)

    @property
    def claim(self) -> Claim:
        """What a step says of itself."""
        return Claim(User(), self.cost, ARGUMENT)

    @property
    def scale(self) -> float:
        """The noise's standard deviation in whole steps, rounded up."""
        return _scale(self.sigma, self.resolution)


@lru_cache(maxsize=64)  # every step asks
def _scale(sigma: float, resolution: int) -> float:
    return at_least(max(Fraction(sigma), decimal_value(sigma)) * resolution)


def sample(people: int, rate: float, entropy: Entropy) -> NDArray[np.intp]:
    """Return who is in the sample: each person by a coin of its own, by exact chance not above ``rate``."""
    chance = min(Fraction(rate), decimal_value(rate)) * _WHOLE
    return np.flatnonzero(entropy.coins(chance.numerator // chance.denominator, _WHOLE, people))


def private_sum(
    design: StepDesign,
    people: int,
    gradients_of: Callable[[NDArray[np.intp]], Iterable[NDArray[np.floating]]],
    *,
    size: int,
    entropy: Entropy,
) -> NDArray[np.float64]:
    """Return the noisy sum of clipped gradients over a secret sample, in units of the gradient.

    Guarantee: the sum is as private for one person, added or removed, as `SampledGaussianCost` says, exact in finite
    precision, if a person's gradient depends on that person and public numbers only. An empty sample gives noise.

    Args:
        design: clip, noise and rate.
        people: how many there are; the sample is drawn among them. Not released.
        gradients_of: the gradients of sampled people, in groups of rows.
        size: how long a gradient is.
        entropy: of sample and noise.

    >>> from chronodp.randomness import seeded
    >>> step = StepDesign(clip=1.0, sigma=1.0, rate=0.5)
    >>> towards = lambda chosen: [np.ones((len(chosen), 2))]
    >>> private_sum(step, 100, towards, size=2, entropy=seeded(1)).round(2).tolist()
    [39.56, 39.19]
    """
    chosen = sample(people, design.rate, entropy)
    total = np.zeros(size)  # of whole numbers far below 2^53: exact, in any order
    if len(chosen):
        for rows in gradients_of(chosen):
            total += whole_sum(rows, clip=design.clip, resolution=design.resolution)
    noisy = total.astype(np.int64) + entropy.gaussian(design.scale, size)
    in_units: NDArray[np.float64] = np.multiply(noisy, design.clip / design.resolution, dtype=np.float64)
    return in_units

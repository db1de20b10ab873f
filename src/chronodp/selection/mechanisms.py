"""Three ways to choose, a closed family: all are epsilon-private, and the first is never worse than the second.

Only the second is of bounded range as well, which makes it the cheapest of them in a budget with a delta.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from chronodp.privacy import document

__all__ = ["ChoiceMechanism", "ExponentialMechanism", "NoisyMax", "PermuteAndFlip"]


@document("permute_and_flip")
@dataclass(frozen=True, slots=True)
class PermuteAndFlip:
    """Each candidate falls in with probability e^(-ε gap / 2Δ); one of those that did is taken, all equally likely.

    That is the same as visiting candidates in random order and stopping at the first that falls in, or as adding
    exponential noise and taking the largest. Its expected shortfall is never above the exponential mechanism's, and
    down to half of it.

    References:
        McKenna, Sheldon (2020), Permute-and-flip: a new mechanism for differentially private selection.
        Ding, Kifer, Steinke, Wang, Xiao, Zhang (2021), The permute-and-flip mechanism is identical to
        report-noisy-max with exponential noise.
    """

    def __str__(self) -> str:
        return "permute-and-flip"


@document("exponential_mechanism")
@dataclass(frozen=True, slots=True)
class ExponentialMechanism:
    """Candidates are chosen with probability proportional to e^(ε utility / 2Δ).

    Log-likelihood ratios of neighbours span at most ε (`BoundedRangeCost`): in a Gaussian budget that costs about a
    quarter of what ratios within ε do.

    Drawn by rejection: how long it takes depends on the utilities, by at most a factor of the number of candidates.

    References:
        McSherry, Talwar (2007), Mechanism design via differential privacy.
    """

    def __str__(self) -> str:
        return "exponential mechanism"


@document("noisy_max")
@dataclass(frozen=True, slots=True)
class NoisyMax:
    """The candidate with the largest utility after Laplace noise of scale 2Δ/ε; among equals one at random.

    References:
        Dwork, Roth (2014), The algorithmic foundations of differential privacy, section 3.3.
    """

    def __str__(self) -> str:
        return "noisy maximum with Laplace noise"


ChoiceMechanism: TypeAlias = PermuteAndFlip | ExponentialMechanism | NoisyMax

"""Tries to tell from a trained model who was in it, and says how much epsilon that proves.

Made-up people, canaries, are put into the training data by fair coins. Whoever guesses the coins from the model better
than chance proves a lower bound on epsilon, from one run of training.

"The attack" in ``docs/explanation/proofs/private-training.md``: `chance_under` is the right-hand side of its claim.

References:
    Steinke, Nasr, Jagielski (2023), Privacy auditing with one (1) training run: the attack. The bound for delta above 0
    is our own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.federated.models import Inputs
from chronodp.privacy import check_delta, check_fraction, check_whole
from chronodp.randomness import Entropy

__all__ = ["MembershipAudit", "attack", "chance_under", "make_canaries", "toss"]

_HIGHEST = 50.0


@dataclass(frozen=True, slots=True)
class MembershipAudit:
    """What an attack on one trained model found.

    Attributes:
        canaries: how many made-up people there were.
        guesses: for how many of them the attack dared a guess.
        right: how many guesses were right.
        delta: at which epsilon is told.
        level: of confidence.
        epsilon: no smaller epsilon is true of the training at ``delta``, at this level; 0 if nothing was proven.
    """

    canaries: int
    guesses: int
    right: int
    delta: float
    level: float
    epsilon: float

    def refutes(self, claimed: float) -> bool:
        """Return whether the claimed epsilon is false, at the level."""
        return self.epsilon > claimed

    def __str__(self) -> str:
        return (
            f"{self.right} of {self.guesses} guesses about {self.canaries} made-up people were right: ε is at least "
            f"{self.epsilon:.3f} at δ = {self.delta:g}, {self.level:.0%} sure."
        )


def make_canaries(inputs: Inputs, count: int) -> NDArray[np.float64]:
    """Return made-up people (count, length, columns), no two alike: each has one value, in a cell of its own.

    What a model learns of one it can hardly learn from another, which makes them easy to tell.
    """
    cells = inputs.length * len(inputs.columns)
    made = np.full((check_whole("count", count, most=cells), cells), np.nan)
    upper = np.tile([column.upper for column in inputs.columns], inputs.length)
    made[np.arange(count), np.arange(count)] = upper[:count]
    return made.reshape(count, inputs.length, len(inputs.columns))


def toss(count: int, entropy: Entropy) -> NDArray[np.bool_]:
    """Return which canaries go into the training data: a fair coin each."""
    return entropy.coins(1, 2, check_whole("count", count))


def attack(
    scores: ArrayLike, included: ArrayLike, *, guesses: int, delta: float, level: float = 0.95
) -> MembershipAudit:
    """Guess that canaries with the highest scores were in and those with the lowest were out, and bound epsilon.

    The number of right guesses is at most that of ``guesses`` coins of chance e^epsilon / (1 + e^epsilon), up to what
    delta allows (`chance_under`); an epsilon is told that is rejected at the level, and so is every smaller one. With
    delta = 0 it is that of the Clopper-Pearson bound on the share of right guesses.

    Args:
        scores: one a canary, the higher the likelier that it was in; such as the fall of its loss during training.
        included: what the coins said.
        guesses: how many to dare, half of them "in"; fixed without looking at the coins.
        delta: at which epsilon is told.
        level: of confidence.

    >>> coins = np.arange(200) % 2 == 0
    >>> print(attack(coins + 0.0, coins, guesses=100, delta=1e-5))
    100 of 100 guesses about 200 made-up people were right: ε is at least 3.493 at δ = 1e-05, 95% sure.
    """
    numbers, coins = np.asarray(scores, dtype=np.float64), np.asarray(included)
    if numbers.ndim != 1 or coins.shape != numbers.shape or coins.dtype != np.bool_:
        raise InvalidArgument("included", included, "as many True and False as there are scores", private=True)
    if np.any(np.isnan(numbers)):
        raise InvalidArgument("scores", scores, "numbers", private=True)
    dared = check_whole("guesses", guesses, most=len(numbers))
    check_delta(delta)
    check_fraction("level", level)
    order = np.argsort(numbers, kind="stable")
    half = dared // 2
    right = int(coins[order[len(order) - half :]].sum()) + int((~coins[order[: dared - half]]).sum())
    low, high = 0.0, _HIGHEST
    if chance_under(low, right, guesses=dared, canaries=len(numbers), delta=delta) > 1 - level:
        return MembershipAudit(len(numbers), dared, right, delta, level, 0.0)
    while high - low > 1e-6:
        middle = (low + high) / 2
        rejected = chance_under(middle, right, guesses=dared, canaries=len(numbers), delta=delta) <= 1 - level
        low, high = (middle, high) if rejected else (low, middle)
    return MembershipAudit(len(numbers), dared, right, delta, level, low)


def chance_under(epsilon: float, right: int, *, guesses: int, canaries: int, delta: float) -> float:
    """Return the most that the chance of at least so many right guesses can be under (epsilon, delta).

        P(B >= v) + m delta P(B >= v) P(B < v) / (v P(B = v))

    where v is ``right``, m is ``canaries`` and B is binomial of ``guesses`` and e^epsilon / (1 + e^epsilon). Proven in
    ``docs/explanation/proofs/private-training.md``; where small enough to compute, some mechanism attains it.

    >>> round(chance_under(0.0, 3, guesses=3, canaries=3, delta=0.05), 5)  # 1/8, or all told with chance delta
    0.16875
    """
    from scipy.special import expit
    from scipy.stats import binom

    chance = float(binom.sf(right - 1, guesses, float(expit(epsilon))))
    if not delta or chance == 1:
        return chance
    ratio = 1.0  # P(B >= v) / P(B = v), from v = guesses down: all terms positive, nothing cancels
    for more in range(guesses - 1, right - 1, -1):
        ratio = 1 + math.exp(epsilon) * (guesses - more) / (more + 1) * ratio
    return min(1.0, chance + canaries * delta * (1 - chance) * ratio / right)

"""What a guarantee means for someone who tries to find out: beliefs, odds and the chance of a right guess.

*Total variation*, "The odds: what textbooks get wrong" and the row of margins "advantage, total variation, odds" of
``docs/explanation/proofs/accounting.md``.
"""

from __future__ import annotations

import math

from scipy.special import log_ndtr

from chronodp.accounting.rounding import down, times_up, up
from chronodp.accounting.spending import BoundedCost, Costs, gather, largest_loss
from chronodp.errors import InvalidArgument
from chronodp.privacy import (
    BoundedRangeCost,
    LaplaceCost,
    RandomizedResponseCost,
    check_delta,
    check_epsilon,
    check_fraction,
    check_number,
)

__all__ = ["advantage", "odds_tail", "posterior", "total_variation"]


def total_variation(epsilon: float, delta: float = 0.0) -> float:
    """Return the most that any test can gain over guessing, (e^epsilon - 1) / (e^epsilon + 1) (1 - delta) + delta.

    Rounded up. It is attained: randomised response that fails with probability delta has exactly this total variation.

    >>> round(total_variation(1.0, 1e-6), 6)
    0.462118
    """
    check_epsilon(epsilon)
    check_delta(delta)
    return min(1.0, up(math.tanh(epsilon / 2) * (1 - delta) + delta, 8))


def advantage(costs: Costs) -> float:
    """Return total variation for a spending, rounded up: 2 Φ(mu / 2) - 1 exactly for Gaussian noise, else a bound.

    Total variations of single releases compose no worse than 1 - prod(1 - tv_i); Gaussian ones count as one. The
    probabilities of failures add to that.
    """
    spending = gather(costs)
    mu = math.sqrt(spending.gaussian)
    # -ln of the chance that nothing is seen, all of whose parts are positive.
    seen = -math.log1p(-spending.revealed) if spending.revealed < 1 else math.inf
    seen += -math.log1p(-math.erf(mu / math.sqrt(8))) if mu < 1 else -math.log(2) - float(log_ndtr(-mu / 2))
    for cost, times in spending.bounded.items():
        seen += times_up(times, _unseen(cost))
    return min(1.0, up(-math.expm1(-seen) + spending.failed, 64 + len(spending.bounded)))


def posterior(prior: float, loss: float) -> float:
    """Return the belief after evidence that multiplies the odds by e^loss.

    >>> round(posterior(0.01, 1.0), 4)
    0.0267
    """
    check_fraction("prior", prior)
    check_number("loss", loss)
    return 1 / (1 + (1 - prior) / prior * math.exp(-loss)) if loss > -700 else 0.0


def odds_tail(epsilon: float, delta: float, beyond: float) -> float:
    """Return the most that P(loss > beyond) can be under (epsilon, delta): delta / (1 - e^(epsilon - beyond)).

    The textbook's sentence that the odds move by at most e^epsilon except with probability delta is false: at
    ``beyond`` = epsilon nothing is promised. See ``docs/explanation/proofs/accounting.md``.
    """
    check_epsilon(epsilon)
    check_delta(delta)
    if not check_number("beyond", beyond) > epsilon:
        raise InvalidArgument("beyond", beyond, f"above epsilon ({epsilon:g}): at epsilon itself nothing is promised")
    # The difference of two floats may be off by half a unit of the larger, and the tail grows as it shrinks.
    distance = down(beyond - epsilon, 1)
    return min(1.0, up(delta / -math.expm1(-distance), 4)) if distance > 0 else 1.0


def _unseen(cost: BoundedCost) -> float:
    """Return -ln(1 - total variation) of one release."""
    # The widest total variation of a bounded range is that of a ratio within half of it, tanh(epsilon / 4).
    epsilon = cost.epsilon / 2 if isinstance(cost, BoundedRangeCost) else largest_loss(cost)
    if isinstance(cost, LaplaceCost):
        return epsilon / 2
    choices = cost.choices if isinstance(cost, RandomizedResponseCost) else 2
    # 1 - (e^epsilon - 1) / (e^epsilon + choices - 1) = choices / (e^epsilon + choices - 1)
    if epsilon > 700:
        return epsilon + math.log1p((choices - 1) * math.exp(-epsilon)) - math.log(choices)
    return math.log1p(math.expm1(epsilon) / choices)

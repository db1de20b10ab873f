"""What a run of training costs a person, how much noise a target needs, and what a ledger must hold to pay for it.

"All steps" and *The ledger* of ``docs/explanation/proofs/private-training.md``.
"""

from __future__ import annotations

import math
from functools import lru_cache

from chronodp.accounting import pld, renyi
from chronodp.errors import InvalidArgument
from chronodp.ledger import ORDERS, Ledger, check_ledger
from chronodp.privacy import Cost, RepeatedCost, SampledGaussianCost, check_epsilon, check_fraction, check_whole

__all__ = ["check_budget", "check_people", "epsilon_of", "ledger_epsilon", "noise_for"]

_PRECISION = 1e-3  # of the noise found, relative; it is rounded up
_LEAST, _MOST = 0.1, 1e3  # multiples of the clip between which noise is sought
_MARGIN = 1e-9  # what whole quanta of a ledger may round up, generously


@lru_cache(maxsize=256)
def noise_for(*, epsilon: float, delta: float, rate: float, steps: int) -> float:
    """Return sigma, in multiples of the clip, that makes ``steps`` sampled releases together (epsilon, delta)-private.

    By privacy-loss distributions: rate, steps and noise are fixed in advance. Within a thousandth, from above.

    >>> round(noise_for(epsilon=1.0, delta=1e-5, rate=0.1, steps=50), 2)
    2.93
    """
    check_epsilon(epsilon)
    check_fraction("delta", delta)
    check_fraction("rate", rate)
    check_whole("steps", steps)

    def cost(sigma: float) -> RepeatedCost:
        return RepeatedCost(SampledGaussianCost(sensitivity=1.0, sigma=sigma, rate=rate), steps)

    def excess(sigma: float) -> float:
        return math.log(max(pld.epsilon(cost(sigma), delta) / epsilon, 0.1))

    high = _LEAST
    while renyi.epsilon(cost(high), delta) > epsilon:  # from above, like distributions, and many times as fast
        high *= 1.4
        if high > _MOST:
            raise InvalidArgument("epsilon", epsilon, f"within reach of noise up to {_MOST:g} times the clip")
    while (above := excess(high)) > 0:  # where the grid of distributions costs more than they save
        high *= 1.1
    low = high / 1.4
    while (below := excess(low)) <= 0:
        if low <= _LEAST:
            return low
        high, low, above = low, low / 1.4, below
    # Prices are nearly powers of the noise, so a straight line between logarithms finds it in few evaluations; kept a
    # little away from both ends it closes in from both sides, and halving in between makes sure that it does.
    inset, halve = 1 + 0.9 * _PRECISION, False
    while high / low > 1 + _PRECISION:
        share = 0.5 if halve else above / (above - below)
        middle = min(max(high * (low / high) ** share, low * inset), high / inset)
        if (found := excess(middle)) <= 0:
            halve, high, above = high / middle < inset * inset, middle, found
        else:
            halve, low, below = middle / low < inset * inset, middle, found
    return high


@lru_cache(maxsize=256)  # a plan that is read again, or shown, is priced once
def epsilon_of(cost: RepeatedCost, delta: float) -> float:
    """Return the price of a whole run, fixed in advance, by privacy-loss distributions."""
    return pld.epsilon(cost, delta)


@lru_cache(maxsize=256)
def ledger_epsilon(cost: Cost, *, times: int, delta: float) -> float:
    """Return the least epsilon of a budget by the Rényi rule, at ``delta``, that pays for ``cost`` ``times`` over.

    It is above the epsilon that the run is reported with: a ledger decides round by round and fixes no plan in advance.
    """
    check_fraction("delta", delta)
    divergence = renyi.curve(cost)
    least = min(times * divergence(order) + math.log(1 / delta) / (order - 1) for order in ORDERS)
    return least * (1 + _MARGIN)


def check_people(people: object, *, delta: float, fewest: int = 1, accept_large_delta: bool = False) -> int:
    """Return a holder's declared number of people if the plan and delta allow for it.

    With delta above 1 / people a mechanism that publishes one person at random would pass.
    """
    count = check_whole("people", people)
    if count < fewest:
        raise InvalidArgument("people", count, f"at least {fewest}: the plan's sampling rate was made for as many")
    if delta > 1 / count and not accept_large_delta:
        allowed = (
            f"at most 1 / people = {1 / count:.2g}: above it, publishing everything about one of the {count:,} people, "
            "chosen at random, would be allowed; accept_large_delta=True insists"
        )
        raise InvalidArgument("delta", delta, allowed)
    return count


def check_budget(ledger: Ledger, dataset: str) -> None:
    """Refuse a ledger whose budget for ``dataset`` cannot pay for samples."""
    check_ledger(ledger)
    rule = ledger.status(dataset).budget.filter.kind
    if rule != "renyi":
        allowed = (
            f"one whose budget for {dataset!r} was opened with rule='renyi': by the {rule} rule a sample costs as much "
            "as everybody"
        )
        raise InvalidArgument("ledger", rule, allowed)

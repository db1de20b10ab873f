"""What was spent, gathered from costs of any shape into equal releases with their number.

`Spending.revealed` and `Spending.left_of` are *A release known as (ε, δ)* and *Failures* of
``docs/explanation/proofs/accounting.md``, with the margins of its row "δ revealed; failed; left".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias, assert_never

from chronodp.accounting.rounding import down, times_up, up, written_up
from chronodp.errors import InvalidArgument
from chronodp.privacy import (
    ApproximateCost,
    AssumedCost,
    Assumption,
    BoundedRangeCost,
    Cost,
    FailureCost,
    GaussianCost,
    LaplaceCost,
    PureCost,
    RandomizedResponseCost,
    RepeatedCost,
    SampledGaussianCost,
    SequenceCost,
    decimal_value,
)

__all__ = ["BoundedCost", "Costs", "SingleCost", "Spending", "exact_loss", "gather", "largest_loss"]

BoundedCost: TypeAlias = PureCost | BoundedRangeCost | ApproximateCost | LaplaceCost | RandomizedResponseCost
"""One release whose log-likelihood ratio is bounded, delta aside."""
SingleCost: TypeAlias = BoundedCost | GaussianCost | SampledGaussianCost
"""One release."""


@dataclass(frozen=True, slots=True)
class Spending:
    """Different releases, each with how often it was made, what may fail, and the assumptions they rest on together.

    Attributes:
        releases: single costs with their number.
        gaussian: mu^2 = sum of (sensitivity / sigma)^2 over all Gaussian releases, rounded up; those on a sample count
            as if nobody had been left out, which is true and dear.
        revealed: the probability that some release known only as (epsilon, delta) gives everything away,
            1 - prod(1 - delta_i), rounded up.
        assumptions: what must hold for the whole, each named once.
        failures: events that give everything away, with their number. They are no releases: no loss of their own.
    """

    releases: dict[SingleCost, int]
    gaussian: float
    revealed: float
    assumptions: tuple[Assumption, ...]
    failures: dict[FailureCost, int] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many releases were made."""
        return sum(self.releases.values())

    @property
    def bounded(self) -> dict[BoundedCost, int]:
        """All releases but the Gaussian ones. Those known as (epsilon, delta) count without their delta."""
        return {
            cost: times
            for cost, times in self.releases.items()
            if not isinstance(cost, GaussianCost | SampledGaussianCost)
        }

    @property
    def sampled(self) -> dict[SampledGaussianCost, int]:
        """The releases of Gaussian noise on a sample, for theorems that know what sampling is worth."""
        return {cost: times for cost, times in self.releases.items() if isinstance(cost, SampledGaussianCost)}

    @property
    def unsampled_gaussian(self) -> float:
        """mu^2 of the Gaussian releases that look at everybody, rounded up."""
        return _mu_squared({cost: times for cost, times in self.releases.items() if isinstance(cost, GaussianCost)})

    @property
    def largest_losses(self) -> list[tuple[float, int]]:
        """The largest log-likelihood ratio of each bounded release, with its number."""
        return [(largest_loss(cost), times) for cost, times in self.bounded.items()]

    @property
    def half_ranges(self) -> list[tuple[float, int]]:
        """Half of what each bounded release's log-likelihood ratios may span, with its number.

        That is their largest value where they lie in [-epsilon, epsilon], and half of epsilon for a bounded range.
        """
        return [
            (cost.epsilon / 2 if isinstance(cost, BoundedRangeCost) else largest_loss(cost), times)
            for cost, times in self.bounded.items()
        ]

    @property
    def deltas(self) -> Fraction:
        """The sum of all deltas that costs bring along, of the numbers as written."""
        brought = [(cost.delta, times) for cost, times in self.failures.items()]
        brought += [(cost.delta, times) for cost, times in self.releases.items() if isinstance(cost, ApproximateCost)]
        return sum((times * decimal_value(delta) for delta, times in brought), Fraction(0))

    @property
    def failed(self) -> float:
        """The probability that some failure gives everything away, the sum of their deltas, rounded up."""
        # Not 1 - prod(1 - delta_i): a failure may fall exactly where the noise of its release tells nothing.
        return min(1.0, up(math.fsum(times_up(times, cost.delta) for cost, times in self.failures.items()), 4))

    def beyond_failures(self, delta: float) -> float:
        """Return the delta that remains for releases, those known as (epsilon, delta) included, rounded down."""
        if not self.failures:
            return delta
        left = delta - self.failed
        return down(left, 1) if left > 0 else left

    def left_of(self, delta: float) -> float:
        """Return the delta that remains beyond failures and ``revealed``, rounded down; not above 0 if nothing does."""
        left = self.beyond_failures(delta)
        if not 0 < self.revealed < left:  # the remainder falls as more is revealed: above, it is rounded down
            return left - self.revealed
        return down((left - self.revealed) / (1 - self.revealed), 3)


Costs: TypeAlias = Cost | Iterable[Cost] | Spending


def gather(costs: Costs) -> Spending:
    """Return what a cost, or several, amount to.

    >>> gather([PureCost(0.1), RepeatedCost(PureCost(0.1), 3)]).releases
    {PureCost(epsilon=0.1): 4}
    """
    if isinstance(costs, Spending):
        return costs
    releases: dict[SingleCost, int] = {}
    assumptions: dict[Assumption, None] = {}
    failures: dict[FailureCost, int] = {}
    open_ = _listed(costs)
    while open_:
        cost, times = open_.pop()
        match cost:
            case PureCost() | BoundedRangeCost() | ApproximateCost() | LaplaceCost() | RandomizedResponseCost():
                releases[cost] = releases.get(cost, 0) + times
            case GaussianCost() | SampledGaussianCost():
                releases[cost] = releases.get(cost, 0) + times
            case FailureCost():
                failures[cost] = failures.get(cost, 0) + times
            case SequenceCost(parts):
                open_.extend((part, times) for part in reversed(parts))
            case RepeatedCost(part, again):
                open_.append((part, times * again))
            case AssumedCost(part, assumption):
                assumptions[assumption] = None
                open_.append((part, times))
            case _:
                raise InvalidArgument("costs", cost, "a cost or a collection of costs")
    # -ln of the chance that nothing is given away: terms of one sign, so no delta is lost beside a larger one.
    kept = math.fsum(
        times_up(times, -math.log1p(-single.delta))
        for single, times in releases.items()
        if isinstance(single, ApproximateCost)
    )
    revealed = min(1.0, up(-math.expm1(-kept), 8))
    return Spending(releases, _mu_squared(releases), revealed, tuple(assumptions), failures)


def _mu_squared(releases: Mapping[SingleCost, int] | Mapping[GaussianCost, int]) -> float:
    return up(
        math.fsum(
            times_up(times, (single.sensitivity / single.sigma) ** 2)
            for single, times in releases.items()
            if isinstance(single, GaussianCost | SampledGaussianCost)
        ),
        8,
    )


def _listed(costs: Cost | Iterable[Cost]) -> list[tuple[Cost, int]]:
    """Return the costs, last first, each once."""
    if isinstance(costs, Cost):
        return [(costs, 1)]
    if isinstance(costs, str | bytes):
        raise InvalidArgument("costs", costs, "a cost or a collection of costs")
    try:
        listed = [(cost, 1) for cost in costs]
    except TypeError:
        raise InvalidArgument("costs", costs, "a cost or a collection of costs") from None
    if not listed:
        raise InvalidArgument("costs", costs, "at least one cost")
    return listed[::-1]


def largest_loss(cost: BoundedCost) -> float:
    """Return the largest log-likelihood ratio that a release can show, delta aside: the least float not below it."""
    return written_up(exact_loss(cost)) if isinstance(cost, LaplaceCost) else cost.epsilon


def exact_loss(cost: BoundedCost) -> Fraction:
    """Return the largest log-likelihood ratio that a release can show, delta aside, of the numbers as written."""
    match cost:
        case PureCost(epsilon) | BoundedRangeCost(epsilon):
            return decimal_value(epsilon)
        case ApproximateCost(epsilon, _) | RandomizedResponseCost(epsilon, _):
            return decimal_value(epsilon)
        case LaplaceCost(sensitivity, scale):
            return decimal_value(sensitivity) / decimal_value(scale)
        case _:
            assert_never(cost)

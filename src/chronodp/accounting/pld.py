"""Privacy-loss distributions, by Google's dp-accounting: tight for any mixture of releases fixed in advance.

Slow (tens of milliseconds for each different release) and imported late (a second): for plans and reports.

Row "PLD" and the step *PLD* of ``docs/explanation/proofs/accounting.md``: discretisation is pessimistic, and 2^-48 of
probability a release is given away for the transforms.

References:
    Meiser, Mohammadi (2018), Tight on budget?; Doroshenko et al. (2022), Connect the dots.
"""

from __future__ import annotations

import math
from typing import Any, assert_never

from chronodp.accounting import bounded_range, gaussian, renyi
from chronodp.accounting.rounding import up
from chronodp.accounting.spending import BoundedCost, Costs, Spending, gather
from chronodp.errors import UnsupportedCost
from chronodp.privacy import (
    ApproximateCost,
    BoundedRangeCost,
    LaplaceCost,
    PureCost,
    RandomizedResponseCost,
    check_fraction,
)

__all__ = ["epsilon"]

_MOST_DIFFERENT = 200
_FINEST = 1e-4
_FINEST_SAMPLED = 1e-3  # their law takes longer to compute, and loses less than 1e-5 of epsilon to this grid
_LARGEST_LOSS = 700.0
_MOST_BUCKETS = 2_000_000
_LOST = 2.0**-48  # of probability, that transforms may lose with each release; a hundredth of it was ever seen


def epsilon(costs: Costs, delta: float) -> float:
    """Return epsilon at ``delta``, from above, within about the grid of the discretisation.

    Gaussian noise alone is one normal loss and needs no grid. A delta so small that the rounding of Fourier transforms
    might hide it is priced by Rényi divergences instead.
    """
    check_fraction("delta", delta)
    spending = gather(costs)
    if spending.left_of(delta) <= 0:
        return math.inf
    if not spending.bounded and not spending.sampled:
        return gaussian.epsilon(spending, delta)
    if any(value > _LARGEST_LOSS for value, _ in spending.largest_losses):
        raise UnsupportedCost(f"privacy-loss distributions overflow for likelihood ratios beyond e^{_LARGEST_LOSS:g}")
    lost = _LOST * spending.count
    beyond = spending.beyond_failures(delta)  # deltas of releases are in their distributions
    if lost > beyond / 2:
        return renyi.epsilon(spending, delta)
    total = None
    interval = _interval(spending)
    for distribution, times in _distributions(spending, interval):
        part = distribution if times == 1 else distribution.self_compose(times)
        total = part if total is None else total.compose(part)
    if total is None:
        raise AssertionError("there is a release that is bounded or on a sample")
    found = float(total.get_epsilon_for_delta(beyond - lost))
    return math.inf if math.isnan(found) else up(max(0.0, found), 64)


def _distributions(spending: Spending, interval: float) -> list[tuple[Any, int]]:
    from dp_accounting.pld import privacy_loss_distribution as library

    if len(spending.bounded) + len(spending.sampled) > _MOST_DIFFERENT:
        raise UnsupportedCost(f"privacy-loss distributions of more than {_MOST_DIFFERENT} different releases: too slow")
    found = [(_distribution(library, cost, interval), times) for cost, times in spending.bounded.items()]
    for cost, times in spending.sampled.items():
        ratio = cost.sigma / cost.sensitivity
        both = library.from_gaussian_mechanism(
            ratio, value_discretization_interval=interval, sampling_prob=cost.rate, use_connect_dots=True
        )
        found.append((both, times))
    if spending.unsampled_gaussian:  # all such releases are exactly one
        sigma = 1 / math.sqrt(spending.unsampled_gaussian)
        found.append((library.from_gaussian_mechanism(sigma, value_discretization_interval=interval), 1))
    return found


def _distribution(library: Any, cost: BoundedCost, interval: float) -> Any:
    grid = {"value_discretization_interval": interval}
    match cost:
        case PureCost(value):
            return _from_parameters(library, value, 0.0, grid)
        case BoundedRangeCost(value):
            return _of_range(library, value, interval)
        case ApproximateCost(value, delta):
            return _from_parameters(library, value, delta, grid)
        case LaplaceCost(sensitivity, scale):
            return library.from_laplace_mechanism(scale, sensitivity=sensitivity, **grid)
        case RandomizedResponseCost(value, choices):
            uniform = choices / (math.exp(value) + choices - 1)
            return library.from_randomized_response(uniform, choices, **grid)
        case _:
            assert_never(cost)


def _from_parameters(library: Any, epsilon: float, delta: float, grid: dict[str, float]) -> Any:
    from dp_accounting.pld import common

    return library.from_privacy_parameters(common.DifferentialPrivacyParameters(epsilon, delta), **grid)


def _of_range(library: Any, epsilon: float, interval: float) -> Any:
    from dp_accounting.pld import pld_pmf

    masses = bounded_range.probabilities(epsilon, interval)
    return library.PrivacyLossDistribution(pld_pmf.DensePLDPmf(interval, -(len(masses) // 2), masses, 0.0, True))


def _interval(spending: Spending) -> float:
    """A grid fine enough for the weakest release and coarse enough for the whole to fit in memory."""
    mu = math.sqrt(spending.gaussian)
    if mu > _LARGEST_LOSS:
        raise UnsupportedCost(
            f"privacy-loss distributions overflow for Gaussian noise below sensitivity / {_LARGEST_LOSS:g}"
        )
    bounded = spending.largest_losses
    # A person moves a sampled sum by rate times as much in the mean, and its loss spreads about so far.
    moved = [(cost.rate * cost.sensitivity / cost.sigma, times) for cost, times in spending.sampled.items()]
    plain = spending.unsampled_gaussian
    seen = plain + math.fsum(times * value**2 for value, times in moved)
    weakest = min([value for value, _ in (*bounded, *moved)] + ([math.sqrt(plain)] if plain else []))
    spread = math.sqrt(seen + math.fsum(times * value**2 for value, times in bounded))
    mean = seen / 2 + math.fsum(times * value * math.tanh(value / 2) for value, times in bounded)
    interval = max(min(_FINEST_SAMPLED if moved else _FINEST, weakest / 100), (mean + 20 * spread) / _MOST_BUCKETS)
    if interval > weakest:
        raise UnsupportedCost("the releases are too many and too small for a privacy-loss distribution")
    return interval

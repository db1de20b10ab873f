"""Rules that decide which keys are published: the library's own, and those of other libraries run by their own code."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from chronodp.accounting import gaussian
from chronodp.engines import HeldKeys
from chronodp.privacy import decimal_value
from chronodp.randomness import seeded
from chronodp.selection.keys import Held, OptimalRule, Rounds, decide, threshold_for, weights_of

__all__ = ["BEST_OF_ONE", "DELTA", "EPSILON", "LONE", "MU", "ONE_ROUND", "OURS", "PEERS", "RULES", "Rule", "lone_rate"]

EPSILON, DELTA, LONE = 1.0, 1e-6, 4e-7  # of delta, as much as the library takes for keys of one person alone
MU = gaussian.mu_for(EPSILON, 6e-7)

Chances = NDArray[np.float64]
Rule = Callable[[HeldKeys, int, int], Chances | None]
"""From who holds what, the most keys of a person and a seed: how often each key is published. None: not to be had."""


def two_rounds(held: HeldKeys, most: int, seed: int) -> Chances:
    """The library's default, drawn once."""
    rule = Rounds(MU, LONE, most)
    return rule.decide(lambda dropped: held.weigh(rule.weights, dropped), seeded(seed)).found.astype(float)


def one_round(held: HeldKeys, most: int, seed: int) -> Chances:
    """One round at the whole price, weights as in the default, drawn once."""
    only, weights = Rounds(MU, LONE, 1).rounds[0], weights_of(most)
    at = type(only)(only.scale, threshold_for(only.scale, decimal_value(LONE), Held(weights)))
    return decide((at,), None, lambda dropped: held.weigh(weights, dropped), seeded(seed)).found.astype(float)


def best_of_one_round(held: HeldKeys, most: int, seed: int) -> Chances:
    """What no threshold on one round of these weights can exceed: the whole of delta paid to noise and again to keys.

    By its probabilities, in floats: not a rule of the library.
    """
    del seed
    sigma, keys = 1 / gaussian.mu_for(EPSILON, DELTA), np.arange(1, most + 1)
    threshold = (keys**-0.5 + sigma * norm.isf(-np.expm1(np.log1p(-DELTA) / keys))).max()
    return np.asarray(norm.cdf((held.weigh(weights_of(most)) / weights_of(1)[0] - threshold) / sigma))


def optimal(held: HeldKeys, most: int, seed: int) -> Chances:
    """The library's rule for budgets without Gaussian noise, by its probabilities."""
    del seed
    table = np.array([float(chance) for chance in OptimalRule(EPSILON, DELTA, most).table]) / 2.0**128
    return np.asarray(table[np.minimum(held.people, len(table) - 1)])


def opendp_laplace(held: HeldKeys, most: int, seed: int) -> Chances | None:
    """OpenDP's counts with Laplace noise and the least threshold that its map allows."""
    del seed
    found = _opendp_laplace(most)
    return found and _drawn(found, held)


def opendp_gaussian(held: HeldKeys, most: int, seed: int) -> Chances | None:
    """OpenDP's counts with Gaussian noise, the least threshold of those that its map allows."""
    del seed
    found = _opendp_gaussian(most)
    return found and _drawn(found, held)


def pipeline(strategy: str) -> Rule:
    """One of PipelineDP's strategies, by the probabilities that it states itself."""

    def chances(held: HeldKeys, most: int, seed: int) -> Chances | None:
        del seed
        if importlib.util.find_spec("pipeline_dp") is None or importlib.util.find_spec("pydp") is None:
            return None
        import pipeline_dp
        from pipeline_dp import partition_selection

        kind = pipeline_dp.PartitionSelectionStrategy[strategy]
        made = partition_selection.create_partition_selection_strategy(kind, EPSILON, DELTA, most)
        counts, places = np.unique(held.people, return_inverse=True)
        return np.array([made.probability_of_keep(int(count)) for count in counts])[places]

    return chances


def pipeline_weighted(held: HeldKeys, most: int, seed: int) -> Chances | None:
    """PipelineDP's weights 1/√d, and its own draw for each key."""
    del seed
    if importlib.util.find_spec("pipeline_dp") is None or importlib.util.find_spec("pydp") is None:
        return None
    from pipeline_dp import partition_selection

    made = partition_selection.create_weighted_gaussian_thresholding(EPSILON, DELTA, most)
    weighed = held.weigh(weights_of(most)) / weights_of(1)[0]
    return np.array([made.should_keep(float(weight)) for weight in weighed], float)


OURS, ONE_ROUND, BEST_OF_ONE = "two rounds (default)", "one round of weights", "one round at best"
PEERS: dict[str, Rule] = {
    "OpenDP Laplace": opendp_laplace,
    "OpenDP Gaussian": opendp_gaussian,
    "PipelineDP geometric": pipeline("TRUNCATED_GEOMETRIC"),
    "PipelineDP Laplace": pipeline("LAPLACE_THRESHOLDING"),
    "PipelineDP Gaussian": pipeline("GAUSSIAN_THRESHOLDING"),
    "PipelineDP weighted": pipeline_weighted,
}
RULES: dict[str, Rule] = {
    OURS: two_rounds,
    ONE_ROUND: one_round,
    BEST_OF_ONE: best_of_one_round,
    "optimal rule": optimal,
    **PEERS,
}


def lone_rate(scale: float, threshold: int, trials: int) -> tuple[float, float] | None:
    """Return the delta that OpenDP's map states for a lone key, and how often it publishes one."""
    made = _laplace(scale, threshold)
    if made is None:
        return None
    told = len(made({str(number): 1 for number in range(trials)}))
    return made.map((1, 1, 1))[1], told / trials


def _drawn(made: Any, held: HeldKeys) -> Chances:
    told = made(dict(zip(held.keys, held.people.tolist(), strict=True)))
    return np.array([key in told for key in held.keys], float)


def _prelude() -> Any:
    if importlib.util.find_spec("opendp") is None:
        return None
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp


def _laplace(scale: float, threshold: int) -> Any:
    dp = _prelude()
    if dp is None:
        return None
    counts = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))
    metric = dp.l01inf_distance(dp.absolute_distance(T=int))
    return dp.m.make_laplace_threshold(counts, metric, scale=scale, threshold=threshold)


@cache
def _opendp_laplace(most: int) -> Any:
    def allowed(threshold: int) -> Any:
        made = _laplace(float(most) / EPSILON, threshold)
        epsilon, delta = made.map((most, most, 1))
        return made if epsilon <= EPSILON and delta <= DELTA else None

    return None if _prelude() is None else _least(allowed)


@cache
def _opendp_gaussian(most: int) -> Any:
    """Of delta, the part for the threshold that needs the fewest people, in twentieths."""
    dp = _prelude()
    if dp is None:
        return None
    counts = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))
    metric, moved = dp.l02inf_distance(dp.absolute_distance(T=float)), (most, float(np.sqrt(most)), 1.0)

    def at(scale: float, threshold: int) -> Any:
        return dp.m.make_gaussian_threshold(counts, metric, scale=scale, threshold=threshold)

    def options() -> Iterator[tuple[int, Any]]:
        for part in range(4, 13):
            lone = DELTA * part / 20

            def enough(scale: float, rest: float = DELTA - lone) -> bool:
                profile, _ = dp.c.make_zCDP_to_approxDP(at(scale, 10**6)).map(moved)
                return bool(profile.epsilon(rest) <= EPSILON)

            scale = _smallest(enough, float(np.sqrt(most)), 10.0 * float(np.sqrt(most)))

            def allowed(threshold: int, scale: float = scale, lone: float = lone) -> Any:
                made = at(scale, threshold)
                return made if made.map(moved)[1] <= lone else None

            made, least = _least_at(allowed)
            yield least, made

    return min(options(), key=lambda option: option[0])[1]


def _smallest(enough: Callable[[float], bool], low: float, high: float) -> float:
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _least(allowed: Callable[[int], Any]) -> Any:
    return _least_at(allowed)[0]


def _least_at(allowed: Callable[[int], Any]) -> tuple[Any, int]:
    low, high = 1, 2
    while allowed(high) is None:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if allowed(middle) is None else (low, middle)
    return allowed(high), high

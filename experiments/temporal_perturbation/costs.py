"""Total costs of the mechanisms, expected and measured, by window, budget and unit costs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from chronodp.randomness import seeded
from chronodp.temporal import Backward, BlockShuffle, Forward, Threshold, UnitCosts, recommend
from experiments.claims import computation
from experiments.claims.computations import inverted, scaled
from experiments.temporal_perturbation.rows import always_nothing

__all__ = ["KINDS", "PAPERS", "crossings", "expected_part", "extended", "measured_cost", "strategy_costs", "total_cost"]

PAPERS = ("Backward", "Forward", "Threshold")
KINDS: dict[str, Any] = {
    "Backward": Backward,
    "Forward": Forward,
    "Threshold": Threshold,
    "block shuffle": BlockShuffle,
}
LENGTH = 1_000_000
"""Values of a measured run: as many as the paper's made-up series has."""


def _growing_with_the_budget(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda kind, window, epsilon, *rest: function(kind, window, epsilon, *rest) * (1 + epsilon) ** 2


def _larger_with_costs(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda kind, window, epsilon, *rest: function(kind, window, epsilon, *rest) + sum(rest)


@computation(
    ten_times=scaled(10.0),
    other_sign=scaled(-1.0),
    inverted=inverted,
    grows_with_the_budget=_growing_with_the_budget,
    grows_with_unit_costs=_larger_with_costs,
)
def total_cost(
    kind: str, window: int, epsilon: float, missing: float = 1.0, repeated: float = 1.0, empty: float = 1.0
) -> float:
    """Return the expected cost of a value; of a block shuffle by the clock, so with the wait for its block's end."""
    costs = UnitCosts.relative(window, missing=missing, repeated=repeated, empty=empty)
    return float(_expected(kind, window, epsilon).cost(costs))


@computation(ten_times=scaled(10.0), other_sign=scaled(-1.0))
def measured_cost(
    kind: str,
    window: int,
    epsilon: float,
    missing: float = 1.0,
    repeated: float = 1.0,
    empty: float = 1.0,
    length: int = LENGTH,
) -> float:
    """Return the cost of a value in a run."""
    costs = UnitCosts.relative(window, missing=missing, repeated=repeated, empty=empty)
    return float(_damage(kind, window, epsilon, length).cost(costs))


@computation(none=always_nothing)
def expected_part(kind: str, window: int, epsilon: float, name: str) -> float:
    """Return the part of the total cost that missing, repeated, empty or delayed values make, unit costs k and 1."""
    share = float(getattr(_expected(kind, window, epsilon), name))
    return share if name == "delay" else window * share


def extended(window: int, epsilon: float) -> bool:
    """Return whether only the extended mechanism reaches a budget."""
    return Threshold(window, epsilon).choice.extended


@computation(ten_times=scaled(10.0), inverted=inverted)
def crossings(window: int) -> tuple[float, float]:
    """Return the least and the most budget at which Threshold, extended or not, costs less than the baselines."""

    def wins(epsilon: float) -> bool:
        costs = UnitCosts.relative(window)
        ours, theirs = (_expected(kind, window, epsilon).cost(costs) for kind in ("Threshold", "Backward"))
        return bool(ours < theirs)

    coarse = [quarter / 4 for quarter in range(2, 100) if wins(quarter / 4)]
    return _edge(wins, coarse[0], coarse[0] - 0.25), _edge(wins, coarse[-1], coarse[-1] + 0.25)


@computation(
    ten_times_the_pick=lambda f: lambda *a: {**f(*a), "picked": 10 * f(*a)["picked"]},
    threshold_at_a_tenth=lambda f: lambda *a: {**f(*a), "Threshold": 0.1 * f(*a)["Threshold"]},
)
def strategy_costs(window: int, epsilon: float) -> dict[str, float]:
    """Return the expected cost of what the paper's strategy picks, and of each of its three mechanisms."""
    return dict(_recommended(window, epsilon))


@cache
def _recommended(window: int, epsilon: float) -> dict[str, float]:
    found = recommend(window, epsilon)
    costs = {type(one.mechanism).__name__: one.cost for one in found.candidates if not one.private}
    return {**costs, "picked": found.papers.cost}


@cache
def _expected(kind: str, window: int, epsilon: float) -> Any:
    mechanism = KINDS[kind](window, epsilon)
    return mechanism.expected_by_clock if kind == "block shuffle" else mechanism.expected


@cache
def _damage(kind: str, window: int, epsilon: float, length: int) -> Any:
    return KINDS[kind](window, epsilon).perturb(np.zeros(length), entropy=seeded(f"costs of {kind}")).damage


def _edge(wins: Callable[[float], bool], inside: float, outside: float) -> float:
    """Return where winning ends, between a budget at which it does and one at which it does not."""
    while abs(inside - outside) > 1e-4:
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if wins(middle) else (inside, middle)
    return inside

"""Fig. 6(c), the strategy of V-B 4), and where Threshold is the cheapest of all."""

from __future__ import annotations

import numpy as np

from experiments.claims import Claim, Pair, Tolerance, above, every, number, optimum, rising
from experiments.temporal_perturbation.costs import crossings, strategy_costs, total_cost
from experiments.temporal_perturbation.dispatch import derived_curve, lowest_budget
from experiments.temporal_perturbation.figure_6 import BUDGETS
from experiments.temporal_perturbation.rows import row

__all__ = ["GRID", "WINDOWS", "region", "rows"]

WINDOWS = (5, 10, 20, 30, 50, 75, 100, 125, 150, 175, 200)
GRID = [(window, quarter / 4) for window in range(5, 201, 5) for quarter in range(1, 101)]
"""Windows up to 200 and budgets up to 25: what the strategy speaks of."""


def rows() -> list[Claim]:
    """Return the rows of V-B 3) and 4), and of the abstract."""
    return [_derivable(), _winning(), _proportional(), _strategy(), _most()]


def region(window: int, epsilon: float) -> str:
    """Return whether a budget lies below, inside or above what thresholds derive at their cheapest."""
    lowest, highest = _ends(window)
    if epsilon < lowest:
        return "below"
    return "above" if epsilon > highest else "derivable"


def _ends(window: int) -> tuple[float, float]:
    curve = derived_curve(window)
    return min(curve), curve[-1]


def _derivable() -> Claim:
    return row(
        id="L37",
        place="Fig. 6(c), V-B 3)",
        says="the wider the window, the wider the range of budgets that Threshold derives",
        rule=rising,
        stated="the range widens",
        readings={
            "lowest to that of c₀ = k − 1, k = 5 to 200": lambda: [high - low for low, high in map(_ends, WINDOWS)]
        },
        tokens=("from 5 to 200",),
    )


def _winning() -> Claim:
    return row(
        id="L38",
        place="Fig. 6(c), V-B 3)",
        says="the range in which Threshold is the cheapest widens upwards; its lower end is as low as 2.5 at k = 200",
        rule=every(number, rising),
        stated=(2.5, "the upper end rises"),
        tolerance=Tolerance(absolute=0.1),
        readings={
            "where it costs less than the baselines": lambda: (
                crossings(200)[0],
                [crossings(window)[1] for window in WINDOWS],
            )
        },
        tokens=("2.5",),
        note="the lower end rises from 1.4 at k = 5 and is stable from about k = 30 on",
    )


def _proportional() -> Claim:
    def shares(windows: tuple[int, ...]) -> list[float]:
        found = [lowest_budget(window)[0] / window for window in windows]
        return [share / float(np.mean(found)) for share in found]

    def explained() -> list[float]:
        thresholds = np.array([lowest_budget(window)[0] for window in WINDOWS], dtype=np.float64)
        line = np.polyval(np.polyfit(WINDOWS, thresholds, 1), WINDOWS)
        left, whole = (float(((thresholds - middle) ** 2).sum()) for middle in (line, thresholds.mean()))
        return [1 - left / whole]

    return row(
        id="L39",
        place="Fig. 6(c), V-B 3)",
        says="the threshold of the lowest budget grows almost in proportion to the window",
        rule=number,
        stated=1.0,
        tolerance=Tolerance(relative=0.2),
        readings={
            "c₀* / k over its mean, k = 5 to 200": lambda: shares(WINDOWS),
            "share that a line with an offset explains": explained,
            "c₀* / k over its mean, k = 75 to 200": lambda: shares(WINDOWS[5:]),
        },
        tokens=("almost increases proportionally",),
        parameters="not stated: almost in proportion is taken as c₀* / k within 20 % of its mean",
    )


def _strategy() -> Claim:
    def pairs(*regions: str) -> list[Pair]:
        found = []
        for window, epsilon in GRID:
            if region(window, epsilon) in regions:
                costs = strategy_costs(window, epsilon)
                least = min(cost for name, cost in costs.items() if name != "picked")
                found.append(Pair(costs["picked"], least, f"k = {window}, ε = {epsilon:g}"))
        return found

    return row(
        id="L40",
        place="V-B 4)",
        says="Threshold is to be taken where it derives the budget, below unless ε < 1 or k > 100, above unless ε > 20 "
        "or k < 10, and a baseline elsewhere",
        rule=optimum,
        stated="the cheapest of the three",
        tolerance=Tolerance(relative=1e-9),
        readings={
            "k = 5 to 200, ε = 0.25 to 25": lambda: pairs("below", "derivable", "above"),
            "where Threshold derives the budget": lambda: pairs("derivable"),
            "below": lambda: pairs("below"),
            "above": lambda: pairs("above"),
        },
        tokens=("k > 100", "> 20", "k < 10"),
    )


def _most() -> Claim:
    def shares() -> list[float]:
        """Return, window by window, at how many of the budgets Threshold is the cheapest."""
        found: dict[int, list[bool]] = {}
        for window, epsilon in GRID:
            costs = strategy_costs(window, epsilon)
            found.setdefault(window, []).append(costs["Threshold"] < min(costs["Backward"], costs["Forward"]))
        return [float(np.mean(wins)) for wins in found.values()]

    def figures() -> list[float]:
        return [
            float(np.mean([total_cost("Threshold", k, part) < total_cost("Backward", k, part) for part in BUDGETS]))
            for k in (10, 50)
        ]

    return row(
        id="L51",
        place="Abstract; I, contribution 3",
        says="Threshold is the best under most budgets, the baselines at very small and very large ones",
        rule=above,
        stated=0.5,
        readings={
            "share of budgets up to 25, each k from 5 to 200": shares,
            "of the budgets of Fig. 6(a) and (b)": figures,
        },
        tokens=("most effective under most",),
        note="with budgets up to 25 it is so from k of about 30 on",
    )

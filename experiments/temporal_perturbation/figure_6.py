"""Fig. 6(a) and (b): total cost against the budget."""

from __future__ import annotations

from itertools import pairwise

from experiments.claims import Claim, Pair, Tolerance, always, below, equal, every, falling, most, number, order
from experiments.temporal_perturbation.costs import crossings, total_cost
from experiments.temporal_perturbation.dispatch import derived_curve
from experiments.temporal_perturbation.rows import row

__all__ = ["BUDGETS", "rows"]

BUDGETS = tuple(float(epsilon) for epsilon in range(1, 17))


def rows() -> list[Claim]:
    """Return the rows of Fig. 6(a) and (b)."""
    return [
        _panel("L33a", "Fig. 6(a), V-B 2)", 10),
        _panel("L33b", "Fig. 6(b), V-B 2)", 50),
        _smallest(),
        _largest(),
        _saturation(),
        _where(),
    ]


def _pairs(window: int) -> list[Pair]:
    return [
        Pair(total_cost("Threshold", window, epsilon), total_cost("Backward", window, epsilon), f"ε = {epsilon:g}")
        for epsilon in BUDGETS
    ]


def _panel(claim: str, place: str, window: int) -> Claim:
    def values() -> tuple[list[float], list[float], list[Pair], list[bool]]:
        pairs = _pairs(window)
        wins = [pair.found < pair.against for pair in pairs]
        return (
            [pair.against for pair in pairs],
            [pair.found for pair in pairs],
            pairs,
            [sum(one != two for one, two in pairwise([False, *wins, False])) == 2],
        )

    return row(
        id=claim,
        place=place,
        says=f"k = {window}, ε = 1 to 16: costs fall with the budget, and Threshold is the cheapest but for very small "
        "and very large ones",
        rule=every(falling, falling, most, always),
        stated=("the baselines fall", "Threshold falls or stays", "Threshold cheapest in most", "those in one stretch"),
        tolerance=Tolerance(absolute=1e-9),
        readings={"whole budgets": values},
        tokens=("from 1 to 16",),
    )


def _smallest() -> Claim:
    return row(
        id="L34",
        place="V-B 2)",
        says="at ε = 1 and k = 10 the baselines cost less than the extended mechanism",
        rule=order,
        stated="the baselines below it",
        readings={
            "expected costs": lambda: [Pair(total_cost("Backward", 10, 1.0), total_cost("Threshold", 10, 1.0), "ε = 1")]
        },
        tokens=("baseline mechanisms outperform it",),
    )


def _largest() -> Claim:
    return row(
        id="L35",
        place="V-B 2)",
        says="the largest budget that Threshold can spend, over all thresholds, is 10 at k = 10 and 16 at k = 50",
        rule=number,
        stated=(10.0, 16.0),
        tolerance=Tolerance(absolute=0.5),
        readings={
            "the largest derived budget": lambda: [max(derived_curve(window)) for window in (10, 50)],
            "the derived budget of the cheapest threshold, k − 1": lambda: [derived_curve(k)[-1] for k in (10, 50)],
            "where the baselines become cheaper": lambda: [crossings(window)[1] for window in (10, 50)],
        },
        tokens=("10 for", "16 for"),
        note="on whole budgets 10 and 16 are the last at which Threshold is the cheapest",
    )


def _saturation() -> Claim:
    def falls(*kinds: str) -> list[float]:
        """Return by what share the cost still falls with one more unit of budget."""
        return [
            1 - total_cost(kind, window, 21.0) / total_cost(kind, window, 20.0) for kind in kinds for window in (10, 50)
        ]

    return row(
        id="L36",
        place="V-B 2)",
        says="as the budget grows large the costs of all three stop falling",
        rule=below,
        stated=0.01,
        readings={
            "all three, k = 10 and 50": lambda: falls("Threshold", "Backward", "Forward"),
            "Threshold alone": lambda: falls("Threshold"),
        },
        tokens=("tend to saturate",),
        parameters="not stated: a fall of less than 1 % from ε = 20 to 21 counts as none",
        note="the baselines go on towards 0; Threshold keeps a delay of one period",
    )


def _where() -> Claim:
    return row(
        id="N12",
        place="",
        says="whole budgets at which Threshold is the cheapest: 2 to 10 at k = 10, 3 to 16 at k = 50",
        rule=equal,
        stated="first and last",
        readings={
            "ε = 1 to 16": lambda: [
                Pair(found, wanted, f"k = {window}")
                for window, ends in ((10, (2.0, 10.0)), (50, (3.0, 16.0)))
                for found, wanted in zip(_ends(window), ends, strict=True)
            ]
        },
        origin="ours",
        parameters="ours: whole budgets up to 16",
    )


def _ends(window: int) -> tuple[float, float]:
    wins = [epsilon for epsilon, pair in zip(BUDGETS, _pairs(window), strict=True) if pair.found < pair.against]
    return (min(wins), max(wins)) if wins else (0.0, 0.0)

"""Fig. 7(a) and (b): counting the days on which a price rose."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path

from experiments.claims import Claim, Given, Pair, below, every, most, order
from experiments.temporal_perturbation.applications import (
    BUDGETS,
    REPORTED,
    UNBIASED,
    count_bias,
    counting_error,
    predicted_counting_ratio,
)
from experiments.temporal_perturbation.data import MADE_UP_PRICES
from experiments.temporal_perturbation.rows import row

__all__ = ["rows"]


def rows(given: Given) -> list[Claim]:
    """Return the rows of V-C 1)."""
    path, other = given.path("prices"), given.path("other-prices")
    data = given.mark("prices", MADE_UP_PRICES)
    return [
        _least(path, other, data),
        _baselines(path, data),
        _extended(path, data),
        _foretold(path, other, data),
    ]


def _ranks(path: Path | None, response: str) -> list[Pair]:
    return [
        Pair(
            counting_error(path, "Threshold", epsilon),
            min(counting_error(path, kind, epsilon) for kind in ("Backward", "Forward", response)),
            f"ε = {epsilon:g}",
        )
        for epsilon in BUDGETS
    ]


def _least(path: Path | None, other: Path | None, data: str) -> Claim:
    readings = {response: partial(_ranks, path, response) for response in (REPORTED, UNBIASED)}
    if other is not None:
        readings["other prices, unbiased"] = partial(_ranks, other, UNBIASED)
    return row(
        id="L41",
        place="Fig. 7(a), V-C 1)",
        says="k = 10, ε = 1 to 8: counting rises, Threshold has a far smaller error than the others in most cases",
        rule=most,
        stated="the least in most of 8",
        readings=readings,
        tokens=("14,058",),
        data=data,
        files=("prices", "other-prices"),
        slow=True,
        note="randomised response is biased where its answers are counted as they are: both ways are shown",
    )


def _baselines(path: Path | None, data: str) -> Claim:
    return row(
        id="L42",
        place="Fig. 7(a), V-C 1)",
        says="Forward's error always stays high, and Backward's is lower",
        rule=order,
        stated="Backward below Forward at all 8",
        readings={
            "k = 10, ε = 1 to 8": lambda: [
                Pair(counting_error(path, "Backward", part), counting_error(path, "Forward", part), f"ε = {part:g}")
                for part in BUDGETS
            ]
        },
        tokens=("always stays high",),
        data=data,
        files=("prices",),
        slow=True,
    )


def _extended(path: Path | None, data: str) -> Claim:
    def values() -> tuple[list[Pair], list[float]]:
        plain = counting_error(path, "Threshold", 4.0)
        high = [Pair(plain, counting_error(path, "Threshold", part), f"ε = {part:g}") for part in (1.0, 2.0)]
        return high, [count_bias(path, kind, part) for kind in ("Threshold", "Forward") for part in (1.0, 2.0)]

    return row(
        id="L43",
        place="Fig. 7(a), V-C 1)",
        says="at small budgets the extended mechanism counts too few, as Forward does",
        rule=every(order, below),
        stated=("the error at ε = 4 below those at 1 and 2", 0.0),
        readings={"errors, and by how much the last count is too large": values},
        tokens=("also reflected on ETM",),
        data=data,
        files=("prices",),
        slow=True,
    )


def _foretold(path: Path | None, other: Path | None, data: str) -> Claim:
    def ratios(prices: Path | None) -> list[tuple[float, float]]:
        return [
            (
                predicted_counting_ratio(prices, part),
                counting_error(prices, "Backward", part) / counting_error(prices, "Threshold", part),
            )
            for part in BUDGETS
        ]

    def sizes() -> list[Pair]:
        return [
            Pair(abs(math.log(foretold / seen)), math.log(2), f"ε = {part:g}")
            for part, (foretold, seen) in zip(BUDGETS, ratios(path), strict=True)
        ]

    def sides(prices: Path | None) -> list[Pair]:
        return [
            Pair(float((foretold > 1) != (seen > 1)), 0.5, f"ε = {part:g}")
            for part, (foretold, seen) in zip(BUDGETS, ratios(prices), strict=True)
        ]

    readings = {"in size, within a factor 2": sizes, "on which side of 1": lambda: sides(path)}
    if other is not None:
        readings["other prices, on which side of 1"] = lambda: sides(other)
    return row(
        id="L44",
        place="Fig. 7(b), V-C 1)",
        says="the unit costs foretell the ratio of Backward's error to Threshold's, and where it passes 1",
        rule=most,
        stated=0.8,
        readings=readings,
        tokens=("accurately predict",),
        parameters="not stated: at most one budget of 8 may be off",
        data=data,
        files=("prices", "other-prices"),
        slow=True,
        note="the figure shows ratios of logarithms whose base is not told",
    )

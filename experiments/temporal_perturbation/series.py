"""The paper's three series, and what counting finds on the one that its text specifies."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from chronodp.randomness import seeded
from experiments.claims import Claim, Given, Pair, computation, equal, order
from experiments.claims.computations import inverted
from experiments.temporal_perturbation.costs import KINDS, PAPERS
from experiments.temporal_perturbation.data import MADE_UP_PRICES, daily_prices, pulses, synthetic
from experiments.temporal_perturbation.rows import row

__all__ = ["rows"]

GENERATED = "source: generated as its text specifies, 1,000,000 whole numbers drawn evenly from 0 to 100"


def rows(given: Given) -> list[Claim]:
    """Return the row on the data, one of ours on the made-up series, and the plan for later work."""
    return [_sizes(given), _counting(), _later()]


@computation()
def sizes(prices: Path | None, vitals: Path | None) -> tuple[float, ...]:
    """Return how many days, trajectories and made-up values there are here."""
    return float(len(daily_prices(prices))), float(len(pulses(vitals))), float(len(synthetic()))


@computation(inverted=inverted)
def synthetic_error(kind: str, window: int, epsilon: float) -> float:
    """Return the mean squared error of the running count of one value of the made-up series."""
    return _synthetic_error(kind, window, epsilon)


def _sizes(given: Given) -> Claim:
    prices, vitals = given.path("prices"), given.path("vitals")
    stated = (("trading days", 14_058), ("trajectories", 6_307), ("values of SyntheticTS", 1_000_000))

    def pairs() -> list[Pair]:
        return [Pair(found, wanted, what) for found, (what, wanted) in zip(sizes(prices, vitals), stated, strict=True)]

    return row(
        id="L49",
        place="V-A 1)",
        says="the series: 14,058 trading days, 6,307 taxis' trajectories, 1,000,000 values from 0 to 100",
        rule=equal,
        stated="as many as stated",
        readings={
            "all three": pairs,
            "all but the taxis": lambda: [pair for pair in pairs() if pair.at != "trajectories"],
        },
        tokens=("14,058", "6307", "10^6"),
        data=given.mark("prices", MADE_UP_PRICES),
        files=("prices", "vitals"),
        note="the stock is known by its length alone; the taxis are not to be had",
    )


def _counting() -> Claim:
    return row(
        id="N42",
        place="",
        says="counting one value of SyntheticTS, k = 20, ε = 5: Threshold has the least error of the paper's three",
        rule=order,
        stated="Threshold below both",
        readings={
            "one run of a million values": lambda: [
                Pair(synthetic_error("Threshold", 20, 5.0), synthetic_error(kind, 20, 5.0), kind)
                for kind in PAPERS
                if kind != "Threshold"
            ]
        },
        origin="ours",
        parameters="ours: k = 20, ε = 5",
        data=GENERATED,
    )


def _later() -> Claim:
    return row(
        id="L52",
        place="VII",
        says="later work: several channels that hang together",
        tokens=("multivariate time series",),
        reason="a plan says nothing that could be computed; the library moves the channels of a person together",
    )


@cache
def _synthetic_error(kind: str, window: int, epsilon: float) -> float:
    values = synthetic()
    released = KINDS[kind](window, epsilon).perturb(values, entropy=seeded(f"SyntheticTS {kind}")).values
    gaps = np.cumsum(released.filled(-1) == 50) - np.cumsum(values == 50)
    return float(np.mean(gaps.astype(np.float64) ** 2))

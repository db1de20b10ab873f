"""What a source says of noisy comparisons, and how well alerts on the air of a room do."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path

from experiments.alerts.air import make_days, read_days
from experiments.alerts.comparisons import comparison_claims
from experiments.alerts.detection import BUDGETS, NEEDLESS, Detection, measure_detection
from experiments.claims import Claim, Given, below, computation, rising
from experiments.claims.computations import inverted

__all__ = ["claims"]


@computation(all_days=lambda _: lambda *_: 1.0)
def needless_days(path: Path | None, epsilon: float, noise: str) -> float:
    """Return the share of watched days on which an alert fired in fine air."""
    return _found(path)[epsilon, noise].needless


@computation(inverse=inverted)
def days_told(path: Path | None, epsilon: float, noise: str) -> float:
    """Return the share of days with bad air on which an alert fired."""
    return _found(path)[epsilon, noise].detected


def claims(given: Given) -> list[Claim]:
    """Return the claims; days of air come from a file where one is given."""
    path = given.path("occupancy")
    air = partial(Claim, source="applications", place="beside A11", origin="ours", files=("occupancy",))
    mark = given.mark("occupancy", "16 days of a room's air")
    return [
        *comparison_claims(),
        air(
            id="N02",
            says="An alert placed from public figures alone fires in fine air on few days, at every budget and with "
            "either noise: 5 % were planned for, half as much again is let pass.",
            rule=below,
            stated=1.5 * NEEDLESS,
            readings={
                "share of days": lambda: [
                    needless_days(path, epsilon, noise)
                    for epsilon in BUDGETS
                    for noise in ("exponential noise", "Laplace noise")
                ]
            },
            data=mark,
        ),
        air(
            id="N26",
            says="The larger the budget, the more days with bad air are told; with a small one the threshold must lie "
            "so high that most are missed.",
            rule=rising,
            stated="rises with ε",
            readings={
                "ε = 0.3, 1, 3, 10, exponential noise": lambda: [
                    days_told(path, epsilon, "exponential noise") for epsilon in BUDGETS
                ]
            },
            data=mark,
        ),
    ]


@cache
def _found(path: Path | None) -> dict[tuple[float, str], Detection]:
    days = read_days(path) if path else make_days()
    return {(row.epsilon, row.noise): row for row in measure_detection(days)}

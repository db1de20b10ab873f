"""Section VI: error of age and noise, and the problem of the least leakage within an error."""

from __future__ import annotations

from functools import cache

from chronodp.correlated import Mean
from chronodp.correlated.tuning import tune, tune_affine
from experiments.claims import Claim, Pair, computation, equal, falling, order
from experiments.correlated_sequences.chains import chain
from experiments.correlated_sequences.errors import APART, drift, error, noise_part
from experiments.correlated_sequences.row import row

__all__ = ["best_age", "claims", "rise_by_noise"]

_BOUNDS = (0.6, 0.8, 1.0)


@computation(**{"stops at 10": lambda f: lambda bound, oldest, shrunk: min(f(bound, oldest, shrunk), 10)})
def best_age(bound: float, oldest: int, shrunk: bool) -> int:
    """Return the age of least leakage within an error, up to an oldest; the answer shrunk to its mean or not."""
    return _best_age(bound, oldest, shrunk)


@computation(**{"by the coupling": lambda f: lambda coupling, epsilon: f(coupling, epsilon) / (1 + coupling)})
def rise_by_noise(coupling: float, epsilon: float) -> float:
    """Return how much more an answer one period old errs with noise than without."""
    return round(drift(coupling, 1) + noise_part(epsilon) - drift(coupling, 1), 12)


def claims() -> list[Claim]:
    """Return the rows of utility and tuning."""
    return [
        row(
            id="C34",
            place="VI-C, eq. 22",
            says="the error falls as ε_C rises",
            rule=falling,
            stated="falls with ε_C",
            readings={"(22), ε_C from 1 to 10": lambda: [error(APART, 1, float(level)) for level in range(1, 11)]},
        ),
        row(
            id="C35",
            place="VI-C",
            says="coupling amplifies what noise does: the same noise adds more error where coupling is strong",
            rule=order,
            stated="noise adds less at λ = 1 than at λ = 0.5",
            readings={
                "what noise adds at λ = 1 against λ = 0.5": lambda: [
                    Pair(rise_by_noise(1.0, level), rise_by_noise(0.5, level), f"ε_C = {level:g}")
                    for level in (0.5, 1.0, 2.0)
                ]
            },
            note="it adds the same; what coupling does raise is the staleness (N35)",
        ),
        row(
            id="C36",
            place="VI-D, P1, eq. 23–24",
            says="the least leakage within an error, over ages and noise, is a problem with a best age",
            rule=equal,
            stated="the best age does not depend on the oldest that is offered",
            readings={
                "as printed": lambda: _offered(shrunk=False),
                "with the answer shrunk towards its mean afterwards": lambda: _offered(shrunk=True),
            },
            note="10 against 20 offered, allowed errors 0.6 to 1: beyond twice the variance the oldest always wins",
        ),
    ]


def _offered(*, shrunk: bool) -> list[Pair]:
    return [Pair(best_age(bound, 10, shrunk), best_age(bound, 20, shrunk), f"error {bound:g}") for bound in _BOUNDS]


@cache
def _best_age(bound: float, oldest: int, shrunk: bool) -> int:
    choose = tune_affine if shrunk else tune
    return choose(chain(0.75), query=Mean(), error=bound, oldest=oldest).ages[0]

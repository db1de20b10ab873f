"""The sparse vector technique: what alerts cost, and what its factor of two is for."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from experiments.claims import Claim, Pair, Tolerance, bound, computation, order

__all__ = ["sparse_vector_claims"]

Floats = NDArray[np.float64]

PLACE = "Principles and Mechanisms, The Sparse Vector Technique"
SPLITS = ((1, 0.5, 0.5), (2, 0.4, 0.3))
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_FARTHEST = 160.0
_LEVELS = np.linspace(-40, 40, 17)


@computation()
def worst_loss(alerts: int, shared: float, each: float, *, factor: float, silent: int, monotone: bool = False) -> float:
    """Return the worst log-likelihood ratio of "silent so many times, then alerts", by quadrature over the threshold.

    Sensitivity 1, threshold noise Lap(1/ε₀), query noise Lap(factor/ε₁). Quiet queries move down and loud ones up, or
    all the same way where they are monotone.
    """
    worst = 0.0
    for level in _LEVELS:
        pairs = ((level, 0.0), (level + 1, 1.0)) if monotone else ((level + 1, 0.0), (level, 1.0))
        low, high = (_log_chance(quiet, loud, alerts, silent, shared, factor / each) for quiet, loud in pairs)
        if min(low, high) > -500:
            worst = max(worst, abs(high - low))
    return round(worst, 9)  # the quadrature is good to more digits than that


def sparse_vector_claims() -> list[Claim]:
    """Return the claims on the sparse vector technique."""
    claim = partial(Claim, source="textbook")
    return [
        claim(
            id="T31",
            place=f"{PLACE}, steps 1 to 5",
            says="Threshold noise Lap(Δ/ε₀) once, query noise Lap(2Δ/ε₁), a halt after c alerts: ε₀ + c ε₁ in all.",
            rule=bound,
            stated="at most ε₀ + c ε₁",
            tolerance=Tolerance(absolute=1e-6),
            readings={"the worst loss of patterns": lambda: [_pair(*split, factor=2.0) for split in SPLITS]},
            tokens=(r"\mathrm{Lap}(2\Delta/\epsilon_1)", r"\mathrm{Lap}(\Delta/\epsilon_0)"),
            parameters="ours: c = 1 at (0.5, 0.5), c = 2 at (0.4, 0.3)",
        ),
        claim(
            id="T32",
            place=f"{PLACE}, step 4",
            says="The factor two in the query noise is critical: without it alerts cost more than ε₀ + c ε₁.",
            rule=order,
            stated="ε₀ + c ε₁ below the loss without the factor",
            readings={
                "any queries": lambda: [*_without_factor(monotone=False), *_without_factor(monotone=True)],
                "queries that may move both ways": lambda: _without_factor(monotone=False),
            },
            tokens=("factor of two is critical",),
            parameters="ours: c = 1 at (0.5, 0.5), c = 2 at (0.4, 0.3)",
            note="For queries that all move one way Lap(Δ/ε₁) is enough.",
        ),
        claim(
            id="T33",
            place=PLACE,
            says="The price is that of the alerts, however many queries stay silent.",
            rule=bound,
            stated="at most ε₀ + c ε₁",
            tolerance=Tolerance(absolute=1e-6),
            readings={
                "after 0, 1, 10, 200 silent queries": lambda: [
                    Pair(worst_loss(1, 0.5, 0.5, factor=2.0, silent=silent), 1.0, f"{silent} silent queries")
                    for silent in (0, 1, 10, 200)
                ]
            },
            tokens=("not the total number of queries",),
            parameters="ours: c = 1 at (0.5, 0.5)",
        ),
    ]


def _pair(alerts: int, shared: float, each: float, *, factor: float) -> Pair:
    found = max(worst_loss(alerts, shared, each, factor=factor, silent=silent) for silent in (0, 1, 50, 1000))
    return Pair(found, shared + alerts * each, f"c = {alerts}, ε₀ = {shared:g}, ε₁ = {each:g}")


def _without_factor(*, monotone: bool) -> list[Pair]:
    pairs = []
    for alerts, shared, each in SPLITS:
        found = max(
            worst_loss(alerts, shared, each, factor=1.0, silent=silent, monotone=monotone)
            for silent in (0, 1, 50, 1000)
        )
        pairs.append(Pair(shared + alerts * each, found, f"c = {alerts}" + (", monotone" if monotone else "")))
    return pairs


def _log_chance(quiet: float, loud: float, alerts: int, silent: int, shared: float, scale: float) -> float:
    """Return the log-probability of the pattern, integrated over the threshold's noise piece by piece.

    Every integrand is smooth between the kinks at 0 and at the two queries.
    """
    edges = np.unique(np.concatenate([np.linspace(-_FARTHEST, _FARTHEST, 161), [quiet, loud]]))
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    noise = (middle[:, None] + half[:, None] * _NODES).ravel()
    weights = (half[:, None] * _WEIGHTS).ravel()
    logs = (
        math.log(shared / 2)
        - np.abs(noise) * shared
        + silent * _log_below(noise - quiet, scale)
        + alerts * _log_below(loud - noise, scale)
    )
    top = float(logs.max())
    return top + math.log(float(weights @ np.exp(logs - top)))


def _log_below(x: Floats, scale: float) -> Floats:
    """Return the log of P(Lap(scale) ≤ x)."""
    return np.where(x < 0, x / scale - math.log(2), np.log1p(-np.exp(-np.abs(x) / scale) / 2))

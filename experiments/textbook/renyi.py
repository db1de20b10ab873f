"""Rényi accounting: its composition, its conversion, and how far from exact it is."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from chronodp.accounting import gaussian, renyi
from chronodp.privacy import GaussianCost, RepeatedCost
from experiments.claims import Claim, Pair, Tolerance, bound, computation, equal, optimum

__all__ = ["renyi_claims"]

Floats = NDArray[np.float64]

PLACE = "Principles and Mechanisms, Rényi Differential Privacy"
DAY = (1440, 50.0, 1e-5)
FAMILY = (DAY, (1, 1.0, 1e-5), (100, 10.0, 1e-6), (10, 20.0, 1e-3))
_CASES = ((2.0, 0.3), (4.0, 0.7), (16.0, 0.2))
_POINTS = np.linspace(-30, 30, 60_001)


@computation()
def integrated_divergence(order: float, ratio: float) -> float:
    """Return the Rényi divergence of N(Δ/σ, 1) from N(0, 1) by integration."""
    return math.log(_moment(order, ratio)) / (order - 1)


@computation()
def library_divergence(order: float, ratio: float, times: int) -> float:
    """Return the library's divergence of so many Gaussian releases."""
    return renyi.divergence(RepeatedCost(GaussianCost(sensitivity=ratio, sigma=1.0), times), order)


@computation()
def adaptive_divergence(order: float, first: float, second: float) -> float:
    """Return the divergence, by integration, of two Gaussian releases; the second's noise depends on the first output.

    Where the first output is above 0 the second is a query of twice the sensitivity with twice the noise.
    """
    later = _moment(order, second)
    wide = _moment(order, second, deviation=2.0)
    weights = np.where(_POINTS > 0, wide, later)
    return math.log(float(np.trapezoid(_tilted(order, first) * weights, _POINTS))) / (order - 1)


@computation()
def textbook_epsilon(times: int, sigma: float, delta: float) -> float:
    """Return the printed conversion at its best order."""
    return renyi.epsilon_textbook(_releases(times, sigma), delta)


@computation()
def improved_epsilon(times: int, sigma: float, delta: float) -> float:
    """Return the better conversion of Canonne, Kamath and Steinke (2020) at its best order."""
    return renyi.epsilon(_releases(times, sigma), delta)


@computation()
def exact_epsilon(times: int, sigma: float, delta: float) -> float:
    """Return the least ε that is true of these releases."""
    return gaussian.epsilon(_releases(times, sigma), delta)


@computation()
def closed_form(times: int, sigma: float, delta: float) -> float:
    """Return ρ + 2 √(ρ ln(1/δ)) with ρ = k / (2 σ²): the printed conversion, minimised by hand."""
    rho = times / (2 * sigma**2)
    return rho + 2 * math.sqrt(-rho * math.log(delta))


def renyi_claims() -> list[Claim]:
    """Return the claims on Rényi accounting."""
    claim = partial(Claim, source="textbook", place=PLACE)
    return [
        claim(
            id="T16",
            says="One Gaussian release has Rényi divergence α Δ² / (2 σ²).",
            rule=equal,
            stated="α Δ₂² / (2 σ²)",
            tolerance=Tolerance(relative=1e-9),
            readings={
                "integrated": lambda: [
                    Pair(integrated_divergence(order, ratio), order * ratio**2 / 2, f"α = {order:g}, Δ/σ = {ratio:g}")
                    for order, ratio in _CASES
                ],
            },
            tokens=(r"\frac{\alpha \Delta_2^2}{2\sigma^2}",),
            parameters="ours: α and Δ/σ of three kinds",
        ),
        claim(
            id="T17",
            says="At one order the divergences of several mechanisms add up.",
            rule=equal,
            stated="the sum",
            tolerance=Tolerance(relative=1e-9),
            readings={
                "nine alike, and two of which the second adapts": lambda: [
                    *(
                        Pair(
                            library_divergence(order, ratio, 9),
                            9 * integrated_divergence(order, ratio),
                            f"α = {order:g}",
                        )
                        for order, ratio in _CASES
                    ),
                    Pair(adaptive_divergence(4.0, 0.7, 0.5), 4.0 * (0.7**2 + 0.5**2) / 2, "α = 4, adaptively"),
                ]
            },
            tokens=(r"(\alpha, \sum_{i=1}^k \varepsilon_i)",),
            parameters="ours: α and Δ/σ of three kinds",
            note="Said of independent mechanisms; adaptive ones add up as well.",
        ),
        claim(
            id="T18",
            place=f"{PLACE}, displayed formulas",
            says="A divergence converts to ε = ε(α) + ln(1/δ)/(α − 1); of k Gaussian releases with the divergence "
            "above.",
            rule=bound,
            stated="exact ε at most the formula's",
            readings={
                "Gaussian releases": lambda: [
                    Pair(exact_epsilon(*case), textbook_epsilon(*case), "k = {:,}, σ = {:g}, δ = {:g}".format(*case))
                    for case in FAMILY
                ]
            },
            tokens=(r"\frac{\ln(1/\delta)}{\alpha-1}", r"\frac{k \alpha \Delta_2^2}{2 \sigma^2}"),
            parameters="ours: 1,440 releases at σ = 50, δ = 1e-5, and three others",
        ),
        claim(
            id="T19",
            says="The best order gives the tightest ε, a highly accurate account.",
            rule=optimum,
            stated="no ε is smaller, to 1 %",
            tolerance=Tolerance(relative=0.01),
            readings={
                "the chapter's conversion": lambda: [
                    Pair(textbook_epsilon(*DAY), exact_epsilon(*DAY), "1,440 releases")
                ],
                "the improved conversion": lambda: [
                    Pair(improved_epsilon(*DAY), exact_epsilon(*DAY), "1,440 releases")
                ],
            },
            tokens=("tightest possible", "highly accurate"),
            parameters="ours: 1,440 releases at σ = 50, δ = 1e-5",
        ),
        claim(
            id="N17",
            place="beside T18",
            says="At its best order the chapter's conversion of k Gaussian releases is ρ + 2 √(ρ ln(1/δ)), ρ = "
            "k/(2σ²).",
            rule=equal,
            stated="ρ + 2 √(ρ ln(1/δ))",
            tolerance=Tolerance(relative=1e-9),
            readings={
                "searched, and minimised by hand": lambda: [
                    Pair(textbook_epsilon(*case), closed_form(*case), "k = {:,}, σ = {:g}, δ = {:g}".format(*case))
                    for case in FAMILY
                ]
            },
            origin="ours",
        ),
    ]


def _releases(times: int, sigma: float) -> RepeatedCost:
    return RepeatedCost(GaussianCost(sensitivity=1.0, sigma=sigma), times)


def _tilted(order: float, shift: float, deviation: float = 1.0) -> Floats:
    """Return p^α q^(1−α) over the points, of p = N(shift, deviation²) and q = N(0, deviation²)."""
    exponent = -order * (_POINTS - shift) ** 2 - (1 - order) * _POINTS**2
    density: Floats = np.exp(exponent / (2 * deviation**2)) / (deviation * math.sqrt(2 * math.pi))
    return density


def _moment(order: float, ratio: float, deviation: float = 1.0) -> float:
    return float(np.trapezoid(_tilted(order, ratio * deviation, deviation), _POINTS))

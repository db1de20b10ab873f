"""An adversary who knows how the background moves, beside the bound on total variation."""

from __future__ import annotations

import math
from functools import partial
from typing import Literal

import numpy as np
from scipy.special import ndtr

from chronodp.accounting import gaussian
from chronodp.audit.attacks import membership_advantages
from chronodp.correlated import autoregressive_covariance
from experiments.claims import Claim, Pair, Tolerance, bound, computation, order
from experiments.textbook.interpretation import PLACE, printed_bound

__all__ = ["background_claims"]

Knowledge = Literal["one reading", "average", "likelihood ratio", "background known"]

LENGTH, MU = 48, 1.0
SIGMA = math.sqrt(LENGTH) / MU
SETTINGS = ((0.8, 1.0), (0.8, 5.0))
_CURVE = (1e-6, 1e-3, 0.01, 0.1, 0.5, 1.0, 2.0, 4.0)


@computation()
def advantage(knowledge: Knowledge, memory: float, deviation: float) -> float:
    """Return the advantage over guessing of a test for someone who adds 1 to every reading of an AR(1) background."""
    background = autoregressive_covariance(LENGTH, memory=memory, deviation=deviation)
    found = membership_advantages([1.0] * LENGTH, background=background, sigma=SIGMA)
    values: float = getattr(found, knowledge.replace(" ", "_"))
    return values


@computation()
def blind_advantage(memory: float, deviation: float) -> float:
    """Return the advantage of a score that whitens by the background alone and ignores the noise of the release."""
    background = autoregressive_covariance(LENGTH, memory=memory, deviation=deviation)
    trace = np.ones(LENGTH)
    weights = np.linalg.solve(background, trace)
    spread = math.sqrt(weights @ (background + SIGMA**2 * np.eye(LENGTH)) @ weights)
    return float(2 * ndtr(weights @ trace / spread / 2) - 1)


@computation()
def delta_at(epsilon: float) -> float:
    """Return the δ of the release at ε: Gaussian noise with μ = 1."""
    return gaussian.delta_of(MU, epsilon)


def at_one() -> float:
    """Return the printed bound at ε = 1."""
    return printed_bound(1.0, delta_at(1.0))


def at_best() -> float:
    """Return the printed bound at the best point of the curve (ε, δ)."""
    return min(printed_bound(epsilon, delta_at(epsilon)) for epsilon in _CURVE)


def background_claims() -> list[Claim]:
    """Return the claims on adversaries with background knowledge."""
    claim = partial(
        Claim,
        rule=bound,
        tolerance=Tolerance(absolute=1e-9),
        parameters="ours: 48 readings, background AR(1) with α = 0.8 and deviation 1 or 5, Gaussian noise with μ = 1",
    )
    return [
        claim(
            id="T24",
            source="textbook",
            place=PLACE,
            says="The bound on total variation stands even against someone who exploits known temporal correlation.",
            stated="no advantage above the bound",
            readings={
                "one reading, average, whitened score, likelihood ratio, background known": lambda: [
                    *(
                        Pair(found, at_one(), f"{name}, deviation {deviation:g}, at ε = 1")
                        for memory, deviation in SETTINGS
                        for name, found in _tests(memory, deviation).items()
                    ),
                    Pair(
                        advantage("background known", 0.8, 1.0), at_best(), "background known, best point of the curve"
                    ),
                ]
            },
            tokens=("exploits known temporal correlations",),
            note=_side_by_side(),
        ),
        claim(
            id="T25",
            source="textbook-zh",
            place="隐私保证的稳健性",
            says="With the dynamics an adversary can filter independent noise away, yet stays within the bound.",
            rule=order,
            stated="one reading < filter < bound",
            readings={
                "likelihood ratio with the AR(1) law": lambda: [
                    pair
                    for memory, deviation in SETTINGS
                    for pair in (
                        Pair(
                            advantage("one reading", memory, deviation),
                            advantage("likelihood ratio", memory, deviation),
                            f"one reading against the filter, deviation {deviation:g}",
                        ),
                        Pair(
                            advantage("likelihood ratio", memory, deviation),
                            at_best(),
                            f"the filter against the bound, deviation {deviation:g}",
                        ),
                    )
                ]
            },
            tokens=("平均掉", "x_t = \\alpha x_{t-1} + w_t"),
        ),
        claim(
            id="N18",
            source="textbook",
            place="beside T24",
            says="A score that ignores the release's noise gains less than the likelihood ratio that knows it, and "
            "that less than someone who knows the background itself.",
            rule=order,
            stated="whitened score < likelihood ratio < background known",
            readings={
                "memory 0.8 and 0.98, deviation 1 and 5": lambda: [
                    pair
                    for memory in (0.8, 0.98)
                    for deviation in (1.0, 5.0)
                    for pair in (
                        Pair(
                            blind_advantage(memory, deviation),
                            advantage("likelihood ratio", memory, deviation),
                            f"the whitened score, α = {memory:g}, deviation {deviation:g}",
                        ),
                        Pair(
                            advantage("likelihood ratio", memory, deviation),
                            advantage("background known", memory, deviation),
                            f"the likelihood ratio, α = {memory:g}, deviation {deviation:g}",
                        ),
                    )
                ]
            },
            tolerance=Tolerance(),
            origin="ours",
            parameters="source",
        ),
    ]


def _side_by_side() -> str:
    rows = [
        f"deviation {deviation:g}: "
        + ", ".join(f"{name} {found:.4f}" for name, found in _tests(memory, deviation).items())
        for memory, deviation in SETTINGS
    ]
    return f"Advantages at {'; at '.join(rows)}. The bound is {at_one():.4f} at ε = 1 and {at_best():.4f} at its best."


def _tests(memory: float, deviation: float) -> dict[str, float]:
    return {
        "one reading": advantage("one reading", memory, deviation),
        "average": advantage("average", memory, deviation),
        "whitened score": blind_advantage(memory, deviation),
        "likelihood ratio": advantage("likelihood ratio", memory, deviation),
        "background known": advantage("background known", memory, deviation),
    }

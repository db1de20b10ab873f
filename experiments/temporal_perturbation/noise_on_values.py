"""Noise on values, which the paper compares with: randomised response and Laplace noise."""

from __future__ import annotations

import itertools
import math

import numpy as np

from experiments.claims import Claim, Pair, Tolerance, bound, computation, equal
from experiments.temporal_perturbation.rows import row

__all__ = ["rows"]

_VALUES = (0.0, 1.0, 3.0, 4.0, 8.0)


def rows() -> list[Claim]:
    """Return the rows of V-A 2)."""
    return [_flipping(), _laplace()]


@computation(of_the_truth=lambda function: lambda epsilon: 1 - function(epsilon))
def lying_share(epsilon: float) -> float:
    """Return how often an answer must be a lie for ε/2 on it: 1 / (1 + e^{ε/2})."""
    return 1 / (1 + math.exp(epsilon / 2))


@computation()
def laplace_loss(before: tuple[float, ...], after: tuple[float, ...], epsilon: float, far: float = 0.0) -> float:
    """Return the largest log-ratio of noise Lap(2 S / ε) on each value, S the range of the series itself.

    Outputs are taken at every value, and ``far`` ranges beyond both ends.
    """
    low, high = min(before + after), max(before + after)
    reach = far * (high - low)
    outputs = np.array(sorted({*before, *after, low - reach, high + reach}))
    scales = [2 * (max(series) - min(series)) / epsilon for series in (before, after)]
    loss = 0.0
    for one, two in zip(before, after, strict=True):  # noise is drawn apart, so the largest ratios add up
        first = -np.abs(outputs - one) / scales[0] - math.log(scales[0])
        second = -np.abs(outputs - two) / scales[1] - math.log(scales[1])
        loss += float(np.max(np.abs(first - second)))
    return loss


def _flipping() -> Claim:
    return row(
        id="L29",
        place="V-A 2)",
        says="randomised response flips an answer with probability e^{ε/2} / (1 + e^{ε/2})",
        rule=equal,
        stated="the probability of a lie",
        tolerance=Tolerance(absolute=1e-9),
        readings={
            "ε = 1, 2, 5": lambda: [
                Pair(lying_share(epsilon), 1 / (1 + math.exp(-epsilon / 2)), f"ε = {epsilon:g}")
                for epsilon in (1.0, 2.0, 5.0)
            ]
        },
        tokens=("flipping probability", "\\frac{e^{\\epsilon/2}}{1+e^{\\epsilon/2}}"),
        note="it is the probability of a true answer",
    )


def _laplace() -> Claim:
    return row(
        id="L30",
        place="V-A 2)",
        says="noise Lap(2 S / ε) on each value gives ε for the order, S being the range of the series itself",
        rule=bound,
        stated="ε = 2",
        tolerance=Tolerance(absolute=1e-9),
        readings={
            "a swap, which leaves the range as it is": lambda: [
                Pair(laplace_loss(_VALUES, _exchange(_VALUES, *pair), 2.0), 2.0, f"times {pair}")
                for pair in itertools.combinations(range(len(_VALUES)), 2)
            ],
            "a value changed, which changes the range": lambda: [
                Pair(laplace_loss(_VALUES, (*_VALUES[:-1], 4.0), 2.0, far=10.0), 1.0, "the largest value halved")
            ],
        },
        tokens=("Lap(\\frac{2 \\cdot S(F)}{\\epsilon})",),
        parameters="ours: five values, ε = 2",
        note="for each value apart, as Theorem 2.3 wants it, the range must be public: the scale shows it",
    )


def _exchange(values: tuple[float, ...], first: int, second: int) -> tuple[float, ...]:
    moved = list(values)
    moved[first], moved[second] = moved[second], moved[first]
    return tuple(moved)

"""Days and groups: how a guarantee for one item wears off over many."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

from chronodp.accounting import gaussian, group, optimal
from chronodp.audit.exact import examine
from chronodp.randomness import Entropy
from experiments.claims import Claim, Pair, bound, computation
from experiments.textbook.composition import basic_epsilon

__all__ = ["accumulation_claims"]

PLACE = "Applications, Wearable Sensors and Digital Phenotyping"
DAYS = 365
_EACH = ((0.1, 1e-9), (0.5, 1e-8))
_ODDS, _TIMES = Fraction(2), 50  # the mechanism that wears off fastest: e^ε = 2, δ = 1/50


@computation()
def least_epsilon(each: tuple[float, float], times: int) -> float:
    """Return the least ε that is true of every such composition at the sum of its δ."""
    slack = -math.expm1(math.log1p(-times * each[1]) - times * math.log1p(-each[1]))
    return optimal.compose(*each, times=times, slack=slack).epsilon


@computation()
def group_delta(epsilon: float, delta: float, steps: int) -> float:
    """Return the printed δ of a group."""
    return group(epsilon, delta, steps)[1]


@computation()
def gaussian_group_delta(epsilon: float, delta: float, steps: int) -> float:
    """Return the exact δ at k ε of Gaussian noise that meets (ε, δ) for one item."""
    return gaussian.delta_of(steps / gaussian.sigma(epsilon, delta), steps * epsilon)


@computation()
def enumerated_group_delta(first: int, steps: int) -> float:
    """Return the exact δ at k ε between ``first`` items and k more, of two outputs that wear off as fast as they may.

    With i items it says yes with probability δ (e^(iε) − 1)/(e^ε − 1).
    """

    def tell(items: int, *, entropy: Entropy) -> bool:
        chance = (_ODDS**items - 1) / (_ODDS - 1) / _TIMES
        return bool(entropy.coins(chance.numerator, chance.denominator)) if chance else False

    return examine(tell, [(first, first + steps)]).delta(steps * math.log(_ODDS))[1]


def accumulation_claims() -> list[Claim]:
    """Return the claims on days and groups."""
    claim = partial(Claim, source="applications", place=PLACE, rule=bound)
    return [
        claim(
            id="A18",
            says="365 daily statistics at (ε, δ) each cost (365 ε, 365 δ) by basic composition.",
            stated="at most (365 ε, 365 δ)",
            readings={
                "the least ε at 365 δ": lambda: [
                    Pair(least_epsilon(each, DAYS), basic_epsilon(each, DAYS), "({:g}, {:g}) each".format(*each))
                    for each in _EACH
                ]
            },
            tokens=(r"365 \epsilon_d, 365 \delta_d",),
            parameters="ours: (0.1, 1e-9) and (0.5, 1e-8) a day",
        ),
        claim(
            id="A19",
            says="(ε, δ) for one item is (k ε, δ (e^(kε) − 1)/(e^ε − 1)) for k items.",
            stated="at most the formula",
            readings={
                "Gaussian noise, and a mechanism with two outputs": lambda: [
                    Pair(
                        gaussian_group_delta(0.5, 1e-6, 24),
                        group_delta(0.5, 1e-6, 24),
                        "Gaussian noise, k = 24, (0.5, 1e-6)",
                    ),
                    *(
                        Pair(
                            enumerated_group_delta(first, steps),
                            group_delta(math.log(_ODDS), 1 / _TIMES, steps),
                            f"two outputs, {first} items and {steps} more, (ln 2, 0.02)",
                        )
                        for first, steps in ((0, 1), (1, 1), (2, 1), (0, 2), (0, 3))
                    ),
                ]
            },
            tokens=(r"\frac{\exp(k\epsilon)-1}{\exp(\epsilon)-1}",),
            parameters="ours: k = 24 at (0.5, 1e-6), k = 2 and 3 at (ln 2, 0.02)",
            note="Gaussian noise stays far below it; the mechanism with two outputs attains it.",
        ),
    ]

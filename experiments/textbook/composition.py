"""Basic and advanced composition: what many releases cost together."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

from chronodp.accounting import advanced, basic, gather, most_releases, optimal
from chronodp.audit.exact import examine
from chronodp.privacy import ApproximateCost, PureCost, RepeatedCost
from chronodp.randomness import Entropy
from experiments.claims import (
    Claim,
    Pair,
    Tolerance,
    above,
    always,
    bound,
    computation,
    equal,
    number,
    printed,
)
from experiments.textbook.responses import ODDS, adaptive_reports, leaky, repeated

__all__ = ["EACH", "MINUTES", "PLACE", "SLACK", "advanced_epsilon", "basic_epsilon", "composition_claims"]

PLACE = "Principles and Mechanisms, Basic and Advanced Composition"
MINUTES = 1440
EACH = (0.05, 1e-8)
SLACK = 1e-7
_SLACKS = (1e-9, 1e-6, 1e-3, 0.05, 0.3)


@computation()
def enumerated_epsilon(times: int) -> float:
    """Return the least pure ε of adaptive responses over all pairs of constant histories."""
    return examine(adaptive_reports, [((0,) * times, (1,) * times)]).epsilon


@computation()
def enumerated_delta(times: int, epsilon: float) -> float:
    """Return the least δ at ε of leaky responses, one after the other."""

    def tell(bit: int, *, entropy: Entropy) -> tuple[object, ...]:
        return tuple(leaky(bit, entropy=entropy) for _ in range(times))

    return examine(tell, [(0, 1)]).delta(epsilon)[0]


@computation()
def basic_epsilon(each: tuple[float, float], times: int) -> float:
    """Return the sum of the ε."""
    cost = RepeatedCost(ApproximateCost(*each) if each[1] else PureCost(each[0]), times)
    return basic.epsilon(cost, basic.deltas(gather(cost)))


@computation()
def basic_delta(each: tuple[float, float], times: int) -> float:
    """Return the sum of the δ."""
    return basic.deltas(gather(RepeatedCost(ApproximateCost(*each), times)))


@computation()
def releases_within_one(each: float) -> float:
    """Return how many releases of ε₀ fit into a total of 1."""
    return float(most_releases(PureCost(each), epsilon=1.0, delta=0.0, by=basic.epsilon))


@computation()
def advanced_epsilon(each: float, times: int, slack: float) -> float:
    """Return the printed formula's ε."""
    return advanced.compose(each, 0.0, times=times, slack=slack).epsilon


@computation()
def advanced_delta(each: tuple[float, float], times: int, slack: float) -> float:
    """Return the printed formula's δ."""
    return advanced.compose(*each, times=times, slack=slack).delta


@computation()
def optimal_epsilon(each: float, times: int, slack: float) -> float:
    """Return the least ε that is true of every composition of pure releases, and attained."""
    return optimal.compose(each, 0.0, times=times, slack=slack).epsilon


@computation()
def stands(odds: Fraction, slack: float) -> bool:
    """Return whether three enumerated responses at e^ε₀ = ``odds`` obey advanced composition at that slack."""
    claimed = advanced.compose(math.log(odds), 0.0, times=3, slack=slack).epsilon
    return not repeated(odds, 3).refutes(claimed, slack)


def composition_claims() -> list[Claim]:
    """Return the claims on basic and advanced composition."""
    return [*_basic(), *_advanced()]


def _basic() -> list[Claim]:
    claim = partial(Claim, source="textbook", place=PLACE)
    return [
        claim(
            id="T08",
            says="Adaptive releases cost the sum of their ε and the sum of their δ.",
            rule=bound,
            stated="at most (Σ ε, Σ δ)",
            tolerance=Tolerance(absolute=1e-12),
            readings={
                "coins, enumerated": lambda: [
                    Pair(enumerated_epsilon(3), basic_epsilon((math.log(ODDS), 0.0), 3), "ε of 3 adaptive responses"),
                    Pair(
                        enumerated_delta(2, 2 * math.log(ODDS)),
                        basic_delta((math.log(ODDS), 0.02), 2),
                        "δ of 2 leaky ones",
                    ),
                ]
            },
            tokens=(r"\sum_{t=1}^T \epsilon_t, \sum_{t=1}^T \delta_t",),
            parameters="ours: responses at ε = ln 3, leaking with δ = 0.02",
            note="The Chinese text says it of independent releases; the adaptive form is the stronger.",
        ),
        claim(
            id="T09",
            says="Within a total of 1, ⌊1/ε₀⌋ releases of ε₀ fit.",
            rule=equal,
            stated="⌊1/ε₀⌋",
            readings={
                "counted by basic composition": lambda: [
                    Pair(releases_within_one(each), math.floor(1 / Fraction(str(each))), f"ε₀ = {each:g}")
                    for each in (0.05, 0.1, 0.3, 0.4)
                ]
            },
            tokens=(r"1/\epsilon_0",),
            parameters="ours: ε₀ = 0.05, 0.1, 0.3, 0.4",
        ),
        claim(
            id="T12",
            says="By basic composition 1,440 releases at (0.05, 1e-8) cost 72 and 1.44e-5; δ is shown in units of "
            "1e-5.",
            rule=number,
            stated=[72, 1.44],
            tolerance=Tolerance(absolute=1e-9),
            readings={"ε, 1e5 δ": lambda: [basic_epsilon(EACH, MINUTES), 1e5 * basic_delta(EACH, MINUTES)]},
            tokens=("72", r"1.44 \times 10^{-5}"),
        ),
    ]


def _advanced() -> list[Claim]:
    claim = partial(Claim, source="textbook", place=PLACE)
    return [
        claim(
            id="T10",
            place=f"{PLACE}, displayed formulas",
            says="Advanced composition: √(2T ln(1/δ̃)) ε₀ + T ε₀ (e^ε₀ − 1) bounds ε at T δ₀ + δ̃.",
            rule=bound,
            stated="at most the formula",
            readings={
                "against optimal composition": lambda: [
                    Pair(
                        optimal_epsilon(each, times, slack),
                        advanced_epsilon(each, times, slack),
                        f"T = {times:,}, ε₀ = {each:.3g}, δ̃ = {slack:g}",
                    )
                    for each, times, slack in (
                        (EACH[0], MINUTES, SLACK),
                        *((math.log(2), 3, slack) for slack in _SLACKS),
                        *((0.1, 100, slack) for slack in _SLACKS),
                    )
                ]
            },
            tokens=(r"\sqrt{2T \ln(1/\tilde{\delta})}", r"\delta = T \delta_0 + \tilde{\delta}"),
        ),
        claim(
            id="T11",
            says="By advanced composition with slack 1e-7 the same releases cost about 14.46 at about 1.45e-5; δ is "
            "shown in units of 1e-5.",
            rule=number,
            stated=[14.46, 1.45],
            tolerance=printed("14.46", "1.45"),
            readings={
                "ε, 1e5 δ": lambda: [
                    advanced_epsilon(EACH[0], MINUTES, SLACK),
                    1e5 * advanced_delta(EACH, MINUTES, SLACK),
                ]
            },
            tokens=("14.46", r"1.45 \times 10^{-5}", "1440"),
        ),
        claim(
            id="T13",
            says="There advanced composition is far better than basic: basic costs several times as much.",
            rule=above,
            stated=1.0,
            readings={
                "basic / advanced": lambda: basic_epsilon(EACH, MINUTES) / advanced_epsilon(EACH[0], MINUTES, SLACK),
                "basic / optimal": lambda: basic_epsilon(EACH, MINUTES) / optimal_epsilon(EACH[0], MINUTES, SLACK),
            },
            tokens=("far better than the basic composition bound",),
        ),
        claim(
            id="T15",
            says="Advanced composition is stated for ε₀ up to 1.",
            rule=always,
            stated="no enumerated response contradicts the formula",
            readings={
                "ε₀ = ln 2 and ln 2.5": lambda: [
                    stands(odds, slack) for odds in (Fraction(2), Fraction(5, 2)) for slack in _SLACKS
                ],
                "ε₀ = ln 8 as well": lambda: [stands(Fraction(8), slack) for slack in _SLACKS],
            },
            tokens=(r"\epsilon_0 \leq 1",),
            parameters="ours: three responses, five slacks",
            note="The condition is not needed: it stands at ln 8 as well.",
        ),
    ]

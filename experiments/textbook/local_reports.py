"""Local privacy: reports of one bit, one after the other, and what adds up over a day."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

from chronodp.audit.exact import examine, outcomes
from chronodp.local import RandomizedResponse
from experiments.claims import Claim, Pair, Tolerance, bound, computation, equal, every, number, rising
from experiments.textbook.composition import enumerated_epsilon
from experiments.textbook.responses import ODDS, history_laws, respond

__all__ = ["local_claims", "majority"]

PLACE = "Principles and Mechanisms, Local Differential Privacy"
REPORTS = (1, 5, 25)


@computation()
def response_epsilon() -> float:
    """Return the least pure ε of one enumerated response."""
    return examine(respond, [(0, 1)]).epsilon


@computation()
def truth_of(epsilon: float) -> float:
    """Return the library's probability of a true report."""
    return float(RandomizedResponse(epsilon).law.truth)


@computation()
def conditional_epsilon(step: int, length: int = 3) -> float:
    """Return the largest |log ratio| of report ``step`` given any reports before it, over all pairs of histories."""
    chances: dict[tuple[int, ...], dict[tuple[int, ...], float]] = {}
    for bits, law in history_laws(length).items():
        kept: dict[tuple[int, ...], Fraction] = {}
        for reports, chance in law.probabilities.items():
            assert isinstance(reports, tuple)
            for end in (step - 1, step):
                kept[reports[:end]] = kept.get(reports[:end], Fraction(0)) + chance
        chances[bits] = {
            reports: float(chance / kept[reports[:-1]]) for reports, chance in kept.items() if len(reports) == step
        }
    return max(
        abs(math.log(one[reports] / other[reports]))
        for one in chances.values()
        for other in chances.values()
        for reports in one
    )


@computation()
def expected_estimate(bit: int) -> float:
    """Return the mean of the printed estimator when everybody has this bit, enumerated."""
    law = outcomes(lambda entropy: respond(bit, entropy=entropy)).probabilities
    truth = Fraction(ODDS, ODDS + 1)
    return float((law[1] - (1 - truth)) / (2 * truth - 1))


@computation()
def majority(epsilon: float, reports: int) -> float:
    """Return how often the majority of so many fresh responses to one constant bit is that bit."""
    p = RandomizedResponse(epsilon).law.truth
    most = range(reports // 2 + 1, reports + 1)
    return float(sum((math.comb(reports, k) * p**k * (1 - p) ** (reports - k) for k in most), Fraction(0)))


def local_claims() -> list[Claim]:
    """Return the claims on local privacy."""
    claim = partial(Claim, source="textbook", place=PLACE)
    return [
        claim(
            id="T28",
            says="Randomised response that is true with p = e^ε/(1 + e^ε) is ε-locally private at each step.",
            rule=equal,
            stated="p/(1 − p) = e^ε",
            tolerance=Tolerance(absolute=1e-12),
            readings={
                "enumerated, and the library's p": lambda: [
                    Pair(response_epsilon(), math.log(ODDS), "ε of the response"),
                    *(
                        Pair(truth_of(epsilon), 1 / (1 + math.exp(-epsilon)), f"p at ε = {epsilon:g}")
                        for epsilon in (0.5, 1.0, 3.0)
                    ),
                ]
            },
            tokens=(r"\frac{\exp(\epsilon)}{1+\exp(\epsilon)}",),
            parameters="ours: ε = ln 3, 0.5, 1, 3",
        ),
        claim(
            id="T29",
            says="Adaptive reports are bounded in likelihood ratio at each time, given any public history.",
            rule=bound,
            stated="at most ε at each step",
            tolerance=Tolerance(absolute=1e-12),
            readings={
                "three adaptive reports, enumerated": lambda: [
                    Pair(conditional_epsilon(step), math.log(ODDS), f"report {step}") for step in (1, 2, 3)
                ]
            },
            tokens=("conditioned on any history of prior public outputs",),
            parameters="ours: three responses at ε = ln 3",
            note="Over T steps it composes to T ε, which the chapter leaves unsaid.",
        ),
        claim(
            id="T30",
            source="textbook-zh",
            place="本地差分隐私",
            says="The share of ones is estimated without bias by (mean report − (1 − p))/(2p − 1).",
            rule=equal,
            stated="no bias",
            tolerance=Tolerance(absolute=1e-12),
            readings={
                "enumerated": lambda: [Pair(expected_estimate(bit), bit, f"everybody has {bit}") for bit in (0, 1)]
            },
            tokens=(r"\bar{Y}_t - (1 - p)",),
            parameters="ours: ε = ln 3",
        ),
        claim(
            id="T34",
            source="textbook-zh",
            place="邻近性",
            says="Protection of single events lets an adversary add up weak signals to find a day; protection of the "
            "user does not.",
            rule=every(rising, bound),
            stated=("the chance of a right guess rises with the reports", "at user level it stays below e^ε/(1 + e^ε)"),
            readings={
                "the majority of 1, 5, 25 reports of a constant bit, ε = 1": lambda: (
                    [majority(1.0, reports) for reports in REPORTS],
                    [
                        Pair(majority(1.0 / reports, reports), truth_of(1.0), f"{reports} reports at 1/{reports} each")
                        for reports in REPORTS
                    ],
                )
            },
            tokens=("对手可以聚合多次发布的弱隐私信号",),
            parameters="ours: ε = 1",
        ),
        claim(
            id="N14",
            place="beside T29",
            says="Over three adaptive reports at ε = ln 3 likelihood ratios multiply to 27.",
            rule=number,
            stated=27,
            tolerance=Tolerance(absolute=1e-9),
            readings={"the largest ratio, enumerated": lambda: math.exp(enumerated_epsilon(3))},
            origin="ours",
        ),
    ]

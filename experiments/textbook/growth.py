"""How the cost of advanced composition grows, and where it is below that of basic composition."""

from __future__ import annotations

import math
from collections.abc import Iterable

from experiments.claims import Claim, Pair, Tolerance, about_ratio, below, computation, every, number, order
from experiments.textbook.composition import EACH, MINUTES, PLACE, SLACK, advanced_epsilon, basic_epsilon

__all__ = ["growth_claims"]

_TIMES = (*range(1, 200), 500, 1000, 1440, 10_000, 12_000)


@computation()
def growth(times: int) -> float:
    """Return the local exponent d ln ε / d ln T of the printed formula."""
    up, down = (advanced_epsilon(EACH[0], times + step, SLACK) for step in (1, -1))
    return math.log(up / down) / math.log((times + 1) / (times - 1))


@computation()
def overtaken(each: float, slack: float) -> float:
    """Return the number of releases at which the linear term has grown as large as the root."""
    return -2 * math.log(slack) / math.expm1(each) ** 2


def first_below(each: float) -> float:
    """Return the least number of releases for which advanced composition is below basic, or infinity."""
    found = (t for t in _TIMES if advanced_epsilon(each, t, SLACK) < basic_epsilon((each, 0.0), t))
    return float(next(found, math.inf))


def growth_claims() -> list[Claim]:
    """Return the claims on growth."""
    return [
        Claim(
            id="T14",
            source="textbook",
            place=PLACE,
            says="Advanced composition is the tighter bound and grows more slowly than linearly.",
            rule=every(order, below),
            stated=("advanced below basic", 1.0),
            readings={
                "any number of releases": lambda: (
                    _against_basic(_TIMES),
                    [growth(t) for t in (100, MINUTES, 100_000)],
                ),
                "36 releases and more": lambda: (
                    _against_basic([t for t in _TIMES if t >= 36]),
                    [growth(t) for t in (100, MINUTES, 100_000)],
                ),
            },
            tokens=("grows sub-linearly", r"The $\sqrt{T}$ term dominates for small $\epsilon_0$"),
            note="The linear term overtakes the root in the end, and from ε₀ = ln 2 on there is no crossing.",
        ),
        Claim(
            id="T36",
            source="textbook-zh",
            place="高级组合",
            says="The ε of advanced composition is proportional to √T.",
            rule=number,
            stated=0.5,
            tolerance=about_ratio(),
            readings={"exponent at T = 1,440, 1e5, 1e6": lambda: [growth(t) for t in (MINUTES, 100_000, 1_000_000)]},
            tokens=("$\\sqrt{T}$ 成正比",),
        ),
        Claim(
            id="N15",
            source="textbook",
            place="beside T14",
            says="Advanced composition of ε₀ = 0.05 with slack 1e-7 is below basic from 36 releases on, and its linear "
            "term is the larger from 12,263 on.",
            rule=number,
            stated=[36, 12_263],
            tolerance=Tolerance(absolute=0.5),
            readings={"crossings": lambda: [first_below(EACH[0]), overtaken(EACH[0], SLACK)]},
            origin="ours",
        ),
        Claim(
            id="N16",
            source="textbook",
            place="beside T14",
            says="From ε₀ = ln 2 on, advanced composition is never below basic: its linear term alone is as large.",
            rule=order,
            stated="basic below advanced",
            readings={
                "ε₀ = ln 2 and 1": lambda: [
                    Pair(basic_epsilon((each, 0.0), t), advanced_epsilon(each, t, SLACK), f"ε₀ = {each:.3g}, T = {t:,}")
                    for each in (math.log(2), 1.0)
                    for t in _TIMES
                ]
            },
            origin="ours",
        ),
    ]


def _against_basic(times: Iterable[int]) -> list[Pair]:
    return [
        Pair(advanced_epsilon(EACH[0], t, SLACK), basic_epsilon((EACH[0], 0.0), t), f"T = {t:,}, ε₀ = {EACH[0]:g}")
        for t in times
    ]

"""Figure 4: error and noise for realised states.

The paper's "uniform" ageing are the states (1, 0) in its panels (a) and (b) and (1, 1) in the noise levels of (c); its
"varying" ageing is the other pair. They are states, not ages, and a mechanism that sets its noise by them reveals them.
"""

from __future__ import annotations

from collections.abc import Iterable

from experiments.claims import (
    Claim,
    Pair,
    Tolerance,
    about_share,
    above,
    below,
    every,
    number,
    order,
    printed,
)
from experiments.correlated_sequences.chains import COUPLED
from experiments.correlated_sequences.errors import ALIKE, APART, States, error, error_jointly, noise, stale
from experiments.correlated_sequences.figure_3 import Formula, exactly
from experiments.correlated_sequences.leakages import linear
from experiments.correlated_sequences.row import row
from experiments.correlated_sequences.utility import best_age

__all__ = ["claims", "least_age", "level", "spread_of_couplings"]

_TIMES = range(1, 11)


def level(states: States, allowed: float, age: int = 20, coupling: float = 0.75) -> float:
    """Return the ε_C at which a mean of these realised states errs by what is allowed."""
    return noise(allowed, stale(states, age, coupling))


def least_age(states: States, allowed: float, oldest: int, coupling: float = 0.75, *, aged: bool = True) -> int:
    """Return the age of least leakage by (15) within an error; or by ε_C alone, which sees no age."""

    def told(age: int) -> float:
        epsilon = level(states, allowed, age, coupling)
        return linear(coupling, age, epsilon) if aged else epsilon

    return min(range(oldest + 1), key=told)


def spread_of_couplings(states: States, age: int, *, jointly: bool = False) -> float:
    """Return how far errors at λ 0.5, 0.75, 1 and ε_C = 1 lie apart, as a share of the least."""
    of = error_jointly if jointly else error
    errors = [of(states, age, 1.0, c) for c in COUPLED]
    return max(errors) / min(errors) - 1


def claims() -> list[Claim]:
    """Return the rows of the figure's three panels."""
    return [*_against_noise(), *_against_age(), *_against_error()]


def _against_noise() -> list[Claim]:
    return [
        row(
            id="C50",
            place="Fig. 4(a), VII-C",
            says="at ε_C = 10 the states (1, 0) consistently err 40 % less than (1, 1)",
            rule=number,
            stated=0.4,
            tolerance=about_share(0.4),
            readings={
                "every t from 1 to 10": lambda: [_lower(age) for age in _TIMES],
                "t = 1": lambda: _lower(1),
            },
            tokens=("40%",),
            parameters="not stated: t; 1 to 10 taken",
        ),
        row(
            id="C51",
            place="Fig. 4(a), VII-C",
            says="the first states' error is stable over time, the others' grows",
            rule=every(below, above),
            stated=(0.1, 0.1),
            readings={
                "growth from t = 0 to 10": lambda: (_growth(APART, 0), _growth(ALIKE, 0)),
                "growth from t = 1 to 10": lambda: (_growth(APART, 1), _growth(ALIKE, 1)),
            },
            note="at ε_C = 10; stable is within a tenth; both begin at t = 0 with noise alone",
        ),
    ]


def _against_age() -> list[Claim]:
    return [
        row(
            id="C52",
            place="Fig. 4(b), VII-C",
            says="at t = 10 the states (1, 1) err 40 % more",
            rule=number,
            stated=0.4,
            tolerance=Tolerance(absolute=0.03),
            readings={
                "ε_C 1, 2, 5, 10": lambda: [_higher(10, epsilon) for epsilon in (1.0, 2.0, 5.0, 10.0)],
                "ε_C = 1": lambda: _higher(10, 1.0),
                "ε_C = 1, by the joint law": lambda: error_jointly(ALIKE, 10, 1.0) / error_jointly(APART, 10, 1.0) - 1,
            },
            tokens=("40%",),
            parameters="not stated: ε_C; 1 to 10 taken, the range of panel (a)",
        ),
        row(
            id="C53",
            place="Fig. 4(b), VII-C",
            says="for the states (1, 0) all couplings have converged after t = 2",
            rule=below,
            stated=0.01,
            readings={
                "states (1, 0), t = 2 to 10": lambda: [spread_of_couplings(APART, age) for age in range(2, 11)],
                "the same, by the joint law": lambda: [
                    spread_of_couplings(APART, age, jointly=True) for age in range(2, 11)
                ],
            },
            tokens=("t=2",),
            parameters="not stated: ε_C; 1 taken",
            note="spread over λ 0.5, 0.75, 1; for (1, 1) it is 0 at every t and tests nothing; by the joint law N40",
        ),
        row(
            id="C54",
            place="Fig. 4(b), VII-C",
            says="coupling matters little for the error, beside the aged states",
            rule=order,
            stated="couplings spread less than states",
            readings={
                "t = 1 to 10": lambda: [
                    Pair(spread_of_couplings(APART, age), _higher(age, 1.0), f"t = {age}") for age in _TIMES
                ]
            },
            parameters="not stated: ε_C; 1 taken",
        ),
    ]


def _against_error() -> list[Claim]:
    return [
        row(
            id="C55",
            place="Fig. 4(c), VII-C",
            says="as γ_l goes from 0.6 to 1, ε_C falls from 1.49 to 0.89 for uniform ageing",
            rule=number,
            stated=(1.49, 0.89),
            tolerance=printed("1.49", "0.89"),
            readings={
                "states (1, 0), uniform in panels (a) and (b)": lambda: [level(APART, 0.6), level(APART, 1.0)],
                "states (1, 1)": lambda: [level(ALIKE, 0.6), level(ALIKE, 1.0)],
            },
            tokens=("1.49", "0.89"),
        ),
        row(
            id="C56",
            place="Fig. 4(c), VII-C",
            says="and from 1.03 to 0.76 for varying ageing",
            rule=number,
            stated=(1.03, 0.76),
            tolerance=printed("1.03", "0.76"),
            readings={
                "states (1, 1), varying in panels (a) and (b)": lambda: [level(ALIKE, 0.6), level(ALIKE, 1.0)],
                "states (1, 0)": lambda: [level(APART, 0.6), level(APART, 1.0)],
            },
            tokens=("1.03", "0.76"),
        ),
        row(
            id="C57",
            place="Fig. 4(c), VII-C; end of VII-C",
            says="at γ_l = 0.6 uniform ageing protects 30 % better than varying",
            rule=number,
            stated=0.3,
            tolerance=Tolerance(absolute=0.03),
            readings={
                "(15), uniform as in this panel's noise levels: (1, 1)": lambda: _better(linear, ALIKE, APART),
                "(15), uniform as in panels (a) and (b): (1, 0)": lambda: _better(linear, APART, ALIKE),
                "exact leakage, uniform (1, 0)": lambda: _better(exactly, APART, ALIKE),
            },
            tokens=("30%", "0.6"),
            note="t = 20; the noise is set by the realised states, which its scale reveals (N10)",
        ),
        row(
            id="C58",
            place="Fig. 4(c), VII-C",
            says="the least leakage is at the largest age, t = 20",
            rule=number,
            stated=20,
            readings={
                "(15), realised states (1, 0) and (1, 1)": lambda: [
                    least_age(states, allowed, 20) for states in (APART, ALIKE) for allowed in (0.6, 0.8, 1.0)
                ],
                "exact leakage, error from the law": lambda: best_age(0.6, 20, False),
            },
            tokens=("t=20",),
            note="20 is the largest offered; the largest always wins (C36)",
        ),
        row(
            id="C59",
            place="Fig. 4(c), VII-C",
            says="leakage is more sensitive to age than to noise",
            rule=order,
            stated="a step of age lowers leakage by more than the panel's whole range of ε_C",
            readings={
                "(15), what is left after each": lambda: _left_over(linear),
                "exact leakage, what is left after each": lambda: _left_over(exactly),
            },
            note="λ = 0.75; a step of age at t = 1 to 19 against ε_C from 1.49 to 0.89",
        ),
    ]


def _lower(age: int) -> float:
    return 1 - error(APART, age, 10.0) / error(ALIKE, age, 10.0)


def _higher(age: int, epsilon: float) -> float:
    return error(ALIKE, age, epsilon) / error(APART, age, epsilon) - 1


def _growth(states: States, start: int) -> float:
    return error(states, 10, 10.0) / error(states, start, 10.0) - 1


def _better(formula: Formula, uniform: States, varying: States) -> float:
    return 1 - formula(0.75, 20, level(uniform, 0.6)) / formula(0.75, 20, level(varying, 0.6))


def _left_over(formula: Formula, ages: Iterable[int] = range(1, 20)) -> list[Pair]:
    fresh, noisy = level(ALIKE, 0.6), level(ALIKE, 1.0)
    return [
        Pair(
            formula(0.75, age + 1, fresh) / formula(0.75, age, fresh),
            formula(0.75, age, noisy) / formula(0.75, age, fresh),
            f"t = {age}",
        )
        for age in ages
    ]

"""Figure 3: leakage against coupling, age and noise.

(15) is linear in ε_C, so that its percentages do not depend on it. The panels do not say their ε_C; where the first
line of (45) is a reading, its ε_C is the one that comes nearest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from chronodp.correlated import Mean
from experiments.claims import (
    Claim,
    Heights,
    Pair,
    Tolerance,
    about_ratio,
    about_share,
    argmin_at,
    below,
    equal,
    every,
    falling,
    number,
    order,
    rising,
)
from experiments.correlated_sequences.chains import COUPLED, COUPLINGS, chain
from experiments.correlated_sequences.leakages import by_degree, distance, exact, linear, logarithmic, spread
from experiments.correlated_sequences.row import row
from experiments.correlated_sequences.spectral import influence

__all__ = ["GRID", "Formula", "claims", "exactly", "falls", "faster"]

Formula = Callable[[float, int, float], float]

GRID = tuple(step / 20 for step in range(21))
LEVELS = tuple(float(level) for level in range(1, 11))
_FIRST_LINE = "first line of (45)"


def exactly(coupling: float, age: int, epsilon: float) -> float:
    """Return the exact leakage of the paper's chain."""
    return exact(chain(coupling), age, epsilon)


def falls(formula: Formula, start: int, stop: int, epsilon: float, couplings: Sequence[float] = COUPLED) -> list[float]:
    """Return by which share leakage falls between two ages, for each coupling."""
    return [1 - formula(c, stop, epsilon) / formula(c, start, epsilon) for c in couplings]


def faster(formula: Formula, start: int, stop: int, epsilon: float) -> list[float]:
    """Return how much more full and medium coupling fall than none, as a share of its fall."""
    *coupled, none = falls(formula, start, stop, epsilon)
    return [one / none - 1 for one in coupled]


def claims() -> list[Claim]:
    """Return the rows of the figure's setting and of its three panels."""
    return [*_setting(), *_coupling(), *_age(), *_noise()]


def _setting() -> list[Claim]:
    return [
        row(
            id="C37",
            place="VII-A, setup",
            says="λ and 1 − λ tie the sequences equally",
            rule=equal,
            stated="Φ(λ) = Φ(1 − λ)",
            tolerance=Tolerance(absolute=1e-9),
            readings={
                "Φ, ages 1 to 10": lambda: [
                    Pair(distance(chain(c), age), distance(chain(1 - c), age), f"λ = {c:g}, age {age}")
                    for c in COUPLINGS[:2]
                    for age in range(1, 11)
                ],
                "exact leakage": lambda: [
                    Pair(exactly(c, age, 1.0), exactly(1 - c, age, 1.0), f"λ = {c:g}, age {age}")
                    for c in COUPLINGS[:2]
                    for age in range(1, 11)
                ],
            },
        ),
        row(
            id="C38",
            place="VII-A, query",
            says="the mean of two has d(2) = 2",
            rule=number,
            stated=2,
            readings={"Definition 8": lambda: spread(Mean(), 2, 2)},
            tokens=("d(2) = 2",),
            note="the same passage calls the loose bound Theorem 2; it is Theorem 1",
        ),
        row(
            id="C68",
            place="VII-B, text to Fig. 3(b)",
            says="λ_12 = 1 is no coupling, 0.5 full coupling",
            rule=number,
            stated=0.0,
            tolerance=Tolerance(absolute=1e-9),
            readings={"what one sequence changes in the other's next law at λ_12 = 1": lambda: influence(0.0)},
            note="it is λ_11 = 1 that leaves nothing of the other; at λ_12 = 1 a sequence hears the other alone",
        ),
    ]


def _coupling() -> list[Claim]:
    return [
        row(
            id="C39",
            place="Fig. 3(a), VII-B",
            says="leakage falls by about 70 % from t = 0 to t = 4",
            rule=number,
            stated=0.7,
            tolerance=about_share(0.7),
            readings={
                "(15), λ 0.5, 0.75, 1": lambda: falls(linear, 0, 4, 1.0),
                "exact leakage, ε_C = 1": lambda: falls(exactly, 0, 4, 1.0),
                f"{_FIRST_LINE}, ε_C = 2": lambda: falls(logarithmic, 0, 4, 2.0),
                f"{_FIRST_LINE}, ε_C = 3, λ 0.5 and 0.75": lambda: falls(logarithmic, 0, 4, 3.0, COUPLED[:2]),
            },
            tokens=("70%",),
            parameters="not stated: ε_C, and of which λ",
        ),
        row(
            id="C40",
            place="Fig. 3(a), VII-B",
            says="over λ leakage has the shape of a U, least at λ = 0.5",
            rule=argmin_at,
            stated=0.5,
            readings={
                "(15), k of Definition 7": lambda: _over_coupling(by_degree),
                "(15), d = 2 throughout": lambda: _over_coupling(linear),
                "exact leakage": lambda: _over_coupling(exactly),
                "(15), Φ over all weaker couplings (Definition 11)": lambda: _over_coupling(_supremum),
            },
            tokens=("\\lambda = 0.5",),
            note="t = 1, ε_C = 1; by Definition 7 k is 1 at λ = 1, and no coupling leaks least",
        ),
        row(
            id="C41",
            place="Fig. 3(a), VII-B",
            says="beyond t = 4 differences between couplings are negligible",
            rule=order,
            stated="below a tenth of the leakage, or 2 % of the axis",
            readings={
                "(15), of the least coupling's leakage": lambda: _spread_of(linear, 0.1, of_axis=False),
                "(15), of the leakage at t = 0": lambda: _spread_of(linear, 0.02, of_axis=True),
                "exact, of the least coupling's leakage": lambda: _spread_of(exactly, 0.1, of_axis=False),
            },
            tokens=("t=4",),
            note="t = 5 to 10, λ from 0 to 1; by (15) no coupling stays twice as high for ever",
        ),
    ]


def _age() -> list[Claim]:
    return [
        row(
            id="C42",
            place="Fig. 3(b), VII-B",
            says="for all couplings leakage falls by about 60 % from t = 1 to t = 3",
            rule=number,
            stated=0.6,
            tolerance=about_share(0.6),
            readings={
                "(15), λ 0.5, 0.75, 1": lambda: falls(linear, 1, 3, 1.0),
                "exact leakage, ε_C = 1": lambda: falls(exactly, 1, 3, 1.0),
                f"{_FIRST_LINE}, ε_C = 2": lambda: falls(logarithmic, 1, 3, 2.0),
                f"{_FIRST_LINE}, ε_C = 3": lambda: falls(logarithmic, 1, 3, 3.0),
            },
            tokens=("60%",),
            parameters="not stated: ε_C",
        ),
        row(
            id="C43",
            place="Fig. 3(b), VII-B",
            says="full and medium coupling fall about 15 % faster at first than none",
            rule=number,
            stated=0.15,
            tolerance=Tolerance(absolute=0.03),
            readings={
                "(15), t = 1 to 3, λ 0.5 and 0.75": lambda: faster(linear, 1, 3, 1.0),
                "(15), t = 0 to 1": lambda: faster(linear, 0, 1, 1.0),
                "exact leakage, t = 0 to 1, ε_C = 1": lambda: faster(exactly, 0, 1, 1.0),
                f"{_FIRST_LINE}, t = 1 to 3, ε_C = 1.5": lambda: faster(logarithmic, 1, 3, 1.5),
            },
            tokens=("15%",),
            parameters="not stated: ε_C, and until when at first is; the sentence before says t = 1 to 3",
        ),
        row(
            id="C44",
            place="Fig. 3(b), VII-B",
            says="for all couplings leakage is below 0.05 by t = 6",
            rule=below,
            stated=0.05,
            readings={
                "(15), ε_C from 1 to 10": lambda: [linear(c, 6, level) for c in COUPLED for level in LEVELS],
                "(15), ε_C up to 6": lambda: [linear(c, 6, level) for c in COUPLED for level in LEVELS[:6]],
                "exact leakage, ε_C from 1 to 10": lambda: [exactly(c, 6, level) for c in COUPLED for level in LEVELS],
                f"{_FIRST_LINE}, ε_C = 1.5": lambda: [logarithmic(c, 6, 1.5) for c in COUPLED],
            },
            tokens=("0.05",),
            parameters="not stated: ε_C; 1 to 10 taken, the range of panel (c)",
        ),
    ]


def _noise() -> list[Claim]:
    return [
        row(
            id="C46",
            place="Fig. 3(c), VII-B",
            says="at every ε_C from 1 to 10, t = 5 leaks about 95 % less than t = 1",
            rule=number,
            stated=0.95,
            tolerance=about_share(0.95),
            readings=_by_formula(lambda formula: [one for level in LEVELS for one in falls(formula, 1, 5, level)]),
            tokens=("95%",),
            note="λ 0.5, 0.75, 1; at least 95 % less by (15) and exactly",
        ),
        row(
            id="C47",
            place="Fig. 3(c), VII-B",
            says="at t = 1 leakage triples as ε_C goes from 1 to 10",
            rule=number,
            stated=3.0,
            tolerance=about_ratio(),
            readings=_by_formula(lambda formula: _growth(formula, 1)),
            tokens=("3x",),
            note="λ 0.5, 0.75, 1",
        ),
        row(
            id="C48",
            place="Fig. 3(c), VII-B",
            says="at t = 5 it grows only by half",
            rule=number,
            stated=1.5,
            tolerance=about_ratio(),
            readings=_by_formula(lambda formula: _growth(formula, 5)),
            tokens=("1.5x",),
            note="λ 0.5, 0.75, 1",
        ),
        row(
            id="C49",
            place="Fig. 3(c), VII-B",
            says="leakage grows with ε_C at every age, and for recent data less than in proportion",
            rule=every(rising, rising, falling),
            stated=("rises at t = 1", "rises at t = 5", "at t = 1 its ratio to ε_C falls"),
            readings=_by_formula(
                lambda formula: (
                    [formula(0.5, 1, level) for level in LEVELS],
                    [formula(0.5, 5, level) for level in LEVELS],
                    [round(formula(0.5, 1, level) / level, 12) for level in LEVELS],
                )
            ),
            note="λ = 0.5, ε_C from 1 to 10; exact leakage levels off, as no output tells more than the chain allows",
        ),
    ]


_FORMULAS: dict[str, Formula] = {"(15)": linear, "exact leakage": exactly, _FIRST_LINE: logarithmic}


def _by_formula(compute: Callable[[Formula], Any]) -> dict[str, Callable[[], Any]]:
    return {name: partial(compute, formula) for name, formula in _FORMULAS.items()}


def _over_coupling(formula: Formula) -> Heights:
    return Heights(GRID, [formula(c, 1, 1.0) for c in GRID])


def _supremum(coupling: float, age: int, epsilon: float) -> float:
    return max(linear(weaker, age, epsilon) for weaker in GRID if weaker <= coupling)


def _spread_of(formula: Formula, allowed: float, *, of_axis: bool) -> list[Pair]:
    found = []
    for age in range(5, 11):
        heights = [formula(c, age, 1.0) for c in GRID]
        whole = formula(0.5, 0, 1.0) if of_axis else min(heights)
        found.append(Pair((max(heights) - min(heights)) / whole, allowed, f"t = {age}"))
    return found


def _growth(formula: Formula, age: int) -> list[float]:
    return [formula(c, age, 10.0) / formula(c, age, 1.0) for c in COUPLED]

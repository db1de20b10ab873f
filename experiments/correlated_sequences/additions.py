"""What we add: things the paper does not say, and that its reader should know."""

from __future__ import annotations

from experiments.claims import (
    Claim,
    Pair,
    Tolerance,
    about_share,
    above,
    below,
    bound,
    equal,
    falling,
    limit,
    number,
    printed,
)
from experiments.correlated_sequences.chains import COUPLED, COUPLINGS, alone, chain, leaving, path, random_chain
from experiments.correlated_sequences.errors import ALIKE, APART, drift, noise, variance
from experiments.correlated_sequences.figure_3 import Formula, exactly, falls, faster
from experiments.correlated_sequences.figure_4 import level, spread_of_couplings
from experiments.correlated_sequences.leakages import (
    any_pair,
    blind,
    distance,
    exact,
    linear,
    logarithmic,
    theorem_1,
)
from experiments.correlated_sequences.row import added
from experiments.correlated_sequences.spectral import cross_correlation, second, still_apart

__all__ = ["claims"]

_LEVELS = tuple(step / 4 for step in range(4, 41))
_AGES = range(6)
_PATH_OF_6 = path(6, 0.2, 0.2, 0.4, 0.6)
_PATH_OF_4 = path(4, 1e-4, 0.5, 0.4)


def claims() -> list[Claim]:
    """Return the rows that are ours."""
    return [*_of_the_figures(), *_of_the_chain(), *_of_ageing()]


def _of_the_figures() -> list[Claim]:
    return [
        added(
            id="C44b",
            place="Fig. 3(b)",
            says="no one reading at one ε_C gives the 60 %, the 15 % and the 0.05 of the panel together",
            rule=number,
            stated=0,
            readings={
                "readings and ε_C from 1 to 10 that do": lambda: sum(
                    _gives_all(formula, epsilon) for formula in (linear, exactly, logarithmic) for epsilon in _LEVELS
                )
            },
            note="(15), exact leakage and the first line of (45), ε_C in quarters; tolerances of C42, C43 and C44",
        ),
        added(
            id="C45",
            place="Figs. 4(c), 5; P1",
            says="the constant ½ errs by less than every error that these figures allow, and tells nothing",
            rule=below,
            stated=0.6,
            readings={"variance of the mean, λ 0.5, 0.75, 1": lambda: [variance(c) for c in COUPLED]},
        ),
        added(
            id="N10",
            place="Fig. 4",
            says="noise set by realised states reveals them: its scale differs from one to the other",
            rule=above,
            stated=0.3,
            readings={"share by which ε_C differs at γ_l = 0.6": lambda: 1 - level(APART, 0.6) / level(ALIKE, 0.6)},
        ),
        added(
            id="N36",
            place="Fig. 4(c)",
            says="noise set from the law of the chain, which is public, has ε_C = 1.2247 at γ_l = 0.6",
            rule=number,
            stated=1.2247,
            tolerance=printed("1.2247"),
            readings={"age 20, λ = 0.75": lambda: noise(0.6, drift(0.75, 20))},
        ),
        added(
            id="N40",
            place="Fig. 4(b)",
            says="by the joint law the errors of the states (1, 0) do not meet: couplings stay more than 1 % apart",
            rule=above,
            stated=0.01,
            readings={
                "λ 0.5, 0.75, 1, t = 2 to 10": lambda: [
                    spread_of_couplings(APART, age, jointly=True) for age in range(2, 11)
                ]
            },
            note="ε_C = 1; the figure takes the two present states as independent given the aged ones",
        ),
    ]


def _of_the_chain() -> list[Claim]:
    return [
        added(
            id="N09",
            place="Definition 6",
            says="an adversary who knows less of the other sequences can learn more",
            rule=above,
            stated=1.0,
            readings={"knows no other present, λ = 0.5, age 0, ε_C = 1": lambda: blind(chain(0.5), 0, 1.0)},
            note="one who knows all others learns exactly 1",
        ),
        added(
            id="N30",
            place="III-B",
            says="in their stationary law the two sequences hang together; the vector of marginals does not show it",
            rule=number,
            stated=(0.0, 1 / 15, 2 / 23, 1 / 15, 0.0),
            tolerance=Tolerance(absolute=1e-9),
            readings={"correlation at λ 0, ¼, ½, ¾, 1": lambda: [cross_correlation(c) for c in COUPLINGS]},
        ),
        added(
            id="N31",
            place="III-B",
            says="of irreducible and aperiodic chains laws do tend to the stationary vector",
            rule=limit,
            stated=0.0,
            tolerance=Tolerance(absolute=1e-6),
            readings={
                "the furthest of 40 random chains": lambda: [
                    max(still_apart(random_chain(seed), steps) for seed in range(40)) for steps in range(0, 161, 20)
                ]
            },
        ),
        added(
            id="N34",
            place="Theorem 1",
            says="on the paper's own chain (15) with d = 2 is not below the exact leakage",
            rule=bound,
            stated="exact leakage at most (15)",
            tolerance=Tolerance(absolute=1e-9),
            readings={
                "λ 0.5, 0.75, 1, ages 1 to 6": lambda: [
                    Pair(exactly(c, age, epsilon), linear(c, age, epsilon), f"λ = {c:g}, age {age}, ε_C = {epsilon:g}")
                    for c in COUPLED
                    for age in range(1, 7)
                    for epsilon in (0.25, 0.5, 1.0, 2.0, 10.0)
                ]
            },
        ),
        added(
            id="N35",
            place="VI-C",
            says="what coupling raises is the error of age",
            rule=number,
            stated=(0.15, 0.16, 0.1630),
            tolerance=printed("0.1630"),
            readings={"B at age 1, λ 1, 0.75, 0.5": lambda: [drift(c, 1) for c in (1.0, 0.75, 0.5)]},
        ),
        added(
            id="N37",
            place="I, contribution 2",
            says="Φ decays at the second eigenvalue of the chain on differences of laws, 0.4 at every coupling",
            rule=equal,
            stated="Φ(λ, 20) / Φ(λ, 19) is that eigenvalue",
            tolerance=Tolerance(absolute=1e-4),
            readings={
                "λ 0, ¼, ½, ¾, 1": lambda: [
                    Pair(distance(chain(c), 20) / distance(chain(c), 19), second(chain(c)), f"λ = {c:g}")
                    for c in COUPLINGS
                ]
            },
            note="Q itself has the eigenvalue 0.5 at λ = 0.75, by which no difference of laws decays",
        ),
    ]


def _of_ageing() -> list[Claim]:
    return [
        added(
            id="N32",
            place="IV-C",
            says="about one sequence alone, an older release never tells more",
            rule=falling,
            stated="falls with age",
            readings={
                "one sequence that moves once in 1,000 steps, ε_C = 3": lambda: [
                    exact(alone(0.001, 0.001), age, 3.0) for age in _AGES
                ]
            },
        ),
        added(
            id="N33",
            place="IV-C",
            says="about any two presents, that may differ in all sequences, an older release never tells more",
            rule=falling,
            stated="falls with age",
            readings={"the chain of C20": lambda: [any_pair(leaving(0.001, 0.001, 0.5), age, 3.0) for age in _AGES]},
            note="so the largest over any two presents bounds every older release too",
        ),
        added(
            id="N38",
            place="Theorem 1",
            says="(15) on a path of 6 is 1.1884, and 0.2180 on a path of 4 that leaks 2.4410",
            rule=number,
            stated=(1.1884, 0.2180, 2.4410),
            tolerance=printed("1.1884", "0.2180", "2.4410"),
            readings={
                "(15), (15), exact": lambda: [
                    theorem_1(_PATH_OF_6, 1, 1.0),
                    theorem_1(_PATH_OF_4, 8, 4.0),
                    exact(_PATH_OF_4, 8, 4.0),
                ]
            },
        ),
    ]


def _gives_all(formula: Formula, epsilon: float) -> bool:
    return (
        all(abs(fall - 0.6) <= about_share(0.6).absolute for fall in falls(formula, 1, 3, epsilon))
        and all(abs(more - 0.15) <= 0.03 for more in faster(formula, 1, 3, epsilon))
        and all(formula(c, 6, epsilon) < 0.05 for c in COUPLED)
    )

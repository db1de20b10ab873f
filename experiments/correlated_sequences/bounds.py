"""Section V and Proposition 2: the two bounds, what they are made of, and chains that leak more."""

from __future__ import annotations

from itertools import product

import numpy as np

from chronodp.correlated import CouplingMarkovChain, Maximum, Mean, Query, Sum
from experiments.claims import Claim, Pair, Tolerance, bound, equal, most
from experiments.correlated_sequences.chains import COUPLINGS, chain, leaving, path, random_chain
from experiments.correlated_sequences.leakages import degree, distance, exact, first_line, spread, theorem_1, theorem_2
from experiments.correlated_sequences.row import row
from experiments.correlated_sequences.spectral import product_distance

__all__ = ["claims"]

Case = tuple[CouplingMarkovChain, int, float, str]

_EXACTLY = Tolerance(absolute=1e-9)
_QUERIES: dict[str, Query] = {
    "sum": Sum(),
    "mean": Mean(),
    "maximum": Maximum(),
    "minimum": Maximum((0.0, -1.0)),  # the largest of the negatives
}


def claims() -> list[Claim]:
    """Return the rows of the two bounds."""
    return [*_definitions(), *_loose(), *_tight()]


def _definitions() -> list[Claim]:
    return [
        row(
            id="C23",
            place="Definition 7",
            says="the correlation degree is one more than the most others that a record hangs together with directly",
            rule=equal,
            stated="k counted on the coupling matrix",
            readings={
                "the library's degree": lambda: [
                    Pair(degree(path(6, 0.2, 0.2, 0.4, 0.6)), 3, "a path of 6"),
                    *(Pair(degree(chain(c)), 2 if c < 1 else 1, f"the paper's chain, λ = {c:g}") for c in COUPLINGS),
                ]
            },
        ),
        row(
            id="C24",
            place="Definition 8, eq. 13",
            says="k records change a sum or a mean k times as much as one, a maximum or a minimum as much as one",
            rule=equal,
            stated="d(k) = k, or 1",
            readings={
                "the library's d(k), four binary sequences": lambda: [
                    Pair(spread(query, 4, k), k if name in ("sum", "mean") else 1, f"{name}, k = {k}")
                    for name, query in _QUERIES.items()
                    for k in range(1, 5)
                ]
            },
            tokens=("d(k)=k", "d(k)=1"),
        ),
        row(
            id="C25",
            place="Definition 9, eq. 14",
            says="Δ_k is the largest total variation of aged snapshots whose presents differ where Definition 7 allows",
            reason="the definition leaves open whether one present or all k may differ, and which part of the aged "
            "snapshot is compared; one that differs, and all of it, is what gives the 40 % of the conclusion (C67)",
        ),
        row(
            id="C31",
            place="V-C",
            says="the loose bound needs no full joint law",
            rule=equal,
            stated="Δ_k follows from marginal laws given the present",
            tolerance=_EXACTLY,
            readings={
                "Definition 9, against the product of the marginals": lambda: [
                    Pair(product_distance(0.5, age), distance(chain(0.5), age), f"λ = 0.5, age {age}")
                    for age in (1, 2, 3)
                ]
            },
        ),
        row(
            id="C33",
            place="Definition 11 against VII",
            says="Φ is a supremum over all chains whose coupling is at most λ",
            reason="the figures take one chain for each λ instead; over the couplings up to λ of that family the "
            "supremum would be the same at every λ, and Fig. 3(a) flat (the last reading of C40)",
        ),
    ]


def _loose() -> list[Claim]:
    return [
        row(
            id="C26",
            place="Theorem 1, eq. 15; Appendix B, eq. 45",
            says="leakage is at most d(k) Δ_k ε_C",
            rule=bound,
            stated="exact leakage at most (15)",
            tolerance=_EXACTLY,
            readings={
                "k of Definition 7": lambda: _pairs(_WITNESSES),
                "k the whole group": lambda: [
                    Pair(exact(model, age, level), theorem_1(model, age, level, model.sequences), at)
                    for model, age, level, at in _WITNESSES
                ],
            },
            tokens=("d(k) \\, \\Delta_k(\\mathbf{\\Lambda}, \\mathbf{A}_t) \\, \\epsilon_C",),
            note="chains that rarely leave one state; (15) is not beyond the truth at the paper's own p = 0.3 (N34)",
        ),
        row(
            id="C27",
            place="Appendix B, last step of eq. 45",
            says="ln(1 + x(e^y − 1)) is at most xy",
            rule=bound,
            stated="the left at most the right",
            tolerance=_EXACTLY,
            readings={
                "x from 0 to 1, y from 0 to 20": lambda: [
                    Pair(first_line(x / 20, float(y)), x / 20 * y, f"x = {x / 20:g}, y = {y}")
                    for x in range(21)
                    for y in range(1, 21)
                ]
            },
            tokens=("\\ln(1 + x(e^y - 1)) \\le xy",),
        ),
        row(
            id="C28",
            place="V-A; V-C",
            says="the loose bound leaves a margin: true leakage never exceeds it",
            rule=bound,
            stated="exact leakage at most (15)",
            tolerance=_EXACTLY,
            readings={"paths of 4 and 5 sequences": lambda: _pairs(_paths())},
        ),
        row(
            id="C32",
            place="Proposition 2, eq. 21",
            says="for a coupling Markov chain leakage is at most d(k) Φ ε_C",
            rule=bound,
            stated="exact leakage at most (21)",
            tolerance=_EXACTLY,
            readings={"the paper's family, p from 0.3 to 0.001": lambda: _pairs(_symmetric())},
            note="p is how often a state changes; the paper has 0.3",
        ),
    ]


def _tight() -> list[Claim]:
    return [
        row(
            id="C29",
            place="Theorem 2, eq. 16–19; Appendix C",
            says="leakage is at most the bounded aged correlation times ε_C",
            rule=bound,
            stated="exact leakage at most (19)",
            tolerance=_EXACTLY,
            readings={
                "random chains and the chains of C26": lambda: [
                    Pair(exact(model, age, level), theorem_2(model, age, level), at)
                    for model, age, level, at in [*_WITNESSES[:3], *_random()]
                ]
            },
        ),
        row(
            id="C30",
            place="V-B; V-C",
            says="where correlations decay quickly the tight bound is often 10 to 100 times smaller than the loose one",
            rule=most,
            stated=0.5,
            readings={
                "(19) against a tenth of (15)": lambda: [
                    Pair(theorem_2(model, age, level), theorem_1(model, age, level) / 10, at)
                    for model, age, level, at in [*_ageing(), *_random()]
                ]
            },
            tokens=("one to two orders of magnitude",),
            note="the paper's chain at ages 1 to 10 and random chains",
        ),
    ]


def _pairs(cases: list[Case] | tuple[Case, ...]) -> list[Pair]:
    return [Pair(exact(model, age, level), theorem_1(model, age, level), at) for model, age, level, at in cases]


_WITNESSES: tuple[Case, ...] = (
    (leaving(0.01, 0.5, 1.0), 1, 1.0, "two sequences that leave 0 by 0.01 and 1 by 0.5, λ = 1, age 1, ε_C = 1"),
    (leaving(0.01, 0.5, 0.75), 3, 3.0, "the same, λ = 0.75, age 3, ε_C = 3"),
    (leaving(1e-4, 0.5, 0.5), 8, 4.0, "leaving by 0.0001 and 0.5, λ = 0.5, age 8, ε_C = 4"),
    (path(4, 1e-4, 0.5, 0.4), 8, 4.0, "a path of 4 that leaves by 0.0001 and 0.5, age 8, ε_C = 4"),
    (path(6, 0.2, 0.2, 0.4, 0.6), 1, 1.0, "a path of 6 that changes state by 0.2, age 1, ε_C = 1"),
)


def _paths() -> list[Case]:
    grid = product((4, 5), (1e-4, 1e-3, 0.01, 0.05), (0.4, 0.7), (1, 3, 8), (1.0, 4.0))
    return [
        (
            path(length, zero, 0.5, own),
            age,
            level,
            f"{length} in a row, leaving by {zero:g}, age {age}, ε_C = {level:g}",
        )
        for length, zero, own, age, level in grid
    ]


def _symmetric() -> list[Case]:
    grid = product((0.3, 0.1, 0.05, 0.01, 0.001), (0.5, 0.75, 0.9), (1, 2, 4, 6), (0.5, 1.0, 2.0))
    return [
        (chain(coupling, leaves), age, level, f"p = {leaves:g}, λ = {coupling:g}, age {age}, ε_C = {level:g}")
        for leaves, coupling, age, level in grid
    ]


def _ageing() -> list[Case]:
    return [(chain(0.5), age, 1.0, f"the paper's chain, age {age}") for age in (1, 2, 3, 5, 10)]


def _random() -> list[Case]:
    ages = np.random.default_rng(1).integers(1, 4, 60)
    return [(random_chain(seed), int(age), 1.0, f"random chain {seed}, age {age}") for seed, age in enumerate(ages)]

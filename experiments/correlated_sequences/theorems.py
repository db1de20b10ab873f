"""Sections III to V: lemma, propositions and theorems."""

from __future__ import annotations

import numpy as np

from chronodp.correlated import CouplingMarkovChain, Mean, leakage
from chronodp.correlated.published.definitions import age_dependent
from experiments.correlated_sequences.setup import chain, told
from experiments.verdicts import Verdict

CASES = (
    (0.01, 0.5, 1.0, 1, 1.0),
    (0.01, 0.5, 0.75, 3, 3.0),
    (1e-4, 0.5, 0.5, 8, 4.0),
)


def check() -> list[Verdict]:
    found = []
    for a, b, coupling, age, epsilon in CASES:
        model = CouplingMarkovChain([[1 - a, b], [a, 1 - b]], [[coupling, 1 - coupling], [1 - coupling, coupling]])
        one = leakage(model, query=Mean(), ages=age, epsilon=epsilon)
        found.append(
            Verdict(
                f"Theorem 1 bounds leakage; leaves 0 with {a:g}, 1 with {b:g}, λ = {coupling:g}, age {age}, "
                f"ε_C = {epsilon:g}",
                f"{one.paper_theorem_1:.4f}",
                f"exactly {one.exact:.4f}",
                "false",
            )
        )
    a, b, coupling, age, epsilon = CASES[0]
    one = leakage(CouplingMarkovChain([[1 - a, b], [a, 1 - b]], np.eye(2)), query=Mean(), ages=age, epsilon=epsilon)
    tight = told(0.5, 1, 1.0)
    forgets = leakage(CouplingMarkovChain([[0.5, 0.5], [0.5, 0.5]], np.eye(2)), query=Mean(), ages=1, epsilon=1.0)
    alone = CouplingMarkovChain([[0.99, 0.5], [0.01, 0.5]], [[1.0]])
    truth = leakage(alone, query=Mean(), ages=1, epsilon=1.0).exact or 0.0
    bound = age_dependent(alone, ages=1, epsilon=1.0)
    fresh = leakage(chain(0.5), query=Mean(), ages=0, epsilon=1.0, adversary="knows_none")
    return [
        *found,
        Verdict(
            "Theorem 2 bounds leakage; the first of these",
            f"{one.paper_theorem_2:.4f}",
            f"exactly {one.exact:.4f}",
            "false",
        ),
        Verdict(
            "Theorem 2 is tighter than Theorem 1; λ = 0.5, age 1, ε_C = 1",
            "often by orders of magnitude",
            f"{tight.paper_theorem_2:.3f} against {tight.paper_theorem_1:.3f}",
            "false",
        ),
        Verdict(
            "Lemma 1: for independent data leakage is plain differential privacy",
            "ε_S = ε_C",
            f"ε_S = {forgets.exact:.4f} at age 1 for ε_C = 1: what is forgotten is not told",
            "false",
        ),
        Verdict(
            "Proposition 1: age-dependent privacy of one chain is ln(1 + Δ(e^ε − 1))",
            f"{bound:.4f}",
            f"exactly {truth:.4f}",
            "holds, not tight" if truth <= bound else "false",
        ),
        Verdict(
            "an adversary who knows more learns more (Definition 6 fixes all others)",
            "1.000",
            f"{fresh.exact:.3f} for one who knows nothing else, λ = 0.5, no age",
            "false",
        ),
    ]

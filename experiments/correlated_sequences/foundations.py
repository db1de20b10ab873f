"""Section III: Laplace noise, the coupling Markov chain and its long run, age-dependent privacy."""

from __future__ import annotations

from chronodp.correlated import CouplingMarkovChain
from experiments.claims import Claim, Pair, Tolerance, below, bound, equal, every, existence, limit
from experiments.correlated_sequences.chains import COUPLINGS, alone, random_alone, swing
from experiments.correlated_sequences.leakages import exact, proposition_1
from experiments.correlated_sequences.releases import noise_variance
from experiments.correlated_sequences.row import row
from experiments.correlated_sequences.spectral import by_blocks, by_kernel, leading, stationary, still_apart

__all__ = ["claims"]

_CHAINS = 400
_ALONE = 300
_LEVELS = (0.5, 1.0, 2.0, 4.0)


def claims() -> list[Claim]:
    """Return the rows of the preliminaries."""
    return [
        row(
            id="C10",
            place="Definitions 1–3, eq. 1–3",
            says="Laplace noise of scale Δ/ε is ε-differentially private and has variance 2b²",
            rule=every(bound, below),
            stated=("at most ε, attained", 4.0),
            tolerance=Tolerance(absolute=1e-9),
            readings={
                "the largest log ratio; standard errors from 2b²": lambda: (
                    [Pair(exact(alone(0.3, 0.3), 0, level), level, f"ε = {level:g}") for level in _LEVELS],
                    [noise_variance(scale) for scale in (100.0, 5_000.0)],
                )
            },
            note="noise as the library draws it, in whole steps: 100,000 draws a scale",
        ),
        row(
            id="C11",
            place="III-B, eq. 4–5",
            says="marginal laws move by the block matrix of all λ_jk P^(jk)",
            rule=equal,
            stated="Q π is the next π",
            tolerance=Tolerance(absolute=1e-12),
            readings={
                "random chains and joint laws": lambda: [
                    Pair(one, other)
                    for seed in range(40)
                    for one, other in zip(by_blocks(seed), by_kernel(seed), strict=True)
                ]
            },
        ),
        row(
            id="C12",
            place="III-B, spectral stability",
            says="if all couplings are above 0, Q has the eigenvalue 1 and no other beyond 1 in modulus",
            rule=equal,
            stated="the largest real part and the largest modulus are 1",
            tolerance=Tolerance(absolute=1e-9),
            readings={
                "random chains": lambda: [
                    Pair(value, 1.0, f"chain {seed}") for seed in range(_CHAINS) for value in leading(seed)
                ]
            },
        ),
        row(
            id="C13",
            place="III-B, steady-state convergence",
            says="if every matrix is irreducible, laws tend to one stationary vector",
            rule=limit,
            stated=0.0,
            tolerance=Tolerance(absolute=1e-6),
            readings={
                "two sequences that change state at every step": lambda: [
                    still_apart(swing(2), steps) for steps in range(1, 21)
                ]
            },
            note="distance from the stationary vector, which is the only one; the chain must also be aperiodic (N31)",
        ),
        row(
            id="C14",
            place="III-B, remark",
            says="the stationary vector preserves the dependence within and between sequences",
            rule=existence,
            stated="the vector differs where the dependence does",
            readings={
                "the paper's chain, λ against no coupling": lambda: [
                    max(abs(a - b) for a, b in zip(stationary(c), stationary(1.0), strict=True)) > 1e-9
                    for c in COUPLINGS[1:4]
                ]
            },
            note="a vector of marginal laws is (½, ½, ½, ½) for every λ, while the correlation is not (N30)",
        ),
        row(
            id="C15",
            place="Definition 4 and text",
            says="what an aged release tells of the present tends to nothing as it ages",
            rule=limit,
            stated=0.0,
            tolerance=Tolerance(absolute=1e-6),
            readings={
                "any chain: one that changes state at every step": lambda: [
                    proposition_1(swing(1), age, 1.0) for age in range(21)
                ],
                "a chain that forgets, the paper's": lambda: [
                    proposition_1(alone(0.3, 0.3), age, 1.0) for age in range(21)
                ],
            },
            note="ε(t) by (7), ε_C = 1",
        ),
        row(
            id="C16",
            place="Proposition 1, eq. 7",
            says="the age-dependent leakage of one sequence is at most ln(1 + Δ(t)(e^ε_C − 1))",
            rule=bound,
            stated="exact leakage at most (7)",
            tolerance=Tolerance(absolute=1e-9, tight=1e-9),
            readings={
                "random chains of one sequence, ages 1 to 3": lambda: [
                    Pair(exact(*case), proposition_1(*case), f"chain {seed}") for seed, case in _aged_alone()
                ]
            },
            tokens=("\\ln\\left(1 + \\Delta(t) \\cdot (e^{\\epsilon_C} - 1)\\right)",),
        ),
    ]


def _aged_alone() -> list[tuple[int, tuple[CouplingMarkovChain, int, float]]]:
    return [(seed, (random_alone(seed), 1 + seed % 3, _LEVELS[seed % 4])) for seed in range(_ALONE)]

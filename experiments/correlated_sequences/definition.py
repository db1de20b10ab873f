"""Section IV: what the definition covers, its lemma, and the mechanism FRAN."""

from __future__ import annotations

from experiments.claims import Claim, Pair, Tolerance, above, bound, equal, every, falling, limit, rising
from experiments.correlated_sequences.chains import COUPLINGS, alone, chain, forgetful, leaving
from experiments.correlated_sequences.leakages import exact, linear, proposition_1, record
from experiments.correlated_sequences.releases import fit_of_residuals, released
from experiments.correlated_sequences.row import row

__all__ = ["claims"]

_AGES = range(1, 11)


def claims() -> list[Claim]:
    """Return the rows of the definition and the mechanism."""
    return [
        row(
            id="C17",
            place="Definitions 5–6, eq. 11–12",
            says="one entry of one period differs, at every time index, and ε_S bounds what is told of it",
            rule=bound,
            stated="what is told is at most ε_S, here (15)",
            tolerance=Tolerance(absolute=1e-9),
            readings={
                "every time, that of the record that was read too": lambda: [
                    Pair(record(chain(0.5), age, 1.0), linear(0.5, age, 1.0), f"age {age}") for age in _AGES
                ],
                "the present alone": lambda: [
                    Pair(exact(chain(0.5), age, 1.0), linear(0.5, age, 1.0), f"age {age}") for age in _AGES
                ],
            },
            note="λ = 0.5, ε_C = 1; the record that is read was a present once, and ageing does not help it",
        ),
        row(
            id="C18",
            place="Lemma 1, part 1; Appendix A, eq. 26–28",
            says="for independent data the definition is plain differential privacy",
            rule=equal,
            stated="ε_S = ε_C",
            tolerance=Tolerance(absolute=1e-9),
            readings={
                "fair coins, ages 0 to 3": lambda: [
                    Pair(exact(forgetful(), age, 1.0), 1.0, f"age {age}") for age in range(4)
                ]
            },
            note="at age 0 they agree; later nothing is told at all, whatever the noise",
        ),
        row(
            id="C19",
            place="Lemma 1, part 2; Appendix A, eq. 29–31",
            says="without coupling the definition is age-dependent privacy, with the largest ε(t) over all times",
            rule=equal,
            stated="ε_S = max ε(t)",
            tolerance=Tolerance(absolute=1e-9),
            readings={
                "the largest over all times": lambda: [
                    Pair(exact(chain(1.0), age, 1.0), max(proposition_1(alone(0.3, 0.3), t, 1.0) for t in range(11)))
                    for age in _AGES
                ],
                "one age at a time, against one sequence alone": lambda: [
                    Pair(exact(chain(1.0), age, 1.0), exact(alone(0.3, 0.3), age, 1.0), f"age {age}") for age in _AGES
                ],
            },
            note="the largest is ε(0) = ε_C: over all times ageing gains nothing",
        ),
        row(
            id="C20",
            place="IV-C 1) and 3)",
            says="more age lowers leakage, less noise raises it",
            rule=every(falling, rising),
            stated=("falls with age", "rises with ε_C"),
            readings={
                "exact leakage, λ = 0.5, a chain that moves once in 1,000 steps": lambda: (
                    [exact(leaving(0.001, 0.001, 0.5), age, 3.0) for age in range(5)],
                    [exact(leaving(0.001, 0.001, 0.5), 1, level) for level in (0.5, 1.0, 2.0, 3.0)],
                )
            },
            note="ages 0 to 4 at ε_C = 3; about one sequence alone, or any two presents, it never rises (N32, N33)",
        ),
        row(
            id="C21",
            place="IV-C 4)",
            says="without age the mechanism is Laplace noise; with much age hardly any noise is needed",
            rule=every(equal, limit),
            stated=("ε_S = ε_C at age 0", 0.0),
            tolerance=Tolerance(absolute=1e-9),
            readings={
                "exact leakage": lambda: (
                    [Pair(exact(chain(c), 0, 1.0), 1.0, f"λ = {c:g}") for c in COUPLINGS],
                    [exact(chain(0.5), age, 1.0) for age in range(0, 31, 5)],
                )
            },
        ),
        row(
            id="C22",
            place="Algorithm 1, eq. 9–10",
            says="each sequence is read at its age, and Laplace noise of scale Δ_f / ε_C is added to the query",
            rule=above,
            stated=1e-6,
            readings={"p-value of the residuals, ages 1 and 3": fit_of_residuals},
            note="Kolmogorov–Smirnov, 5,000 releases of a weighted sum; by chance below that once in a million",
        ),
        row(
            id="C69",
            place="IV-C 2)",
            says="nothing is computed of correlations when a value is released",
            rule=equal,
            stated="another coupling, the same release",
            readings={
                "same states, same randomness": lambda: [
                    Pair(one, other) for one, other in zip(released(0.5), released(1.0), strict=True)
                ]
            },
            note="λ = 0.5 against λ = 1, age 2",
        ),
    ]

"""What abstract and introduction promise: coupling that lowers leakage, spectral terms, linear time, many sequences."""

from __future__ import annotations

import math

from chronodp.correlated import Maximum, Mean, Query, WeightedSum
from experiments.claims import Claim, Pair, Tolerance, equal, every, existence, falling, number, rising
from experiments.correlated_sequences.chains import chain, leaving
from experiments.correlated_sequences.leakages import exact, linear, theorem_1, theorem_2
from experiments.correlated_sequences.releases import allocated, certified_at
from experiments.correlated_sequences.row import row

__all__ = ["claims"]

_LEVELS = (0.1, 1.0, 2.0, 5.0, 10.0)
_SELDOM = 0.001  # how often a chain that seldom moves does
_MANY = 100_001


def claims() -> list[Claim]:
    """Return the rows of abstract and introduction, and the remark that contradicts one of them."""
    return [
        row(
            id="C01",
            place="Abstract; I, contribution 2",
            says="stronger coupling can lower leakage, for it disperses a perturbation over the sequences",
            rule=existence,
            stated="less is told at λ = 0.5 than at λ = 1",
            readings={
                "mean, ages 1 to 10": lambda: [
                    less for age in range(1, 11) for less in _less_when_coupled(age, Mean())
                ],
                "mean, one period old": lambda: _less_when_coupled(1, Mean()),
                "one sequence alone, one period old": lambda: _less_when_coupled(1, WeightedSum((1.0, 0.0))),
                "maximum, one period old": lambda: _less_when_coupled(1, Maximum()),
            },
            note="ε_C from 0.1 to 10; at age 1, that of the 40 % of C67, a mean tells more; later a little less",
        ),
        row(
            id="C02",
            place="VI-B, remark after Proposition 2",
            says="stronger coupling and fresher data raise leakage",
            rule=every(rising, falling),
            stated=("rises as λ goes from 1 to 0.5", "falls with age"),
            readings={
                "exact leakage, a chain that seldom moves": lambda: (
                    [exact(leaving(_SELDOM, _SELDOM, c), 1, 3.0) for c in (1.0, 0.75, 0.5)],
                    [exact(leaving(_SELDOM, _SELDOM, 0.5), age, 3.0) for age in range(5)],
                ),
                "exact leakage, the paper's chain one period old": lambda: (
                    [exact(chain(c), 1, 1.0) for c in (1.0, 0.75, 0.5)],
                    [exact(chain(0.5), age, 1.0) for age in range(11)],
                ),
                "(15), the paper's chain one period old": lambda: (
                    [linear(c, 1, 1.0) for c in (1.0, 0.75, 0.5)],
                    [linear(0.5, age, 1.0) for age in range(11)],
                ),
            },
            note="the first part contradicts C01 and C40 of the same paper",
        ),
        row(
            id="C06",
            place="Abstract; I, contribution 2",
            says="the bounds are made of a few spectral terms, the eigenvalues of the chain",
            rule=equal,
            stated="chains with equal eigenvalues have equal bounds",
            tolerance=Tolerance(absolute=1e-9),
            readings={
                "(15)": lambda: [
                    Pair(theorem_1(leaving(*one, 0.5), 1, 1.0), theorem_1(leaving(*two, 0.5), 1, 1.0), _names(one, two))
                    for one, two in _SAME_SPECTRUM
                ],
                "(19)": lambda: [
                    Pair(theorem_2(leaving(*one, 0.5), 1, 1.0), theorem_2(leaving(*two, 0.5), 1, 1.0), _names(one, two))
                    for one, two in _SAME_SPECTRUM
                ],
            },
            note="neither formula has an eigenvalue in it; these chains share those of Q and of the joint kernel",
        ),
        row(
            id="C07",
            place="I, contribution 3; IV-C 2)",
            says="a release takes time linear in the number of sequences",
            rule=number,
            stated=1.0,
            tolerance=Tolerance(absolute=0.2),
            readings={
                "exponent of the bytes that a release allocates": lambda: [
                    round(math.log10(allocated(10 * count) / allocated(count)), 2) for count in (1_000, 10_000)
                ]
            },
            tokens=("O(sd)",),
            note="from 1,000 to 100,000 sequences; work is counted, not timed; times stand in benchmarks/RESULTS.md",
        ),
        row(
            id="C08",
            place="I, contribution 3",
            says="the mechanism takes more than a hundred thousand sequences",
            rule=existence,
            stated="a release, and a bound below its ε_C on what it tells",
            readings={
                "a ring, certified by the space-time bound": lambda: [certified_at(_MANY) < 1.0],
            },
            tokens=("one hundred thousand sequences",),
            note=f"{_MANY:,} sequences, ages 2, ε_C = 1; (15) would need a law on 2^{_MANY:,} snapshots",
        ),
        row(
            id="C09",
            place="I; II",
            says="Pufferfish and Bayesian privacy are NP-hard to calibrate; noise of earlier schemes grows with length",
            reason="a statement about literature and about complexity, not about numbers",
        ),
    ]


_SAME_SPECTRUM = (((0.3, 0.3), (0.1, 0.5)), ((0.3, 0.3), (0.01, 0.59)))


def _names(one: tuple[float, float], two: tuple[float, float]) -> str:
    return f"leaving {one[0]:g}, {one[1]:g} and {two[0]:g}, {two[1]:g}"


def _less_when_coupled(age: int, query: Query) -> list[bool]:
    return [exact(chain(0.5), age, level, query) < exact(chain(1.0), age, level, query) for level in _LEVELS]

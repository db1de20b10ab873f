"""Mistakes about correlated sequences: formulas that are no bounds as guarantees, and noise that looks at the data.

Each mechanism draws the past from its present by the model and releases it aged by one period, so that the auditor
sees what the release reveals about the present. The first two claims are the formulas'; the sound mechanisms take the
noise that the exact leakage asks for.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from chronodp.correlated import CouplingMarkovChain, LeakageModel, Mean, Sum, theorem_1
from chronodp.correlated.fran import FranDesign, FranState, advance, largest_epsilon
from chronodp.privacy import AssumedCost, Assumption, Claim, LaplaceCost, PureCost, Window
from chronodp.randomness import Entropy
from tests.audit.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_PAGE = "docs/explanation/proofs/correlated.md"
_RECORD = Window(1, relation="replace")
_CHAIN = Assumption("coupling Markov chain", "the sequence follows the chain named")

_LAZY = CouplingMarkovChain([[0.99, 0.5], [0.01, 0.5]], [[1.0]])
_LAZY_PAST = ((99, 100), (1, 2))  # P(0 a step ago | now)

_TURNING = CouplingMarkovChain([[0.0, 0.2, 0.2], [0.2, 0.0, 0.0], [0.8, 0.8, 0.8]], [[1.0]])
_TURNING_PAST = ((24, 25), (0, 1), (4, 5))  # P(2 a step ago | now)
_IS_TWO = Sum(scores=(0.0, 0.0, 1.0))
_FORWARD = math.log1p(0.2 * math.expm1(1.0))  # two columns of the matrix differ by a fifth
_THEOREM_1 = theorem_1(_LAZY, query=Sum(), ages=1, epsilon=1.0)

_SLOW = LeakageModel(CouplingMarkovChain([[0.999, 0.001], [0.001, 0.999]], [[0.5, 0.5], [0.5, 0.5]]))
_YOUNGER = 3.0  # the leakage of a mean of both at age 0 and ε_C = 3; at age 1 it is 4.673


def release_by_theorem_1(now: int, *, entropy: Entropy) -> float:
    """Take ε_C from d(k) Δ_k ε_C = 0.49, though the truth is 0.6031."""
    return _released(_lazy(1.0), 0 if entropy.coins(*_LAZY_PAST[now]) else 1, now, entropy)


def release_by_exact_leakage(now: int, *, entropy: Entropy) -> float:
    """Take ε_C from the exact leakage."""
    return _released(
        _lazy(_mended(_LAZY, Sum(), _THEOREM_1)), 0 if entropy.coins(*_LAZY_PAST[now]) else 1, now, entropy
    )


def release_by_forward_spread(now: int, *, entropy: Entropy) -> float:
    """Take how a difference spreads forward in time for how it came about, of a chain that is not reversible."""
    return _released(_turning(1.0), 2 if entropy.coins(*_TURNING_PAST[now]) else 0, now, entropy)


def release_by_backward_law(now: int, *, entropy: Entropy) -> float:
    """Take ε_C from the exact law of the past."""
    return _released(
        _turning(_mended(_TURNING, _IS_TWO, _FORWARD)), 2 if entropy.coins(*_TURNING_PAST[now]) else 0, now, entropy
    )


def release_by_a_younger_age(now: tuple[int, int], *, entropy: Entropy) -> float:
    """Take the leakage at age 0 for a bound at age 1, though there are two sequences."""
    return _released(_mean_of_two(_YOUNGER), _slow_past(now, entropy), now, entropy)


def release_by_any_two_presents(now: tuple[int, int], *, entropy: Entropy) -> float:
    """Take what the release at age 0 reveals about any two presents, which holds at every age."""
    return _released(_mean_of_two(_quiet()), _slow_past(now, entropy), now, entropy)


def release_with_public_noise(record: int, *, entropy: Entropy) -> float:
    """Add noise whose scale was fixed before the record was seen."""
    return _released(_lazy(1.0), record, 0, entropy)


def release_with_noise_from_the_data(record: int, *, entropy: Entropy) -> float:
    """Add noise whose scale is set by the error that the realised record allows."""
    return _released(_lazy(1.0 if record else 1.5), record, 0, entropy)


def _released(design: FranDesign, past: int | tuple[int, int], now: int | tuple[int, int], entropy: Entropy) -> float:
    _, released = advance(design, FranState(1, np.atleast_2d(past)), np.atleast_1d(now), entropy)
    return math.nan if released is None else float(released[0])


def _slow_past(now: tuple[int, int], entropy: Entropy) -> tuple[int, int]:
    """Draw the snapshot a step ago: any, if the two differ now; else nearly always the same, and at times apart."""
    if now[0] != now[1]:
        return int(entropy.coins(1, 2)), int(entropy.coins(1, 2))
    if entropy.coins(998_001, 1_000_000):
        return now
    if entropy.coins(1, 1_999):
        return 1 - now[0], 1 - now[1]
    return (0, 1) if entropy.coins(1, 2) else (1, 0)


@cache
def _quiet() -> float:
    return _YOUNGER * _YOUNGER / _SLOW.any_pair(query=Mean(), ages=0, epsilon=_YOUNGER)


@cache
def _mended(model: CouplingMarkovChain, query: Sum, target: float) -> float:
    return largest_epsilon(model, query=query, ages=1, target=target, adversary="knows_others")


@cache
def _lazy(epsilon: float) -> FranDesign:
    return FranDesign(Sum(), 1, 2, (1,), (epsilon,), _RECORD, None, 0.25)


@cache
def _mean_of_two(epsilon: float) -> FranDesign:
    return FranDesign(Mean(), 2, 2, (1,), (epsilon,), _RECORD, None, 0.125)


@cache
def _turning(epsilon: float) -> FranDesign:
    return FranDesign(_IS_TWO, 1, 3, (1,), (epsilon,), _RECORD, None, 0.25)


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        name="the paper's Theorem 1 as a guarantee",
        claim=Claim(_RECORD, AssumedCost(PureCost(_THEOREM_1), _CHAIN), _PAGE),
        sound=release_by_exact_leakage,
        broken=release_by_theorem_1,
        neighbours=((0, 1),),
    ),
    Mutant(
        name="forward Dobrushin on a chain that is not reversible",
        claim=Claim(_RECORD, AssumedCost(PureCost(_FORWARD), _CHAIN), _PAGE),
        sound=release_by_backward_law,
        broken=release_by_forward_spread,
        neighbours=((0, 1), (1, 2), (0, 2)),
    ),
    Mutant(
        name="leakage at one age taken for that at an older one",
        claim=Claim(_RECORD, AssumedCost(PureCost(_YOUNGER), _CHAIN), _PAGE),
        sound=release_by_any_two_presents,
        broken=release_by_a_younger_age,
        neighbours=(((0, 0), (1, 0)), ((0, 1), (1, 1))),
    ),
    Mutant(
        name="noise whose scale is taken from the record",
        claim=Claim(_RECORD, LaplaceCost(sensitivity=1.0, scale=1.0), _PAGE),
        sound=release_with_public_noise,
        broken=release_with_noise_from_the_data,
        neighbours=((0, 1),),
    ),
)

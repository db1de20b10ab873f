"""FRAN at work: what it releases, what it touches, and how many sequences it takes."""

from __future__ import annotations

import math
import tracemalloc
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from chronodp.correlated import CouplingMarkovChain, Mean, WeightedSum, design_fran, simulate
from chronodp.correlated.fran import FranDesign, advance, begin
from chronodp.correlated.fran.design import finest_step
from chronodp.correlated.fran.present import ONE_RECORD
from chronodp.correlated.leakage_model import LeakageModel, Released
from chronodp.correlated.query import tabulate
from chronodp.randomness import seeded
from experiments.claims import computation
from experiments.correlated_sequences.chains import chain

__all__ = ["allocated", "certified_at", "fit_of_residuals", "noise_variance", "released"]

_STEPS = 5_000
_DRAWN = 100_000


@computation()
def fit_of_residuals() -> float:
    """Return the p-value of residuals of 5,000 releases of mixed ages against Laplace noise of scale Δ_f / ε_C."""
    from scipy.stats import kstest

    return float(kstest(_residuals(), "laplace").pvalue)


@computation(**{"noise by the coupling": lambda f: lambda coupling: tuple((1 + coupling) * one for one in f(coupling))})
def released(coupling: float) -> tuple[float, ...]:
    """Return what is released of the same states by the same randomness, if the model has this coupling."""
    design = design_fran(chain(coupling), query=Mean(), ages=2, epsilon=1.0)
    state, entropy, found = begin(design), seeded(5), []
    for snapshot in simulate(chain(0.5), 12, seed=3)[0]:
        state, answer = advance(design, state, snapshot, entropy)
        if answer is not None:
            found.append(float(answer[0]))
    return tuple(found)


@computation(constant=lambda _: lambda _sequences: 1.0, squared=lambda f: lambda sequences: f(sequences) ** 2)
def allocated(sequences: int) -> float:
    """Return how many bytes one release of so many sequences allocates: what it makes of its input, all in all."""
    return _allocated(sequences)


@computation()
def certified_at(sequences: int) -> float:
    """Return what a release of a ring of so many sequences tells of a present, certified; their noise is drawn too."""
    return _certified_at(sequences)


@computation()
def noise_variance(scale: float) -> float:
    """Return how many standard errors the variance of 100,000 draws of the noise lies from 2 b²."""
    drawn = seeded(11).laplace(scale, (_DRAWN,)).astype(np.float64)
    expected = 2 * scale**2
    return float(abs((drawn**2).mean() / expected - 1) / math.sqrt(5 / _DRAWN))


@cache
def _residuals() -> NDArray[np.float64]:
    ages, weights = np.array([1, 3]), (1.0, 0.5)
    design = design_fran(chain(0.75), query=WeightedSum(weights), ages=ages, epsilon=0.5)
    series = simulate(chain(0.75), _STEPS + int(ages.max()), seed=2)[0]
    state, entropy, found = begin(design), seeded(7), []
    for now, snapshot in enumerate(series):
        state, answer = advance(design, state, snapshot, entropy)
        if answer is not None:
            found.append(float(answer[0]) - float(np.dot(weights, series[now - ages, [0, 1]])))
    return np.asarray(found) * 0.5  # in units of Δ_f / ε_C = 1 / 0.5


@cache
def _allocated(sequences: int) -> float:
    step = finest_step(Mean(), sequences, 2, (1.0,))
    design = FranDesign(Mean(), sequences, 2, (1,), (1.0,), ONE_RECORD, None, step)
    states = np.zeros(sequences, dtype=np.int64)
    state, _ = advance(design, begin(design), states, seeded(1))
    advance(design, state, states, seeded(1))  # makes what all releases share
    entropy = seeded(1)
    entropy.laplace(1.0, (1,))  # fills its buffer, whatever the number of sequences
    tracemalloc.start()
    advance(design, state, states, entropy)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return float(most)


@cache
def _certified_at(sequences: int) -> float:
    here = np.arange(sequences)
    weights, tails = np.repeat([0.8, 0.2], sequences), np.concatenate([here, (here + 1) % sequences])
    ring = coo_array((weights, (np.tile(here, 2), tails)), shape=(sequences, sequences))
    model = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], ring)
    told = LeakageModel(model).certify(
        Released(tabulate(Mean(), sequences, 2), np.full(sequences, 2), 1.0), "knows_others"
    )[0]
    step = finest_step(Mean(), sequences, 2, (1.0,))
    design = FranDesign(Mean(), sequences, 2, (2,), (1.0,), ONE_RECORD, None, step)
    state, answer, entropy = begin(design), None, seeded(1)
    for _ in range(3):
        state, answer = advance(design, state, np.zeros(sequences, dtype=np.int64), entropy)
    return told if answer is not None and np.isfinite(answer).all() else math.inf

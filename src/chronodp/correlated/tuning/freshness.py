"""How far an aged answer lies from the present one, and how much of it can be told from it: all from the model."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chronodp.correlated.ageing import Ages, aged_outputs, check_ages
from chronodp.correlated.chain import CouplingMarkovChain, Floats
from chronodp.correlated.joint import LARGEST, JointChain
from chronodp.correlated.query import Query, QueryTable, check_query, tabulate
from chronodp.correlated.simulate import simulate

__all__ = ["Freshness", "freshness", "stacked_covariance", "stacked_law"]

_LISTED = 2**10
_STACKED = 400  # states of all sequences together up to which covariances are solved for
_RUNS, _DRAWN, _LENGTH, _SEED = 400, 40_000, 100, 20260101
_ROUNDS = 100_000


@dataclass(frozen=True, slots=True)
class Freshness:
    """What age does to an answer.

    Attributes:
        stale: mean squared difference between the present answer and the aged one, B(A), over all outputs.
        variance: of the present answer, over all outputs (V).
        correlation: between the two answers, for a single output (ρ_A); not a number for several.
        estimated: whether the numbers come from simulated series rather than from the law itself.
    """

    stale: float
    variance: float
    correlation: float
    estimated: bool = False


def freshness(model: CouplingMarkovChain, *, query: Query, ages: Ages) -> Freshness:
    """Return what age does to an answer, for a chain in its stationary law.

    Listed where the joint law can be; from covariances for sums; from simulated series otherwise.

    >>> from chronodp.correlated.query import Mean
    >>> model = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], [[0.75, 0.25], [0.25, 0.75]])
    >>> [round(freshness(model, query=Mean(), ages=age).stale, 5) for age in (0, 1, 2, 3)]
    [0.0, 0.16, 0.224, 0.2496]
    """
    outputs = tabulate(check_query(query), model.sequences, model.states)
    each = check_ages(ages, model.sequences)
    size = model.sequences * math.log2(model.states)
    if size <= math.log2(min(_LISTED, LARGEST)):
        return _together([_listed(JointChain(model), single, each) for single in _singles(outputs)])
    if not any(outputs.largest) and model.sequences * model.states <= _STACKED:
        return _together([_solved(model, single, each) for single in _singles(outputs)])
    return _together(_simulated(model, outputs, each), estimated=True)


def stacked_law(model: CouplingMarkovChain) -> Floats:
    """Return the stationary laws of all sequences, as sequences × states: the fixed point of the block matrix."""
    law = np.full(model.sequences * model.states, 1 / model.states)
    for _ in range(_ROUNDS):
        following = model.block_matrix @ law
        if np.all(np.abs(following - law) <= 1e-15):
            break
        law = (following + law) / 2  # halves keep periodic chains from swinging
    return np.asarray(law).reshape(model.sequences, model.states)


def stacked_covariance(model: CouplingMarkovChain) -> Floats:
    """Return Σ, the covariance of all states' indicators: Σ = offdiag(Q Σ Qᵀ) + blockdiag(diag π_j - π_j π_jᵀ)."""
    q, law = model.block_matrix.toarray(), stacked_law(model)
    blocks = np.kron(np.eye(model.sequences), np.ones((model.states, model.states)))
    own = blocks * (np.diag(law.ravel()) - np.outer(law, law))
    found = own.copy()
    for _ in range(_ROUNDS):
        following = (1 - blocks) * (q @ found @ q.T) + own
        if np.abs(following - found).max() <= 1e-15:
            break
        found = following
    return np.asarray(found)


def _singles(outputs: QueryTable) -> list[QueryTable]:
    return [QueryTable(outputs.parts[n : n + 1], outputs.largest[n : n + 1]) for n in range(len(outputs.largest))]


def _listed(joint: JointChain, outputs: QueryTable, ages: NDArray[np.int64]) -> tuple[float, float, float]:
    values, law = aged_outputs(joint, outputs, ages)
    now, aged = outputs.values(joint.snapshots)[:, 0], values[:, 0]
    total, past = law.sum(axis=0), law.sum(axis=1)
    stale = float((law * (now - aged[:, None]) ** 2).sum())
    centred, aged_centred = now - total @ now, aged - past @ aged
    return (
        stale,
        float(total @ centred**2),
        _ratio(float(aged_centred @ law @ centred), total @ centred**2, past @ aged_centred**2),
    )


def _solved(model: CouplingMarkovChain, outputs: QueryTable, ages: NDArray[np.int64]) -> tuple[float, float, float]:
    q, sigma = model.block_matrix.toarray(), stacked_covariance(model)
    f = outputs.parts[0]
    powers = {age: np.linalg.matrix_power(q, age) @ sigma for age in range(int(ages.max()) + 1)}
    m, s = model.states, model.sequences
    among_aged, across = np.empty((s, s)), np.empty((s, s))
    for j in range(s):
        for k in range(s):
            cut = np.s_[j * m : (j + 1) * m, k * m : (k + 1) * m]
            flip = np.s_[k * m : (k + 1) * m, j * m : (j + 1) * m]
            newer = ages[j] <= ages[k]
            lag = powers[abs(int(ages[k] - ages[j]))]
            among_aged[j, k] = f[j] @ lag[cut] @ f[k] if newer else f[k] @ lag[flip] @ f[j]
            across[j, k] = f[j] @ powers[int(ages[k])][cut] @ f[k]
    variance = float(f.ravel() @ sigma @ f.ravel())
    stale = variance + float(among_aged.sum()) - 2 * float(across.sum())
    return max(stale, 0.0), variance, _ratio(float(across.sum()), variance, float(among_aged.sum()))


def _simulated(
    model: CouplingMarkovChain, outputs: QueryTable, ages: NDArray[np.int64]
) -> list[tuple[float, float, float]]:
    """Averages over time and runs; the sequences are so many that few runs tell much."""
    oldest = int(ages.max())
    runs = max(4, min(_RUNS, _DRAWN // model.sequences))
    made = simulate(model, oldest + _LENGTH, seed=_SEED, runs=runs, warm_up=_LENGTH)
    columns = np.arange(model.sequences)
    times = np.arange(oldest, oldest + _LENGTH)
    aged = outputs.values(made[:, times[:, None] - ages, columns].reshape(-1, model.sequences))
    now = outputs.values(made[:, times].reshape(-1, model.sequences))
    found = []
    for first, second in zip(now.T, aged.T, strict=True):
        across, apart = float(np.cov(first, second)[0, 1]), float(((first - second) ** 2).mean())
        found.append((apart, float(first.var()), _ratio(across, first.var(), second.var())))
    return found


def _together(parts: list[tuple[float, float, float]], *, estimated: bool = False) -> Freshness:
    correlation = parts[0][2] if len(parts) == 1 else math.nan
    return Freshness(sum(part[0] for part in parts), sum(part[1] for part in parts), correlation, estimated)


def _ratio(across: float, first: float, second: float) -> float:
    return across / math.sqrt(first * second) if first > 0 and second > 0 else 0.0

"""A model from public series: the likeliest coupling and transitions, by expectation and maximisation.

Each sequence is fitted by itself: its next state is a mixture over those it hears, with weights λ_jk and laws P^(jk).
λ and P apart are not determined by the data, but λ_jk P^(jk) summed, that is p_j, is, and nothing else enters
leakage.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.correlated.ageing import distinct
from chronodp.correlated.chain import CouplingMarkovChain, Floats, Integers
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_whole

__all__ = ["Fit", "Patterns", "check_hears", "check_series", "count_patterns", "fit", "fit_patterns"]

_MOST_STATES = 10_000
_MOST_NUMBERS = 2**26  # of all matrices together, half a gigabyte
_ROUNDS = 2_000
_STILL = 1e-10  # change of mean log-likelihood at which rounds end


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted model, its log-likelihood and the rounds it took."""

    model: CouplingMarkovChain
    log_likelihood: float
    rounds: int


@dataclass(frozen=True, slots=True, eq=False)
class Patterns:
    """How often one sequence went where, after what those it hears were.

    Attributes:
        hears: the sequences it hears.
        before: their states, one pattern a row.
        after: its own next state in each pattern.
        counts: how often.
    """

    hears: Integers
    before: Integers
    after: Integers
    counts: Floats


def fit(series: ArrayLike, *, states: int, hears: ArrayLike | None = None) -> Fit:
    """Return the likeliest model of public series, as length × sequences or runs × length × sequences.

    The data must be public or already released: nothing is spent here. For private data see `fit_privately`.

    Args:
        series: states from 0, one period after another.
        states: how many there are.
        hears: sequences × sequences, True where the row's sequence may hear the column's; all of them if not given.

    >>> from chronodp.correlated import simulate
    >>> truth = CouplingMarkovChain([[0.9, 0.2], [0.1, 0.8]], [[0.75, 0.25], [0.0, 1.0]])
    >>> found = fit(simulate(truth, 5000, seed=1), states=2).model
    >>> bool(np.abs(found.next_laws([[0, 1]]) - truth.next_laws([[0, 1]])).max() < 0.05)
    True
    """
    rows = check_series(series, states)
    mask = check_hears(hears, rows.shape[2])
    if int(mask.sum()) * states**2 > _MOST_NUMBERS:
        raise InvalidArgument("states", states, f"fewer, or fewer ties: matrices of at most {_MOST_NUMBERS:,} numbers")
    return fit_patterns([count_patterns(rows, j, np.flatnonzero(mask[j])) for j in range(rows.shape[2])], states)


def fit_patterns(patterns: list[Patterns], states: int) -> Fit:
    """Return the likeliest model of counted patterns, those of each sequence; counts may be any numbers from 0."""
    heads, tails, weights, matrices = [], [], [], []
    total, rounds = 0.0, 0
    for sequence, seen in enumerate(patterns):
        coupling, laws, likelihood, needed = _fit_one(seen, states)
        heads += [sequence] * len(seen.hears)
        tails += seen.hears.tolist()
        weights.append(coupling)
        matrices.append(laws)
        total, rounds = total + likelihood, max(rounds, needed)
    coupling = np.concatenate(weights)
    kept = coupling > 0
    from scipy import sparse

    table = sparse.coo_array((coupling, (np.asarray(heads), np.asarray(tails))), shape=(len(patterns),) * 2)
    return Fit(CouplingMarkovChain(np.concatenate(matrices)[kept], table), total, rounds)


def count_patterns(rows: Integers, sequence: int, hears: Integers) -> Patterns:
    """Return how often each pattern occurred in series, as runs × length × sequences."""
    joint = np.concatenate([rows[:, :-1, hears], rows[:, 1:, sequence : sequence + 1]], axis=2)
    kinds, which = distinct(joint.reshape(-1, joint.shape[2]))
    return Patterns(hears, kinds[:, :-1], kinds[:, -1], np.bincount(which).astype(np.float64))


def check_series(series: ArrayLike, states: int) -> Integers:
    """Return series of states, as runs × length × sequences; what they are is never published in an error."""
    top = check_whole("states", states, least=2, most=_MOST_STATES) - 1
    allowed = f"whole numbers from 0 to {top}, as length × sequences, of two periods at least"
    try:
        rows = np.asarray(series)
    except (ValueError, TypeError):
        raise InvalidArgument("series", series, allowed, private=True) from None
    if rows.ndim == 2:
        rows = rows[None]
    if rows.ndim != 3 or rows.dtype.kind not in "iub" or rows.shape[1] < 2 or not rows.size:
        raise InvalidArgument("series", series, allowed, private=True)
    if rows.min() < 0 or rows.max() >= states:
        raise InvalidArgument("series", series, allowed, private=True)
    return rows.astype(np.int64)


def check_hears(hears: ArrayLike | None, sequences: int) -> NDArray[np.bool_]:
    """Return who may hear whom."""
    if hears is None:
        return np.ones((sequences, sequences), dtype=bool)
    allowed = f"{sequences} × {sequences} of True and False, with a True in every row"
    try:
        mask = np.asarray(hears)
    except ValueError:  # rows of several lengths
        raise InvalidArgument("hears", hears, allowed) from None
    if mask.shape != (sequences, sequences) or mask.dtype != bool or not mask.any(axis=1).all():
        raise InvalidArgument("hears", hears, allowed)
    return mask


def _fit_one(seen: Patterns, states: int) -> tuple[Floats, Floats, float, int]:
    count = len(seen.hears)
    coupling, laws = np.full(count, 1 / count), _first_laws(seen, states)
    edges, whole = np.arange(count), max(seen.counts.sum(), 1e-300)
    before = -np.inf
    rounds = 0
    while rounds < _ROUNDS:
        rounds += 1
        share = coupling * laws[edges, seen.after[:, None], seen.before]  # patterns × edges
        chance = share.sum(axis=1)
        likelihood = float(seen.counts @ np.log(np.maximum(chance, 1e-300)))
        if likelihood - before <= _STILL * whole:
            break
        before = likelihood
        blame = share * (seen.counts / np.maximum(chance, 1e-300))[:, None]
        coupling = np.maximum(blame.sum(axis=0), 0.0)
        coupling /= coupling.sum()
        made = np.zeros_like(laws)
        for edge in range(count):
            np.add.at(made[edge], (seen.after, seen.before[:, edge]), blame[:, edge])
        totals = made.sum(axis=1, keepdims=True)
        laws = np.where(totals > 0, made / np.where(totals > 0, totals, 1.0), laws)
    return coupling, laws, before, rounds


def _first_laws(seen: Patterns, states: int) -> Floats:
    """Start from plain frequencies, a little evened out so that nothing is impossible from the start."""
    made = np.full((len(seen.hears), states, states), 0.5)
    for edge in range(len(seen.hears)):
        np.add.at(made[edge], (seen.after, seen.before[:, edge]), seen.counts)
    laws: Floats = made / made.sum(axis=1, keepdims=True)
    return laws

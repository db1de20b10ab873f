"""Draws whole series of a public model, for tests and estimates: no data of anyone, no noise of a release."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from chronodp.correlated.chain import CouplingMarkovChain, Floats, Integers
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_whole

__all__ = ["simulate"]

_MOST = 2**40  # snapshots: more than any memory holds
_MOST_WARMING = 2**24
_LISTED = 2**12  # snapshots up to which the laws of all are listed, if no fewer are to be drawn


def simulate(
    model: CouplingMarkovChain,
    length: int,
    *,
    seed: int,
    runs: int = 1,
    warm_up: int = 200,
    start: ArrayLike | None = None,
) -> Integers:
    """Return series of states, as runs × length × sequences; all runs and sequences of a step are drawn at once.

    Args:
        model: the chain.
        length: how many snapshots.
        seed: of the draws.
        runs: how many series that know nothing of each other.
        warm_up: steps made before the first snapshot that is kept; 0 if the start is kept.
        start: the snapshot, one for all runs or one a run, before the warm-up; drawn uniformly if not given.

    >>> model = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], [[0.5, 0.5], [0.5, 0.5]])
    >>> made = simulate(model, 1000, seed=1, runs=3)
    >>> made.shape, round(float((made[:, 1:, 0] == made[:, :-1, 0]).mean()), 1)
    ((3, 1000, 2), 0.6)
    """
    if not isinstance(model, CouplingMarkovChain):
        raise InvalidArgument("model", model, "a CouplingMarkovChain")
    check_whole("length", length, most=_MOST)
    check_whole("runs", runs, most=_MOST // length)
    check_whole("warm_up", warm_up, least=0, most=_MOST_WARMING)
    chance = np.random.default_rng(check_whole("seed", seed, least=0))  # of nobody: the model is public
    if start is None:
        now = chance.integers(model.states, size=(runs, model.sequences))
    else:
        now = np.broadcast_to(model.check_snapshots("start", start), (runs, model.sequences))
    heights_of = _heights(model, runs * (warm_up + length))
    made = np.empty((runs, length, model.sequences), dtype=np.int64)
    for step in range(warm_up + length):
        if step >= warm_up:
            made[:, step - warm_up] = now
        if step < warm_up + length - 1:
            now = (chance.random((runs, model.sequences, 1)) >= heights_of(now)).sum(axis=2)
    return made


def _heights(model: CouplingMarkovChain, asked: int) -> Callable[[Integers], Floats]:
    """Return what tells of snapshots where a uniform number passes from state to state: looked up if they are few."""

    def of(snapshots: Integers) -> Floats:
        return np.cumsum(model.next_laws(snapshots), axis=2)[:, :, :-1]

    size = model.states**model.sequences
    if size > min(_LISTED, asked):
        return of
    table = of(np.indices((model.states,) * model.sequences).reshape(model.sequences, -1).T)
    places = model.states ** np.arange(model.sequences)[::-1]
    return lambda snapshots: table[snapshots @ places]

"""A bound that dies away with age, for any number of sequences: Dobrushin's comparison on sites (sequence, age).

For every output y, p(y | x) / p(y | x') = E[ρ | x', y] / E[ρ | x'] with ρ as in `one_step`. The two laws of the past
differ by the release alone, which tilts site (j, A_j) by at most e^{w_j ε}. How far that reaches is bounded by e:
start with e = 1 everywhere and improve it, e_a ← min(e_a, b_a + W e_a + D e_{a-1} + U e_{a+1}), where

* b_a is tanh(w_j ε / 4), added up over the releases that read sequence j at age a;
* U, D, W are influences of parents, children and co-parents;
* e is 1 beyond the oldest age that is followed, and 0 at age 0, where all is known.

Every round is a bound. Then ε_S ≤ ln(1 + Σ_k osc_k(ρ) e_{1,k} / min ρ), for either order of the two states: the
smaller counts. The law with which the chain began does not enter: no stationarity is assumed.

*Space-time Dobrushin* under "Bounds" in ``docs/explanation/proofs/correlated.md``.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from chronodp.correlated.bounds.influences import Boxes, Influences, boxes, rounding
from chronodp.correlated.chain import CouplingMarkovChain, Floats

__all__ = ["oscillations", "reach_of_release", "space_time"]

_BEYOND = 6  # ages followed past the oldest released
_ROUNDS = 200
_SETTLED = 1e-4
_LEAST = 1e-300  # more than all products too small for a float add up to


def reach_of_release(field: Influences, tilts: Floats, *, free: NDArray[np.bool_] | None = None) -> Floats:
    """Return e at age 1: how far, in total variation, the release moves each sequence's last state.

    Args:
        field: the influences.
        tilts: log range that the releases tilt each site by, as ages from 0 × sequences.
        free: sequences whose present is not known to the adversary but is released; none if not given.
    """
    oldest = len(tilts) - 1 + _BEYOND
    push = np.zeros((oldest + 2, tilts.shape[1]))
    push[: len(tilts)] = np.tanh(tilts / 4)
    e: Floats = np.ones_like(push)
    e[0] = 0.0 if free is None else free.astype(np.float64)
    for _ in range(_ROUNDS):
        before = e.copy()
        if free is not None and free.any():
            e[0] = np.where(free, np.minimum(e[0], push[0] + field.parents @ e[1] + _LEAST), 0.0)
        inner = push[1:-1].T + field.coparents @ e[1:-1].T + field.children @ e[:-2].T + field.parents @ e[2:].T
        e[1:-1] = np.minimum(e[1:-1], inner.T + _LEAST)
        if np.all(before - e <= _SETTLED * e):
            break
    reach: Floats = e[1]
    return reach


def space_time(
    model: CouplingMarkovChain,
    reach: Floats,
    *,
    swings: Mapping[tuple[int, int], Floats],
    least: Floats,
    direct: Floats,
) -> Floats:
    """Return the bound for every sequence, from how far the release reaches at age 1.

    Args:
        model: the chain.
        reach: e at age 1, of `reach_of_release`.
        swings: osc(ρ), of `oscillations`.
        least: the least ratios of `least_ratios`.
        direct: what a sequence that is released without age leaks by itself, w_i · epsilon; 0 for the others.
    """
    worst = np.zeros(model.sequences)
    for a, b in itertools.combinations(range(model.states), 2):
        either = np.full(model.sequences, np.inf)
        for one, other in ((a, b), (b, a)):
            swing = swings[one, other] * reach[model.tails]
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                moved = np.add.reduceat(swing, model.starts[:-1]) / least[:, one, other]
                either = np.fmin(either, np.log1p(np.where(np.isnan(moved), np.inf, moved)))
        entered = np.isfinite(least[:, a, b]) & np.isfinite(least[:, b, a])  # what never is has no present to tell
        worst = np.maximum(worst, np.where(entered, either, 0.0))
    return worst + direct


def oscillations(model: CouplingMarkovChain) -> dict[tuple[int, int], Floats]:
    """Return for states a and b, and each edge, the most that p(a | w) / p(b | w) of its head swings by its tail."""
    box = boxes(model)
    return {(a, b): _oscillations(model, box, a, b) for a, b in itertools.permutations(range(model.states), 2)}


def _oscillations(model: CouplingMarkovChain, box: Boxes, a: int, b: int) -> Floats:
    swing, hidden = np.zeros(len(model.heads)), rounding(model)
    for v, v2 in itertools.combinations(range(model.states), 2):
        up, up2 = model.moves[:, a, v], model.moves[:, a, v2]
        down, down2 = model.moves[:, b, v], model.moves[:, b, v2]
        if model.states == 2:
            # p / (1 - p) is convex: the largest step is where the rest gives most to a, and so least to b.
            swing = np.maximum(swing, _step(up, up2, down, down2, box.high[:, a], box.low[:, b], hidden))
            continue
        for rest in (box.low[:, a], box.high[:, a]):
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                root = np.sqrt((up2 + rest) / (up + rest))
                turn = (down2 - root * down) / (root - 1)  # where the derivative by the rest of b vanishes
            turn = np.clip(np.where(np.isfinite(turn), turn, box.low[:, b]), box.low[:, b], box.high[:, b])
            for rest_b in (box.low[:, b], turn, box.high[:, b]):
                swing = np.maximum(swing, _step(up, up2, down, down2, rest, rest_b, hidden))
    return swing


def _step(up: Floats, up2: Floats, down: Floats, down2: Floats, rest: Floats, rest_b: Floats, hidden: Floats) -> Floats:
    """Return |(up + rest) / (down + rest_b) - (up2 + rest) / (down2 + rest_b)|, or more by what rounding may hide.

    Only the given numbers are subtracted from each other, before anything large is added to them.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = (up2 + rest) / (down + rest_b)
        apart = np.abs((up - up2) / (down + rest_b) + ratio * ((down2 - down) / (down2 + rest_b)))
        slack = hidden * ((up + up2) / (down + rest_b) + ratio * ((down2 + down) / (down2 + rest_b)))
    same = (up == up2) & (down == down2) & (down + rest_b > 0)
    return np.where(same, 0.0, np.where(np.isnan(apart + slack), np.inf, apart + slack))

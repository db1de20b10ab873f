"""The chains that the paper's statements are tried on: its own, ones that seldom move, paths, and random ones."""

from __future__ import annotations

from functools import cache

import numpy as np

from chronodp.correlated import CouplingMarkovChain

__all__ = [
    "COUPLED",
    "COUPLINGS",
    "alone",
    "chain",
    "forgetful",
    "leaving",
    "path",
    "random_alone",
    "random_chain",
    "swing",
]

COUPLINGS = (0.0, 0.25, 0.5, 0.75, 1.0)
COUPLED = (0.5, 0.75, 1.0)  # what the paper calls full, medium and no coupling


@cache
def chain(coupling: float, leaves: float = 0.3) -> CouplingMarkovChain:
    """Return the paper's chain (eq. 25): two binary sequences, self-coupling λ, that change state with 0.3."""
    return leaving(leaves, leaves, coupling)


@cache
def leaving(zero: float, one: float, coupling: float) -> CouplingMarkovChain:
    """Return two sequences that leave 0 and 1 with these probabilities."""
    return CouplingMarkovChain(_moves(zero, one), [[coupling, 1 - coupling], [1 - coupling, coupling]])


@cache
def alone(zero: float, one: float) -> CouplingMarkovChain:
    """Return one sequence that hears itself alone."""
    return CouplingMarkovChain(_moves(zero, one), [[1.0]])


@cache
def forgetful() -> CouplingMarkovChain:
    """Return two sequences of fair coins: nothing of the past is in the present."""
    return CouplingMarkovChain(_moves(0.5, 0.5), np.eye(2))


@cache
def swing(sequences: int) -> CouplingMarkovChain:
    """Return sequences that change state at every step, and listen to all alike: irreducible, and periodic."""
    return CouplingMarkovChain(_moves(1.0, 1.0), np.full((sequences, sequences), 1 / sequences))


@cache
def path(length: int, zero: float, one: float, own: float, end: float | None = None) -> CouplingMarkovChain:
    """Return sequences in a row: each hears itself by ``own`` (``end`` at both ends) and its neighbours alike."""
    coupling = np.zeros((length, length))
    for place in range(length):
        near = [other for other in (place - 1, place + 1) if 0 <= other < length]
        self_weight = end if end is not None and len(near) == 1 else own
        coupling[place, near] = (1 - self_weight) / len(near)
        coupling[place, place] = self_weight
    return CouplingMarkovChain(_moves(zero, one), coupling)


@cache
def random_chain(seed: int) -> CouplingMarkovChain:
    """Return two to four sequences of two or three states, every coupling above 0, every matrix drawn."""
    rng = np.random.default_rng(seed)
    sequences, states = int(rng.integers(2, 5)), int(rng.integers(2, 4))
    columns = rng.dirichlet(np.ones(states), (sequences, sequences, states))
    return CouplingMarkovChain(np.swapaxes(columns, 2, 3), rng.dirichlet(np.ones(sequences), sequences))


@cache
def random_alone(seed: int) -> CouplingMarkovChain:
    """Return one sequence of two or three states that tends to stay where it is."""
    rng = np.random.default_rng(seed)
    states = int(rng.integers(2, 4))
    stays = rng.uniform(0.2, 0.9)
    moves = stays * np.eye(states) + (1 - stays) * rng.dirichlet(np.ones(states), states).T
    return CouplingMarkovChain(moves, [[1.0]])


def _moves(zero: float, one: float) -> list[list[float]]:
    return [[1 - zero, one], [zero, 1 - one]]

"""Chains of higher order as chains of order one: every sequence gets followers that repeat what it was before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from chronodp.correlated.ageing import Ages, check_ages
from chronodp.correlated.chain import CouplingMarkovChain
from chronodp.correlated.query import Mean, Query, Sum, WeightedSum
from chronodp.errors import InvalidArgument

__all__ = ["Augmented", "augment"]


@dataclass(frozen=True, slots=True, eq=False)
class Augmented:
    """A chain of order one that stands for one of higher order.

    Attributes:
        model: the chain: sequences 0 to s - 1 are the real ones, then come those one step late, and so on.
        sequences: how many are real (s).
        order: how many steps back the chain reaches.
    """

    model: CouplingMarkovChain
    sequences: int
    order: int

    @property
    def targets(self) -> tuple[int, ...]:
        """The real sequences. An adversary who knows all others here knows the last ``order - 1`` snapshots as well."""
        return tuple(range(self.sequences))

    def query(self, query: Query) -> WeightedSum:
        """Return a query of the real sequences as one of all."""
        if not isinstance(query, Mean | Sum | WeightedSum):
            raise InvalidArgument("query", query, "Mean(), Sum() or WeightedSum((…))")
        late = (0.0,) * (self.sequences * (self.order - 1))
        match query:
            case WeightedSum(weights=weights):
                return WeightedSum((*weights, *late), query.scores)
            case Mean():
                return WeightedSum((1 / self.sequences,) * self.sequences + late, query.scores)
            case _:
                return WeightedSum((1.0,) * self.sequences + late, query.scores)

    def ages(self, ages: Ages) -> tuple[int, ...]:
        """Return ages of the real sequences as ages of all."""
        each = check_ages(ages, self.sequences).tolist()
        return (*each, *([max(each)] * (self.sequences * (self.order - 1))))


def augment(transitions: ArrayLike, coupling: ArrayLike) -> Augmented:
    """Return the chain with p_j(u | past) = Σ_l Σ_k λ_ljk P^(ljk)[u, x_k of l + 1 steps ago] as a chain of order one.

    Args:
        transitions: one matrix for all, or one for every lag and pair: order × sequences × sequences × states × states.
        coupling: order × sequences × sequences; for each sequence all its entries sum to one.

    >>> made = augment([[0.9, 0.2], [0.1, 0.8]], [[[0.6]], [[0.4]]])
    >>> made.model, made.query(Sum()).weights
    (CouplingMarkovChain(2 sequences of 2 states, 3 edges), (1.0, 0.0))
    """
    try:
        weights, matrices = np.asarray(coupling, dtype=np.float64), np.asarray(transitions, dtype=np.float64)
    except (ValueError, TypeError):
        raise InvalidArgument("coupling", coupling, "an array: order × sequences × sequences") from None
    if weights.ndim != 3 or weights.shape[1] != weights.shape[2] or not weights.size:
        raise InvalidArgument("coupling", weights.shape, "an array: order × sequences × sequences")
    order, s = weights.shape[:2]
    if matrices.ndim not in (2, 5) or (matrices.ndim == 5 and matrices.shape[:3] != weights.shape):
        allowed = f"one matrix, or {order} × {s} × {s} × states × states"
        raise InvalidArgument("transitions", matrices.shape, allowed)
    m = matrices.shape[-1]
    matrices = np.broadcast_to(matrices, (order, s, s, m, m))
    whole = np.zeros((order * s, order * s))
    moves = np.broadcast_to(np.eye(m), (order * s, order * s, m, m)).copy()
    for lag in range(order):
        whole[:s, lag * s : (lag + 1) * s] = weights[lag]
        moves[:s, lag * s : (lag + 1) * s] = matrices[lag]
    late = np.arange(s, order * s)
    whole[late, late - s] = 1.0  # a follower repeats what stands before it
    return Augmented(CouplingMarkovChain(moves, whole), s, order)

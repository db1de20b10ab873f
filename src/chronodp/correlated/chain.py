"""The coupling Markov chain: many sequences that move by each other's last states.

Given the snapshot x at one time, every sequence j moves on its own: it goes to state u with probability
p_j(u | x) = Σ_k λ_jk P^(jk)[u, x_k]. Columns of P^(jk) and rows of λ sum to one, as in the paper.

"The model" of ``docs/explanation/proofs/correlated.md``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    Coupling: TypeAlias = ArrayLike | Any

__all__ = ["CouplingMarkovChain", "Floats", "Integers"]

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

_TOLERANCE = 1e-9  # how far a sum may lie from one; it is then divided out


class CouplingMarkovChain:
    """Sequences whose next states depend on each other's present ones, as a list of edges.

    p_j(u | x) = Σ_k λ_jk P^(jk)[u, x_k], where

    * λ (``coupling``) is how much sequence j listens to sequence k: its rows sum to one;
    * P^(jk) (``transitions``) tells where j goes from a state of k: ``P[u, v]`` is the probability of u after v, so
      its *columns* sum to one.

    Args:
        transitions: one matrix for all pairs (states × states); or one a pair (sequences × sequences × states ×
            states); or one an edge (edges × states × states), in the order of the coupling's entries above zero, row
            by row.
        coupling: sequences × sequences, dense or a scipy sparse array.

    Attributes:
        sequences: how many there are (s).
        states: how many states each has (m).
        heads: of each edge, the sequence that moves (j); edges are sorted by it.
        tails: of each edge, the sequence it listens to (k).
        weights: λ_jk of each edge.
        moves: λ_jk P^(jk) of each edge (Q_jk).

    References:
        Ching, Fung, Ng (2002), A multivariate Markov chain model for categorical data sequences.

    >>> model = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], [[0.75, 0.25], [0.25, 0.75]])
    >>> model.sequences, model.states, model.next_laws([[0, 1]]).round(2).tolist()
    (2, 2, [[[0.6, 0.4], [0.4, 0.6]]])
    """

    def __init__(self, transitions: ArrayLike, coupling: Coupling) -> None:
        heads, tails, weights, sequences = _edges(coupling)
        matrices = _matrices(transitions, heads, tails, sequences)
        self.sequences = sequences
        self.states = int(matrices.shape[-1])
        self.heads, self.tails, self.weights = heads, tails, weights
        self.moves: Floats = weights[:, None, None] * matrices
        for numbers in (heads, tails, weights, self.moves):
            numbers.setflags(write=False)

    @cached_property
    def starts(self) -> Integers:
        """Where the edges of each sequence start, and one past the last."""
        return np.searchsorted(self.heads, np.arange(self.sequences + 1)).astype(np.int64)

    @cached_property
    def smallest(self) -> float:
        """The least move above 0. What a float cannot tell from 0 counts as 0: the model is what ``moves`` holds."""
        return float(self.moves[self.moves > 0].min())

    @cached_property
    def components(self) -> Integers:
        """The number of the group of each sequence: sequences of different groups never hear of each other.

        An edge whose matrix has equal columns carries nothing and ties nobody.
        """
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        telling = np.ptp(self.moves, axis=2).max(axis=1) > 0
        size = (self.sequences, self.sequences)
        ties = coo_array((np.ones(telling.sum()), (self.heads[telling], self.tails[telling])), shape=size)
        return np.asarray(connected_components(ties.tocsr(), directed=False)[1], dtype=np.int64)

    @cached_property
    def block_matrix(self) -> csr_array:
        """The block matrix Q of all λ_jk P^(jk): one step of all marginal laws, stacked."""
        from scipy.sparse import coo_array

        m, edges = self.states, len(self.heads)
        rows = np.broadcast_to(self.heads[:, None, None] * m + np.arange(m)[:, None], (edges, m, m))
        columns = np.broadcast_to(self.tails[:, None, None] * m + np.arange(m), (edges, m, m))
        size = self.sequences * m
        return coo_array((self.moves.ravel(), (rows.ravel(), columns.ravel())), shape=(size, size)).tocsr()

    @cached_property
    def fingerprint(self) -> str:
        """A digest that tells this model from any other."""
        content = hashlib.sha256(f"{self.sequences} {self.states}".encode())
        for numbers in (self.heads, self.tails, self.moves):
            content.update(np.ascontiguousarray(numbers).tobytes())
        return content.hexdigest()

    def next_laws(self, snapshots: ArrayLike) -> Floats:
        """Return p_j(u | x) for each snapshot x (a row), as snapshots × sequences × states."""
        rows = self.check_snapshots("snapshots", snapshots)
        picked = np.moveaxis(self.moves[np.arange(len(self.heads)), :, rows[:, self.tails]], 1, 2)
        laws: Floats = np.moveaxis(np.add.reduceat(picked, self.starts[:-1], axis=2), 1, 2)
        return laws

    def check_snapshots(self, name: str, values: ArrayLike) -> Integers:
        """Return states of all sequences, one snapshot a row; what they are is never published in an error."""
        allowed = f"snapshots of {self.sequences} whole numbers from 0 to {self.states - 1}"
        try:
            rows = np.atleast_2d(np.asarray(values))
        except (ValueError, TypeError):
            raise InvalidArgument(name, values, allowed, private=True) from None
        if rows.dtype.kind not in "iub" or rows.ndim != 2 or rows.shape[1] != self.sequences:
            raise InvalidArgument(name, values, allowed, private=True)
        if rows.size and (rows.min() < 0 or rows.max() >= self.states):
            raise InvalidArgument(name, values, allowed, private=True)
        return rows.astype(np.int64)

    def part(self, members: Sequence[int] | Integers) -> CouplingMarkovChain:
        """Return the chain of some sequences alone, which must be whole components."""
        wanted = np.asarray(members, dtype=np.int64)
        place = np.full(self.sequences, -1)
        place[wanted] = np.arange(len(wanted))
        inside = np.isin(self.heads, wanted)
        told = self.weights * inside * (np.ptp(self.moves, axis=2).max(axis=1) > 0)
        if np.any(place[self.tails[told > 0]] < 0):
            raise InvalidArgument("members", tuple(wanted.tolist()), "all sequences of the components they are in")
        # An edge from outside that carries nothing moves its head by a law of its own: it becomes an edge to itself.
        heads = place[self.heads[inside]]
        tails = place[self.tails[inside]]
        tails = np.where(tails < 0, heads, tails)
        return _from_edges(len(wanted), heads, tails, self.moves[inside])

    def __repr__(self) -> str:
        return f"CouplingMarkovChain({self.sequences} sequences of {self.states} states, {len(self.heads)} edges)"


def _from_edges(sequences: int, heads: Integers, tails: Integers, moves: Floats) -> CouplingMarkovChain:
    """Make a chain of edges that were checked before; edges between the same two are added."""
    model = CouplingMarkovChain.__new__(CouplingMarkovChain)
    order = np.lexsort((tails, heads))
    heads, tails, moves = heads[order], tails[order], moves[order]
    first = np.flatnonzero(np.r_[True, (np.diff(heads) != 0) | (np.diff(tails) != 0)])
    model.sequences, model.states = sequences, int(moves.shape[-1])
    model.heads, model.tails = heads[first], tails[first]
    model.moves = np.add.reduceat(moves, first, axis=0)
    model.weights = model.moves[:, :, 0].sum(axis=1)
    return model


def _edges(coupling: Coupling) -> tuple[Integers, Integers, Floats, int]:
    from scipy import sparse

    allowed = "a square matrix of numbers, dense or a scipy sparse array"
    if sparse.issparse(coupling):
        table: Any = sparse.coo_array(coupling)  # type: ignore[call-overload]  # any of scipy's formats
        table.sum_duplicates()
    else:
        try:
            dense = np.asarray(coupling, dtype=np.float64)
        except (ValueError, TypeError, OverflowError):
            raise InvalidArgument("coupling", coupling, allowed) from None
        if dense.ndim != 2:
            raise InvalidArgument("coupling", coupling, allowed)
        table = sparse.coo_array(dense)
    if len(table.shape) != 2 or table.shape[0] != table.shape[1] or not table.shape[0]:
        raise InvalidArgument("coupling", coupling, allowed)
    sequences = int(table.shape[0])
    heads, tails = (np.asarray(part, dtype=np.int64) for part in table.coords)
    weights = np.asarray(table.data, dtype=np.float64)
    if not np.all(np.isfinite(weights)) or np.any(weights < 0):
        wrong = int(np.flatnonzero(~(weights >= 0) | ~np.isfinite(weights))[0])
        where = f"coupling[{heads[wrong]}][{tails[wrong]}]"
        raise InvalidArgument(where, float(weights[wrong]), "a finite number of at least 0")
    keep = weights > 0
    heads, tails, weights = heads[keep], tails[keep], weights[keep]
    order = np.lexsort((tails, heads))
    heads, tails, weights = heads[order], tails[order], weights[order]
    sums = np.bincount(heads, weights, minlength=sequences)
    wrong_rows = np.flatnonzero(np.abs(sums - 1) > _TOLERANCE)
    if len(wrong_rows):
        row = int(wrong_rows[0])
        raise InvalidArgument(
            f"coupling[{row}]", float(sums[row]), f"a row that sums to one: whom sequence {row} hears"
        )
    return heads, tails, weights / sums[heads], sequences


def _matrices(transitions: ArrayLike, heads: Integers, tails: Integers, sequences: int) -> Floats:
    edges = len(heads)
    allowed = (
        f"one matrix (states × states), one a pair ({sequences} × {sequences} × states × states) or one an edge "
        f"({edges} × states × states)"
    )
    try:
        given = np.asarray(transitions, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        raise InvalidArgument("transitions", transitions, allowed) from None
    if given.ndim not in (2, 3, 4) or given.shape[-1] != given.shape[-2] or given.shape[-1] < 2:
        raise InvalidArgument("transitions", given.shape, allowed)
    if given.ndim == 4 and given.shape[:2] == (sequences, sequences):
        picked, names = given[heads, tails], [f"[{j}][{k}]" for j, k in zip(heads, tails, strict=True)]
    elif given.ndim == 3 and len(given) == edges:
        picked, names = given, None
    elif given.ndim == 2:
        picked, names = given[None], [""]
    else:
        raise InvalidArgument("transitions", given.shape, allowed)
    _check_columns(picked, names)
    normal = picked / picked.sum(axis=1, keepdims=True)
    return np.broadcast_to(normal, (edges, *normal.shape[1:])) if given.ndim == 2 else normal


def _check_columns(matrices: Floats, names: list[str] | None) -> None:
    bad = ~np.isfinite(matrices) | (matrices < 0)
    convention = "entry [u, v] is the probability of going to u from v"
    if bad.any():
        edge, to, of = (int(part[0]) for part in np.nonzero(bad))
        where = f"transitions{names[edge] if names else f'[{edge}]'}[{to}][{of}]"
        raise InvalidArgument(where, float(matrices[edge, to, of]), f"a number of at least 0: {convention}")
    sums = matrices.sum(axis=1)
    wrong = np.abs(sums - 1) > _TOLERANCE
    if wrong.any():
        edge, column = (int(part[0]) for part in np.nonzero(wrong))
        where = f"transitions{names[edge] if names else f'[{edge}]'}[:, {column}]"
        rows = matrices[edge].sum(axis=1)
        hint = "; the rows do, so transpose the matrix" if np.all(np.abs(rows - 1) <= _TOLERANCE) else ""
        allowed = f"a column that sums to one, as all columns do ({convention}{hint})"
        raise InvalidArgument(where, float(sums[edge, column]), allowed)

"""How much one site of the past can sway another, when everything else is known.

Seen from the present, the past is a field of sites (sequence, age). A site is tied to those it heard (parents), to
those that heard it (children), and to those heard by the same child (co-parents). Where a changed site moves the log
odds of another's states by at most ω, it moves its law by at most tanh(ω / 4) in total variation.

ω_ij and C_ij of *Space-time Dobrushin* under "Bounds" in ``docs/explanation/proofs/correlated.md``; what is added for
rounding stands in "Finite precision" there.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chronodp.correlated.chain import CouplingMarkovChain, Floats, Integers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Boxes", "Influences", "boxes", "influences", "rounding"]

_ROUNDING = 2.0**-53
_ROWS = 200_000  # pairs of edges looked at in one go


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """For each edge, the least and largest that all other edges of its head together can contribute to each state."""

    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Influences:
    """Bounds on influences, as sparse matrices: row = the site swayed, column = the site that changed.

    Attributes:
        parents: of the sites one step older.
        children: of the sites one step newer; its transpose.
        coparents: of sites of the same age.
    """

    parents: csr_array
    children: csr_array
    coparents: csr_array


def boxes(model: CouplingMarkovChain) -> Boxes:
    """Return, for each edge, the range of what its head's other edges contribute.

    Nothing is subtracted, so that small ranges have their digits beside large ones.
    """
    return Boxes(*(_of_others(numbers, model.starts) for numbers in (model.moves.min(axis=2), model.moves.max(axis=2))))


def rounding(model: CouplingMarkovChain) -> Floats:
    """Return for each edge what a sum over its head's edges, and the few steps after it, may be off by, relatively."""
    degrees = np.diff(model.starts)
    return np.asarray((4 * degrees + 32) * _ROUNDING)[model.heads]


def influences(model: CouplingMarkovChain) -> Influences:
    """Return the bounds for all sites; they are the same at every age."""
    from scipy.sparse import coo_array

    size = (model.sequences, model.sequences)
    sway = np.tanh(_parent_swings(model, boxes(model)) / 4)
    parents = coo_array((sway, (model.heads, model.tails)), shape=size).tocsr()
    coparents = _coparent_swings(model)
    coparents.data = np.tanh(coparents.data / 4)
    return Influences(parents, parents.T.tocsr(), coparents)


def _parent_swings(model: CouplingMarkovChain, box: Boxes) -> Floats:
    """ω of each edge: the most that the log odds of its head's states move when its tail's state changes."""
    swing = np.zeros(len(model.heads))
    for v, v2 in itertools.permutations(range(model.states), 2):
        gain, loss = model.moves[:, :, v], model.moves[:, :, v2]
        for u, u2 in itertools.permutations(range(model.states), 2):
            if model.states == 2:
                # The rest gives to one state what it does not give to the other: two corners, not four.
                corners = [(box.low[:, u], box.high[:, u2]), (box.high[:, u], box.low[:, u2])]
            else:
                corners = list(itertools.product((box.low[:, u], box.high[:, u]), (box.low[:, u2], box.high[:, u2])))
            for rest, rest2 in corners:
                up = _log_ratio(gain[:, u] + rest, loss[:, u] + rest)
                down = _log_ratio(loss[:, u2] + rest2, gain[:, u2] + rest2)
                swing = np.maximum(swing, _sum(up, down))
    # Of a quotient near one the logarithm has no digits left: what they may hide is added wherever anything is told.
    telling = np.ptp(model.moves, axis=2).max(axis=1) > 0
    return np.where(telling, swing + 4 * rounding(model), 0.0)


def _coparent_swings(model: CouplingMarkovChain) -> csr_array:
    """ω of each two sequences heard by a common child, summed over such children.

    A child's factor is ln(x + y + r), x and y from the two and r from the rest. Its mixed difference shrinks as r
    grows, so that r is taken at its least.
    """
    from scipy.sparse import coo_array

    low = model.moves.min(axis=2)
    least = np.add.reduceat(low, model.starts[:-1])
    rows, columns, swings = [], [], []
    degrees = np.diff(model.starts)
    for degree in np.unique(degrees[degrees > 1]).tolist():
        children = np.flatnonzero(degrees == degree)
        pairs = np.asarray(list(itertools.combinations(range(degree), 2)))
        for group in np.array_split(children, max(1, len(children) * len(pairs) // _ROWS)):
            edges = model.starts[group][:, None, None] + pairs
            first, second = edges[..., 0].ravel(), edges[..., 1].ravel()
            # The one difference: what rounding may hide in it is taken off, and a smaller rest is never too small.
            hidden = (degree + 8) * _ROUNDING
            rest = np.maximum(0.0, least[np.repeat(group, len(pairs))] - low[first] - low[second] - hidden)
            rows.append(model.tails[first])
            columns.append(model.tails[second])
            swings.append(_mixed(model.moves[first], model.moves[second], rest))
    size = (model.sequences, model.sequences)
    if not rows:
        return coo_array(size).tocsr()
    one, other, swing = np.concatenate(rows), np.concatenate(columns), np.concatenate(swings)
    both = (np.concatenate([one, other]), np.concatenate([other, one]))
    return coo_array((np.concatenate([swing, swing]), both), shape=size).tocsr()


def _mixed(first: Floats, second: Floats, rest: Floats) -> Floats:
    swing = np.zeros(len(first))
    states = range(first.shape[1])
    for u in states:
        for (v, v2), (g, g2) in itertools.product(itertools.combinations(states, 2), repeat=2):
            near, far = first[:, u, v], first[:, u, v2]
            this, that = second[:, u, g] + rest[:, u], second[:, u, g2] + rest[:, u]
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                ratio = np.abs(np.log((near + this) / (far + this) * ((far + that) / (near + that))))
            hidden = np.where((near != far) & (this != that), 32 * _ROUNDING, 0.0)
            swing = np.maximum(swing, np.where(np.isnan(ratio), np.inf, ratio) + hidden)
    return swing


def _of_others(numbers: Floats, starts: Integers) -> Floats:
    """Return for each edge the sum over its head's other edges: of those before it, and of those after it."""
    degrees = np.diff(starts)
    found = np.zeros_like(numbers)
    before, after = np.zeros((2, len(degrees), numbers.shape[1]))
    for place in range(int(degrees.max())):
        heads = np.flatnonzero(degrees > place)
        left, right = starts[heads] + place, starts[heads + 1] - 1 - place
        found[left] += before[heads]
        found[right] += after[heads]
        before[heads] += numbers[left]
        after[heads] += numbers[right]
    return found


def _log_ratio(above: Floats, below: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.log(above / below)


def _sum(up: Floats, down: Floats) -> Floats:
    """Add log ratios; a state that cannot occur on either side (0/0) says nothing, and counts as the worst."""
    with np.errstate(invalid="ignore"):
        total = up + down
    return np.where(np.isnan(total), np.inf, total)

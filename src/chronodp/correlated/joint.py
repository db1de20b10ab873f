"""All sequences of a small chain together: their joint kernel, stationary law and time reversal.

"Finite precision" of ``docs/explanation/proofs/correlated.md`` says why the stationary law is found without
subtractions, and what may be listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from chronodp.correlated.chain import CouplingMarkovChain, Floats, Integers
from chronodp.errors import InvalidArgument

__all__ = ["LARGEST", "LEAST", "Joint", "JointChain"]

LARGEST = 2**12
LEAST = 1e-290  # a probability below it may have lost digits, or itself
_RAREST = 1e-280  # of snapshots, so that all that is lost on the way there is nothing beside them
_BLOCK = 64  # states eliminated before the rest of the matrix is brought up to date


class Joint(Protocol):
    """What exact leakage needs of a group: its snapshots, their stationary law, and how laws go on."""

    @property
    def model(self) -> CouplingMarkovChain:
        """The sequences of the group."""

    @property
    def shape(self) -> tuple[int, ...]:
        """States of each sequence."""

    @property
    def snapshots(self) -> Integers:
        """Every joint state, one a row, the last sequence counting fastest."""

    @property
    def stationary(self) -> Floats:
        """The stationary law, up to a factor."""

    @property
    def log_smallest(self) -> float:
        """A logarithm that no step's probability lies below."""

    def carried(self, laws: Floats, steps: int) -> Floats:
        """Return every law (a row) so many steps later."""


@dataclass(frozen=True)
class JointChain:
    """The chain on whole snapshots, for as many of them as can be listed (states to the power of sequences).

    >>> model = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], [[0.5, 0.5], [0.5, 0.5]])
    >>> joint = JointChain(model)
    >>> joint.kernel.shape, joint.stationary.round(4).tolist(), joint.is_reversible
    ((4, 4), [0.2717, 0.2283, 0.2283, 0.2717], True)
    """

    model: CouplingMarkovChain

    def __post_init__(self) -> None:
        size = self.model.states**self.model.sequences
        if size > LARGEST:
            allowed = (
                f"a chain of at most {LARGEST} joint states; this one has {self.model.states}^{self.model.sequences}"
            )
            raise InvalidArgument("model", self.model, allowed)

    @property
    def shape(self) -> tuple[int, ...]:
        """States of each sequence: the joint laws as tensors."""
        return (self.model.states,) * self.model.sequences

    @cached_property
    def snapshots(self) -> Integers:
        """Every joint state, one a row, the last sequence counting fastest."""
        return np.indices(self.shape).reshape(self.model.sequences, -1).T.astype(np.int64)

    @cached_property
    def kernel(self) -> Floats:
        """K[x', x], the probability of x' after x: the product over sequences of p_j(x'_j | x); columns sum to one."""
        laws = self.model.next_laws(self.snapshots)
        made = np.ones((len(laws), 1))
        for sequence in range(self.model.sequences):
            made = (made[:, :, None] * laws[:, sequence, None, :]).reshape(len(laws), -1)
        return np.ascontiguousarray(made.T)

    @cached_property
    def log_smallest(self) -> float:
        """The logarithm of the least entry of the kernel above 0, also where the entry is too small for a float."""
        laws = self.model.next_laws(self.snapshots)
        return float(np.log(np.where(laws > 0, laws, 1.0).min(axis=2)).sum(axis=1).min())

    @cached_property
    def has_law(self) -> bool:
        """Whether there is one stationary law, and floats can hold it and all that it is made of."""
        return self.log_smallest >= np.log(LEAST) and len(self.closed_classes) == 1 and not np.isnan(self._law).any()

    @cached_property
    def closed_classes(self) -> list[Integers]:
        """The sets of joint states that are never left once entered: one each for every stationary law there is."""
        if np.all(self.kernel > 0):
            return [np.arange(len(self.kernel))]
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        reach: Any = csr_array(self.kernel.T > 0)
        count, label = connected_components(reach, directed=True, connection="strong")
        leaving = np.zeros(count, dtype=bool)
        of, to = reach.nonzero()
        leaving[label[of][label[of] != label[to]]] = True
        return [np.flatnonzero(label == group) for group in range(count) if not leaving[group]]

    @cached_property
    def stationary(self) -> Floats:
        """The stationary law π of snapshots; 0 on those that are left for good.

        Computed without subtractions, so that small probabilities are as exact as large ones.
        """
        if len(self.closed_classes) > 1:
            allowed = (
                "a chain with one stationary law; this one has "
                f"{len(self.closed_classes)} closed classes, and where it started decides in which it is"
            )
            raise InvalidArgument("model", self.model, allowed)
        if not self.has_law:
            allowed = "a chain whose steps, and stationary law, have no probabilities between 0 and 1e-290"
            raise InvalidArgument("model", self.model, allowed)
        return self._law

    @cached_property
    def _law(self) -> Floats:
        inside = self.closed_classes[0]
        law = np.zeros(len(self.snapshots))
        law[inside] = _eliminated(self.kernel[np.ix_(inside, inside)])
        return law

    @cached_property
    def period(self) -> int:
        """Every how many steps the chain can return; above 1 it never settles, though it has a stationary law."""
        inside = self.closed_classes[0]
        links = self.kernel[np.ix_(inside, inside)] > 0
        level = np.full(len(inside), -1)
        level[0], front, found = 0, [0], 0
        while front:
            here = front.pop()
            for there in np.flatnonzero(links[:, here]):
                if level[there] < 0:
                    level[there] = level[here] + 1
                    front.append(int(there))
                else:
                    found = int(np.gcd(found, abs(level[here] + 1 - level[there])))
        return found

    @cached_property
    def is_reversible(self) -> bool:
        """Whether the past given the present has the law of the future: π(x) K(x'|x) = π(x') K(x|x') for all pairs."""
        flow = self.kernel * self.stationary
        return bool(np.all(np.abs(flow - flow.T) <= 1e-12 * (flow + flow.T)))

    def carried(self, laws: Floats, steps: int) -> Floats:
        """Return every law (a row over snapshots) so many steps later."""
        if steps > 2 * int(np.log2(len(self.snapshots)) + 1):
            return np.asarray(laws @ self.power(steps).T)
        for _ in range(steps):
            laws = laws @ self.kernel.T
        return laws

    def power(self, steps: int) -> Floats:
        """Return the kernel of so many steps."""
        return np.linalg.matrix_power(self.kernel, steps)


def _eliminated(kernel: Floats) -> Floats:
    """Eliminate states one by one; no differences are taken (Grassmann, Taksar, Heyman 1985).

    However slowly the chain mixes, each entry keeps its digits. States go in blocks: inside a block one after another,
    on the rest of the matrix all together. Not numbers, if a product on the way is too small for a float.
    """
    rest = kernel.T.copy()
    count = len(rest)
    lost = False
    for stop in range(count, 1, -_BLOCK):
        start = max(stop - _BLOCK, 1)
        for last in range(stop - 1, start - 1, -1):
            row = rest[last, :last]
            lost = lost or not row.sum() >= LEAST
            if lost:
                return np.full(count, np.nan)
            rest[:last, last] /= row.sum()
            column = rest[:last, last]
            lost = _smallest(column) * _smallest(row) < LEAST
            rest[start:last, :last] += np.outer(column[start:], row)
            rest[:start, start:last] += np.outer(column[:start], row[start:])
        rest[:start, :start] += rest[:start, start:stop] @ rest[start:stop, :start]
    law: Floats = np.ones(count)
    with np.errstate(over="ignore", invalid="ignore"):
        for state in range(1, count):
            law[state] = law[:state] @ rest[:state, state]
        law /= law.sum()
    return law if law.min() >= _RAREST and not lost else np.full(count, np.nan)


def _smallest(numbers: Floats) -> float:
    return float(numbers[numbers > 0].min(initial=1.0))

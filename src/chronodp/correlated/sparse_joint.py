"""All sequences of a chain together, where each hears few others: ten thousand joint states and more, without a matrix.

Laws are carried by variable elimination (`Elimination`). The stationary law comes from carrying any law on for n steps:
two chains that begin anywhere differ in sequence j after n steps with probability at most (C^n 1)_j, where C_jk is
λ_jk times the largest total variation of two columns of P^(jk). So the law reached is within d_n = Σ_j (C^n 1)_j of
the stationary one in total variation, and, after one step more, each probability π(x) within d_n Π_j max p_j(x_j | ·).

*Sparse coupling* under "Exact leakage" in ``docs/explanation/proofs/correlated.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from chronodp.correlated.bounds.forward_dobrushin import contraction
from chronodp.correlated.chain import CouplingMarkovChain, Floats, Integers
from chronodp.correlated.elimination import Elimination
from chronodp.correlated.joint import LEAST
from chronodp.correlated.query import QueryTable
from chronodp.errors import InvalidArgument

__all__ = ["SparseJointChain"]

_SPARE = 23.0  # e^23: more than the sums have terms
_MOST_WORK = 2**32  # multiplications for the stationary law: some seconds
_MOST_CARRIED = 2**30  # and for one figure
_MOST_STEPS = 5_000
_ENTRIES = 2**23  # numbers remembered at a time
_MOST_LAWS = 2**8
_SETTLED = 1e-15
_UNIT = 2.0**-53


@dataclass(frozen=True)
class SparseJointChain:
    """The chain on whole snapshots, for sparse coupling: what `JointChain` has of it that needs no kernel.

    >>> path = np.eye(12) / 2 + np.eye(12, k=1) / 4 + np.eye(12, k=-1) / 4
    >>> path[0, 0] = path[-1, -1] = 0.75
    >>> joint = SparseJointChain(CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], path))
    >>> joint.has_law, len(joint.stationary), joint.error < 1e-11
    (True, 4096, True)
    """

    model: CouplingMarkovChain

    @property
    def shape(self) -> tuple[int, ...]:
        """States of each sequence: the joint laws as tensors."""
        return (self.model.states,) * self.model.sequences

    @cached_property
    def snapshots(self) -> Integers:
        """Every joint state, one a row, the last sequence counting fastest."""
        return np.indices(self.shape).reshape(self.model.sequences, -1).T.astype(np.int64)

    @cached_property
    def elimination(self) -> Elimination:
        """How laws are carried on."""
        return Elimination(self.model)

    @cached_property
    def log_smallest(self) -> float:
        """No step between two snapshots has a probability whose logarithm is less."""
        with np.errstate(divide="ignore"):
            return float(np.log(self._ranges[0].min(axis=1)).sum())

    @cached_property
    def has_law(self) -> bool:
        """Whether the stationary law can be reached, within the work that is allowed, and floats hold it."""
        return self.log_smallest >= np.log(LEAST) + _SPARE and self._steps > 0

    @property
    def stationary(self) -> Floats:
        """The stationary law π of snapshots, as it came out: not scaled to one."""
        return self._settled[0]

    @property
    def error(self) -> float:
        """What any entry of the stationary law may be off by, relatively."""
        return self._settled[1]

    def most_laws(self) -> int:
        """Return how many laws may be carried on at a time."""
        entries = self.model.states ** (self.model.sequences + max(0, self.elimination.width))
        return min(int(_ENTRIES // entries), _MOST_LAWS)

    def check_work(self, outputs: QueryTable, oldest: int) -> None:
        """Raise if laws of so many values, carried on for so long, would take too much memory or time."""
        values = 1.0
        for output, compared in enumerate(outputs.largest):
            single = QueryTable(outputs.parts[output : output + 1], (compared,))
            values *= len(np.unique(single.values(self.snapshots)))
        if values > self.most_laws() or values * oldest * self.elimination.work > _MOST_CARRIED:
            raise InvalidArgument("query", int(values), "a query with fewer values, or younger ages")

    def carried(self, laws: Floats, steps: int) -> Floats:
        """Return every law (a row) so many steps later."""
        for _ in range(steps):
            laws = self.elimination.step(laws)
        return laws

    def carried_error(self, steps: int) -> float:
        """Return what a law that was begun as stationary and carried on may be off by in any entry, relatively.

        Its entries may have been added up on the way, all of them into one.
        """
        return self.error + steps * self.elimination.rounding + 2 * len(self.snapshots) * _UNIT

    @cached_property
    def _ranges(self) -> tuple[Floats, Floats]:
        """The least and largest p_j(u | x) over all snapshots x, as sequences × next states."""
        ends = (self.model.moves.min(axis=2), self.model.moves.max(axis=2))
        low, high = (np.add.reduceat(end, self.model.starts[:-1], axis=0) for end in ends)
        return low, high

    @cached_property
    def _steps(self) -> int:
        """After how many steps any two laws are so near that none of their entries can differ; 0 if too many."""
        high = float(np.log(self._ranges[1].max(axis=1)).sum())
        wanted = np.log(_SETTLED) - max(0.0, high - self.log_smallest)
        spread = contraction(self.model)
        apart: Floats = np.ones(self.model.sequences)
        for steps in range(1, min(_MOST_STEPS, _MOST_WORK // max(1, self.elimination.work)) + 1):
            apart = spread @ apart
            if apart.sum() <= 0 or np.log(apart.sum()) <= wanted:
                return steps
        return 0

    @cached_property
    def _settled(self) -> tuple[Floats, float]:
        most = np.ones(1)
        for row in self._ranges[1]:
            most = np.multiply.outer(most, row).ravel()
        law = np.full((1, len(most)), 1 / len(most))
        apart: Floats = np.ones(self.model.sequences)
        spread, steps, off = contraction(self.model), 0, np.inf
        while off > _SETTLED:  # `_steps` says when this ends at the latest; it mostly ends long before
            law, steps = self.elimination.step(law), steps + 1
            off = 4 * float(apart.sum()) * float((most / law[0]).max())
            apart = spread @ apart
        return law[0], off + (steps + 1) * self.elimination.rounding

"""One step of all sequences together, where each hears few others: sequence after sequence, never as a matrix.

The joint kernel is a product, K(x' | x) = Π_j p_j(x'_j | x), and p_j looks at the sequences that j hears. So the next
law Σ_x L(x) K(x' | x) can be made by *variable elimination*: bring in x'_j one sequence after another, and sum x_k out
as soon as everyone who hears k has moved. What lies between has m^(s + w) entries, where w is small for paths, rings
and trees (a width of the coupling graph), against m^(2s) of the kernel. Nothing is subtracted.

*Sparse coupling* under "Exact leakage" in ``docs/explanation/proofs/correlated.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from chronodp.correlated.chain import CouplingMarkovChain, Floats

__all__ = ["Elimination", "Stage"]

_UNIT = 2.0**-53


@dataclass(frozen=True, slots=True)
class Stage:
    """One sequence moves.

    Attributes:
        head: the sequence.
        kept: sequences it hears whose last states are needed again.
        gone: sequences it hears, as the last one to do so.
        alive: how many states, old and new, are remembered afterwards (an exponent).
    """

    head: int
    kept: tuple[int, ...]
    gone: tuple[int, ...]
    alive: int


@dataclass(frozen=True)
class Elimination:
    """The order in which the sequences of a chain move so that little is remembered on the way.

    >>> path = np.eye(12) / 2 + np.eye(12, k=1) / 4 + np.eye(12, k=-1) / 4
    >>> path[0, 0] = path[-1, -1] = 0.75
    >>> Elimination(CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], path)).width
    1
    """

    model: CouplingMarkovChain

    @cached_property
    def heard(self) -> list[frozenset[int]]:
        """Whom each sequence hears; an edge with equal columns carries nothing and counts as none."""
        telling = np.ptp(self.model.moves, axis=2).max(axis=1) > 0
        return [
            frozenset(self.model.tails[(self.model.heads == head) & telling].tolist())
            for head in range(self.model.sequences)
        ]

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The order, tried from every sequence: the one whose stages have the fewest entries in all."""
        tried = [self._greedy(first) for first in range(self.model.sequences)]
        return min(tried, key=lambda stages: sum(self.model.states**stage.alive for stage in stages))

    @cached_property
    def width(self) -> int:
        """By how many sequences the most that is remembered passes the number of sequences."""
        return max(stage.alive for stage in self.stages) - self.model.sequences

    @property
    def work(self) -> int:
        """Multiplications of a step of one law, about."""
        return int(sum(self.model.states ** (stage.alive + len(stage.gone)) for stage in self.stages))

    @property
    def rounding(self) -> float:
        """What a step of a law may be off by, relatively, in each entry: all numbers are positive."""
        # A sum of n positive terms is off by n - 1 roundings at most, a factor by one for each sequence heard.
        sums = sum(self.model.states ** len(stage.gone) + 2 for stage in self.stages)
        return float((sums + len(self.model.heads)) * _UNIT)

    @cached_property
    def factors(self) -> tuple[Floats, ...]:
        """p_j of each stage, as kept states × next states × gone states."""
        return tuple(self._factor(stage) for stage in self.stages)

    def step(self, laws: Floats) -> Floats:
        """Return every law (a row over snapshots, the last sequence counting fastest) one step later."""
        m, s = self.model.states, self.model.sequences
        # The rows go last, so that what a stage leaves alone lies together in memory.
        tensor = np.ascontiguousarray(laws.T).reshape((m,) * s + (len(laws),))
        places: list[tuple[bool, int]] = [(False, sequence) for sequence in range(s)]
        unheard = tuple(k for k in range(s) if all(k not in heard for heard in self.heard))
        if unheard:
            tensor = tensor.sum(axis=unheard)
            places = [place for place in places if place[1] not in unheard]
        for stage, factor in zip(self.stages, self.factors, strict=True):
            front = [(False, k) for k in (*stage.kept, *stage.gone)]
            rest = [place for place in places if place not in front]
            order = [places.index(place) for place in (*front, *rest)]
            shaped = tensor.transpose(*order, len(places)).reshape(len(factor), factor.shape[2], -1)
            made = np.matmul(factor, shaped)
            places = [*front[: len(stage.kept)], (True, stage.head), *rest]
            tensor = made.reshape((m,) * len(places) + (len(laws),))
        order = [places.index((True, sequence)) for sequence in range(s)]
        return np.ascontiguousarray(tensor.transpose(*order, s).reshape(-1, len(laws)).T)

    def _greedy(self, first: int) -> tuple[Stage, ...]:
        waiting = {k: {j for j, heard in enumerate(self.heard) if k in heard} for k in range(self.model.sequences)}
        waiting = {k: heads for k, heads in waiting.items() if heads}
        left, alive = set(range(self.model.sequences)), len(waiting)
        stages: list[Stage] = []
        while left:
            head = first if not stages else min(left, key=lambda j: self._price(j, waiting))
            for k in self.heard[head]:
                waiting[k].discard(head)
            gone = tuple(sorted(k for k in self.heard[head] if not waiting[k]))
            kept = tuple(sorted(self.heard[head].difference(gone)))
            for k in gone:
                del waiting[k]
            left.discard(head)
            alive += 1 - len(gone)
            stages.append(Stage(head, kept, gone, alive))
        return tuple(stages)

    def _price(self, head: int, waiting: dict[int, set[int]]) -> tuple[int, int, int]:
        """Prefer who sums most out, then who is heard together with few that still wait."""
        gone = sum(waiting[k] == {head} for k in self.heard[head])
        return (-gone, sum(len(waiting[k]) for k in self.heard[head]), head)

    def _factor(self, stage: Stage) -> Floats:
        model = self.model
        edges = range(int(model.starts[stage.head]), int(model.starts[stage.head + 1]))
        heard = (*stage.kept, *stage.gone)
        made = np.zeros((model.states,) * (len(heard) + 1))
        for edge in edges:
            tail = int(model.tails[edge])
            if tail in heard:
                shape = [model.states if k == tail else 1 for k in heard]
                made += model.moves[edge].reshape(model.states, *shape)
            else:
                made += model.moves[edge, :, 0].reshape(model.states, *[1] * len(heard))
        table = made.reshape(model.states, model.states ** len(stage.kept), -1)
        return np.ascontiguousarray(table.swapaxes(0, 1))

"""The factors of a window of the past, with a corner for everything outside that could matter.

Every factor is a table over the sites that it touches, and where something outside enters, over the corners of what
that can be. Factors that touch one site alone are multiplied with each other before their corners are taken: only the
ratios of a state's weight to the first state's count, and each lies in an interval.
"""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from chronodp.correlated.bounds.reader import Reader, Site
from chronodp.correlated.chain import CouplingMarkovChain, Floats

__all__ = ["Factors", "Hearing", "window_factors"]

_UNIT = 2.0**-53
_OUTWARD = 2.0**-44  # what ranges are widened by, relatively
_MOST_LABELS = 50  # of numpy's einsum
_LEAST = 1e-280


class Hearing:
    """Who hears whom in a chain, looked up by sequence.

    Attributes:
        parents: whom each sequence hears, edges that carry nothing left out.
        children: who hears each sequence.
        moves: λ P of each pair (head, tail) that tells.
        constant: what the edges that carry nothing give to each next state.
    """

    def __init__(self, model: CouplingMarkovChain) -> None:
        self.states = model.states
        self.parents: list[list[int]] = [[] for _ in range(model.sequences)]
        self.children: list[list[int]] = [[] for _ in range(model.sequences)]
        self.moves: dict[Site, Floats] = {}
        self.constant = np.zeros((model.sequences, model.states))
        telling = np.ptp(model.moves, axis=2).max(axis=1) > 0
        for head, tail, move, tells in zip(
            model.heads.tolist(), model.tails.tolist(), model.moves, telling, strict=True
        ):
            if tells:
                self.parents[head].append(tail)
                self.children[tail].append(head)
                self.moves[head, tail] = move
            else:
                self.constant[head] += move[:, 0]

    def outside(self, head: int, inside: list[int]) -> tuple[Floats, Floats, list[int]]:
        """Return the least and most that parents outside give to each next state, rounded outward, and who they are."""
        others = [tail for tail in self.parents[head] if tail not in inside]
        low, high = self.constant[head].copy(), self.constant[head].copy()
        for tail in others:
            low += self.moves[head, tail].min(axis=1)
            high += self.moves[head, tail].max(axis=1)
        return (low * (1 - _OUTWARD), high * (1 + _OUTWARD), others) if others else (low, high, others)

    def table(self, head: int, inside: list[int], rest: Floats) -> Floats:
        """Return p_head with the given rests, as rests × next states × states of each parent inside."""
        made = np.zeros((self.states,) * (len(inside) + 1))
        for place, tail in enumerate(inside):
            shape = [1] * len(inside)
            shape[place] = self.states
            made = made + self.moves[head, tail].reshape(self.states, *shape)
        return np.asarray(made[None] + rest.reshape(len(rest), self.states, *[1] * len(inside)))


@dataclass(eq=False)
class Factors:
    """All factors of a window: tables and what their axes are.

    Labels: one for each site of the window, one for each set of corners, one for each present that is known; the last
    is the state of the target.
    """

    sites: list[Site]
    states: int
    tables: list[tuple[Floats, list[int]]]
    corners_of: list[tuple[int, int]]
    presents: list[int]

    @property
    def corners(self) -> int:
        """How many cases there are, presents included."""
        count = int(self.states ** len(self.presents))
        for _, size in self.corners_of:
            count *= size
        return count

    @property
    def rounding(self) -> float:
        """What a difference of two logarithms of sums may be off by."""
        return float(8 * (16 * len(self.tables) + self.states ** len(self.sites)) * _UNIT)

    def digest(self, densities: list[tuple[Floats, list[Site]]], heard: Floats) -> bytes:
        """Return what tells this window, what is read of it and how loudly, from any other."""
        place = {site: label for label, site in enumerate(self.sites)}
        read = [(density, [place[site] for site in sites]) for density, sites in densities]
        content = hashlib.blake2b(f"{self.states} {len(self.sites)} {self.corners_of} {self.presents}".encode())
        for table, labels in [*self.tables, (heard, []), *read]:
            content.update(f"{table.shape} {labels}".encode())
            content.update(np.ascontiguousarray(table).tobytes())
        return content.digest()

    def summed(self, densities: list[tuple[Floats, list[Site]]]) -> Floats:
        """Return the sum over the window, as states of the target × presents × corners and points of the densities."""
        place = {site: label for label, site in enumerate(self.sites)}
        free = len(self.sites) + len(self.corners_of) + len(self.presents)
        operands: list[Any] = []
        for table, labels in self.tables:
            operands += [table, labels]
        points = []
        for number, (density, sites) in enumerate(densities):
            points.append(free + 1 + number)
            operands += [density, [points[-1], *(place[site] for site in sites)]]
        corners = [label for label, _ in self.corners_of]
        made = np.einsum(*operands, [free, *self.presents, *corners, *points], optimize="greedy")
        return np.asarray(made).reshape(self.states, self.states ** len(self.presents), -1)


def window_factors(hearing: Hearing, target: int, inside: list[Site], reader: Reader) -> Factors | None:
    """Return the factors of a window that holds all parents of the target; None if they are too many or too small."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # what comes of that is not finite, and refused
        return _Builder(hearing, target, inside, reader).finished()


class _Builder:
    def __init__(self, hearing: Hearing, target: int, inside: list[Site], reader: Reader) -> None:
        self.hearing, self.target, self.reader = hearing, target, reader
        self.sites, self.m = inside, hearing.states
        self.place = {site: label for label, site in enumerate(inside)}
        self.tables: list[tuple[Floats, list[int]]] = []
        self.corners_of: list[tuple[int, int]] = []
        self.presents: list[int] = []
        self.next = len(inside)
        # Of each site, the intervals of factors that touch it alone: their presents, and lows and highs of ratios.
        self.alone: dict[Site, list[tuple[list[int], Floats, Floats]]] = {site: [] for site in inside}

    def finished(self) -> Factors | None:
        for site in self.sites:
            self._own(site)
        for child, inside, age in self._outside_children():
            self._child(child, inside, age)
        for site, intervals in self.alone.items():
            if intervals:
                self._corners_alone(site, intervals)
        near = self.hearing.parents[self.target]
        last = self.hearing.table(self.target, near, self.hearing.constant[self.target][None])[0]
        labels = self.next
        self.tables.append((last, [labels, *(self.place[j, 1] for j in near)]))
        if labels + len(self.reader.outputs.largest) >= _MOST_LABELS:
            return None
        if not all(np.all((table > 0) & np.isfinite(table)) for table, _ in self.tables):
            return None
        least = sum(float(np.log(table.min())) for table, _ in self.tables)
        most = sum(float(np.log(table.max())) for table, _ in self.tables)
        if min(least, -most) < np.log(_LEAST):
            return None
        return Factors(self.sites, self.m, self.tables, self.corners_of, self.presents)

    def _label(self) -> int:
        self.next += 1
        return self.next - 1

    def _inside(self, head: int, age: int) -> list[int]:
        return [tail for tail in self.hearing.parents[head] if (tail, age) in self.place]

    def _own(self, site: Site) -> None:
        """The factor by which a site came from its parents."""
        j, age = site
        inside = self._inside(j, age + 1)
        low, high, others = self.hearing.outside(j, inside)
        if not inside and others:
            self._interval(site, [], low / high[0], high / low[0])
            return
        rests = self._rests(j, others, low, high) if others else low[None]
        table = self.hearing.table(j, inside, rests)
        self._add(table, [self.place[site], *(self.place[tail, age + 1] for tail in inside)])

    def _rests(self, head: int, others: list[int], low: Floats, high: Floats) -> Floats:
        """Corners of what parents outside give: a vector over next states."""
        if self.m == 2:  # what one state does not get the other does
            return np.array([[low[0], high[1]], [high[0], low[1]]])
        if self.m ** len(others) <= 2**self.m:
            columns = [self.hearing.moves[head, tail].T for tail in others]
            return np.array([self.hearing.constant[head] + sum(pick) for pick in itertools.product(*columns)])
        return np.array(list(itertools.product(*zip(low, high, strict=True))))

    def _outside_children(self) -> list[tuple[int, list[int], int]]:
        """Who outside hears the window: the child, its parents inside, and their age."""
        pairs = sorted({(age, child) for j, age in self.sites for child in self.hearing.children[j]})
        return [
            (child, self._inside(child, age), age)
            for age, child in pairs
            if (child, age - 1) not in self.place and (child, age) != (self.target, 1)
        ]

    def _child(self, child: int, inside: list[int], age: int) -> None:
        """The factor by which an outside child speaks for states of its parents."""
        if age == 1 and not self.reader.known and not self.reader.reads_present(child):
            return  # nobody looks at it: it sums out
        low, high, others = self.hearing.outside(child, inside)
        rests = np.stack([low, high]) if others else low[None]
        table = self.hearing.table(child, inside, rests)  # rests × outcomes × states
        known = age == 1 and self.reader.known
        if len(inside) == 1:
            ratios = table / table[:, :, :1]
            if known:
                present = self._label()
                self.presents.append(present)
                self._interval((inside[0], age), [present], ratios.min(axis=0), ratios.max(axis=0))
            else:
                self._interval((inside[0], age), [], ratios.min(axis=(0, 1)), ratios.max(axis=(0, 1)))
            return
        labels = [self.place[tail, age] for tail in inside]
        if known:
            present = self._label()
            self.presents.append(present)
            self._add(table, [present, *labels])
        else:
            self._add(table.reshape(-1, *table.shape[2:]), labels)

    def _interval(self, site: Site, presents: list[int], least: Floats, most: Floats) -> None:
        self.alone[site].append((presents, least * (1 - _OUTWARD), most * (1 + _OUTWARD)))

    def _corners_alone(self, site: Site, intervals: list[tuple[list[int], Floats, Floats]]) -> None:
        """Multiply intervals of one site, each over presents of its own, and take the corners of the product."""
        labels: list[int] = []
        low, high = np.ones(self.m), np.ones(self.m)
        for presents, least, most in intervals:
            if presents:
                low, high = low[..., None, :] * least, high[..., None, :] * most
                labels += presents
            else:
                low, high = low * least, high * most
        low[..., 0] = high[..., 0] = 1.0
        picks = itertools.product(*[((low, high) if state else (low,)) for state in range(self.m)])
        corners = np.stack([np.stack([pick[state][..., state] for state in range(self.m)], axis=-1) for pick in picks])
        self._add(corners, [*labels, self.place[site]])

    def _add(self, table: Floats, labels: list[int]) -> None:
        """Take a table whose first axis is corners; a single one is no case."""
        if len(table) == 1:
            self.tables.append((table[0], labels))
            return
        corner = self._label()
        self.corners_of.append((corner, len(table)))
        self.tables.append((table, [corner, *labels]))

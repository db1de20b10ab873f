"""A bound from a window of the past around one sequence: exact inside it, the worst of everything outside.

Let x and x' be presents that differ in sequence i, which is in state a or b, and let S be all that lies outside a
window of sites (sequence, age). With N_a(y | S) the sum over the window of all factors that touch it, times the density
of y, and P(S) the product of all other factors,

    p(y | x) / p(y | x') = Σ_S P(S) N_a(y | S) / Σ_S P(S) N_b(y | S)  ·  Σ_S P(S) M_b(S) / Σ_S P(S) M_a(S)
                        ≤ max_S N_a(y | S) / N_b(y | S)  ·  max_S M_b(S) / M_a(S),

M being N without the density. What lies outside enters through few numbers: what the outside parents of a site give,
and how likely an outside child makes its parents. N and M are linear in each of them, so that both ratios are monotone
in each: the worst is at a corner of the ranges that these numbers can take, and corners are listed. Nothing is assumed
about the law with which the past began.

*Window* under "Bounds" in ``docs/explanation/proofs/correlated.md``.
"""

from __future__ import annotations

import itertools
from functools import cached_property

import numpy as np

from chronodp.correlated.bounds.one_step import blunted
from chronodp.correlated.bounds.reader import Reader, Site
from chronodp.correlated.bounds.window_factors import Factors, Hearing, window_factors
from chronodp.correlated.chain import CouplingMarkovChain, Floats, Integers

__all__ = ["Windows"]

_BEYOND = 6  # ages followed past the oldest released, as by space-time Dobrushin
_CORNERS = 2**20  # looked at in all: a few seconds
_MOST_CORNERS = 2**16  # for one sequence
_FEWEST = 2**12
_MOST_INSIDE = 2**12  # joint states of a window
_MOST_OUTPUTS = 8
_MOST_SEEN = 10_000
_QUIET = 4.0  # log ranges of a release that blunt what a window tells by more than a quarter
_LEAST = 1e-280


class Windows:
    """Windows of one model.

    Args:
        model: the chain.
    """

    def __init__(self, model: CouplingMarkovChain) -> None:
        self.model = model
        self._seen: dict[bytes, float] = {}

    @cached_property
    def hearing(self) -> Hearing:
        """Who hears whom."""
        return Hearing(self.model)

    def bounds(self, targets: Integers, reader: Reader) -> Floats:
        """Return the bound for each of the given sequences; infinite where there are too many, or none fits."""
        most = min(_CORNERS // max(1, len(targets)), _MOST_CORNERS)
        if most < _FEWEST or len(reader.outputs.largest) > _MOST_OUTPUTS:
            return np.full(len(targets), np.inf)
        return np.asarray([self.bound(target, reader, most=most) for target in targets.tolist()])

    def bound(self, target: int, reader: Reader, *, most: int) -> float:
        """Return the bound for one sequence, from the deepest windows of at most so many corners; infinite if none.

        Wide windows follow all that the target hears from age to age, narrow ones the target alone: the smaller counts.
        """
        found = np.inf
        for narrow in (False, True):
            deepest, unread = None, None
            for depth in range(2 if narrow else 1, reader.oldest + _BEYOND + 1):
                inside = self.inside(target, depth, narrow=narrow)
                if not reader.adds(inside) or self.model.states ** len(inside) > _MOST_INSIDE:
                    break
                made = window_factors(self.hearing, target, inside, reader)
                if made is None or made.corners * _points(reader, inside) > most:
                    break
                deepest = made, inside
                unread = unread if reader.reads(inside) else deepest
            if deepest is not None:
                found = min(found, self._worst(*deepest, reader, target))
            if unread is not None and unread is not deepest and reader.heard[target] < _QUIET:
                found = min(found, self._worst(*unread, reader, target))
        return found

    def inside(self, target: int, depth: int, *, narrow: bool) -> list[Site]:
        """Return the sites of a window."""
        near = self.hearing.parents[target]
        sites = [(j, 1) for j in near]
        later = [target] if narrow else near
        return sites + [(j, age) for age in range(2, depth + 1) for j in later]

    def _worst(self, made: Factors, inside: list[Site], reader: Reader, target: int) -> float:
        """Return what a window certifies; windows that look alike, as in regular chains, are looked at once."""
        densities, heard = _densities(reader, inside), reader.heard[target : target + 1]
        digest = made.digest(densities, heard)
        if digest not in self._seen:
            if len(self._seen) >= _MOST_SEEN:
                self._seen.clear()
            worst = self._largest(made, densities)
            # Given what is outside, a release that reads nothing inside does not depend on the target: as for the last
            # step, noise blunts it.
            self._seen[digest] = worst if densities else float(blunted(np.array([worst]), heard)[0])
        return self._seen[digest]

    def _largest(self, made: Factors, densities: list[tuple[Floats, list[Site]]]) -> float:
        plain, told = made.summed([]), made.summed(densities)
        if not (plain.min(initial=1.0) >= _LEAST and told.min(initial=1.0) >= _LEAST):
            return np.inf
        plain, told = np.log(plain), np.log(told)
        worst = 0.0
        for a, b in itertools.permutations(range(self.model.states), 2):
            high = (told[a] - told[b]).max(axis=1)
            low = (plain[a] - plain[b]).min(axis=1)
            worst = max(worst, float((high - low).max()))
        return worst + made.rounding


def _points(reader: Reader, inside: list[Site]) -> int:
    """Count the outputs y at which the largest ratio can lie."""
    count = 1
    for output in range(len(reader.outputs.largest)):
        count *= len(_values(reader, output, inside)[1])
    return count


def _values(reader: Reader, output: int, inside: list[Site]) -> tuple[Floats, Floats]:
    """Return what the window contributes to an output, as a tensor over the sites read, and its different values."""
    grid = np.zeros(())
    for j, _ in reader.sites(output, inside):
        grid = np.add.outer(grid, reader.outputs.parts[output, j])
    return grid, np.unique(grid)


def _densities(reader: Reader, inside: list[Site]) -> list[tuple[Floats, list[Site]]]:
    """Return for each output that reads the window the density at each point (a row) as a tensor over sites."""
    found = []
    for output in range(len(reader.outputs.largest)):
        sites = reader.sites(output, inside)
        if sites:
            grid, points = _values(reader, output, inside)
            apart = np.abs(np.subtract.outer(points, grid)) / reader.scale
            # A common factor of a point cancels: the nearest value has density one.
            nearest = apart.reshape(len(points), -1).min(axis=1).reshape(-1, *[1] * grid.ndim)
            found.append((np.exp(nearest - apart), sites))
    return found

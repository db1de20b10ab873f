"""Steps 1 and 2: how much a typical voter holds, and how much those at the upper end do.

Of everybody's mean over all periods the median is chosen on an open grid; then, from there upwards, how far it is worth
to look: a further octave must hold more voters to win. Steps 1 and 2 of "What is computed" in
``docs/explanation/proofs/finding.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from chronodp.engines import Sizes
from chronodp.errors import InvalidArgument
from chronodp.postprocess import Law
from chronodp.privacy import Grid
from chronodp.randomness import Entropy
from chronodp.selection import ChoiceDesign, ExponentialMechanism, PermuteAndFlip, design_choice, pick_whole
from chronodp.series.table import Table
from chronodp.series.voters import voters_of

__all__ = ["FINE", "WIDEST", "Scale", "mechanism_for", "median_choice", "median_utilities", "voters_needed"]

_LEAST, _MOST = -40, 80
WIDEST = range(_LEAST, _MOST + 1)  # the open grid spans 2^-20 to 2^40 in powers of √2, whatever the data
FINE = Grid(2.0**-22)  # a row of 2^40 has 2^62 steps
_BELOW, _ABOVE = -2, 20  # half octaves about the median within which the upper end is looked for
_PER_OCTAVE = 2.2  # what a further octave costs in the exponent: overshooting falls faster than noise grows
_MISS = 1e-3  # the chance of a far miss at which the voters needed are counted
_PARTS = 2**20  # utilities of the second step in parts of a voter, for its public penalty


def mechanism_for(law: Law) -> ExponentialMechanism | PermuteAndFlip:
    """Return what draws choices: the exponential mechanism is cheap beside Gaussian noise, and only there."""
    return ExponentialMechanism() if law == "gaussian" else PermuteAndFlip()


@dataclass(frozen=True)
class Scale:
    """The choice of a median and of an upper end, all public.

    Attributes:
        table: whose cells.
        law: of the noise that is paid beside it.
        median_epsilon: of the first choice.
        tail_epsilon: of the second.
        between: public ends of the largest size of a cell; None for the open grid.
        reach: the largest size where it is declared, and so not looked for.
    """

    table: Table
    law: Law
    median_epsilon: float
    tail_epsilon: float
    between: tuple[float, float] | None = None
    reach: float | None = None

    @property
    def grid(self) -> Grid:
        """The steps in which cells are added up here."""
        return FINE

    @cached_property
    def first(self) -> range:
        """The half octaves of the open grid."""
        if self.between is None and self.reach is None:
            return WIDEST
        low, high = (self.reach, self.reach) if self.reach is not None else self.between or (1.0, 1.0)
        if not 2.0 ** (_LEAST / 2) <= low <= high <= 2.0 ** (_MOST / 2):
            name = "between" if self.reach is None else self.table.measure.size_name
            raise InvalidArgument(name, (low, high), "within 2^-20 … 2^40: give the column in other units")
        # A mean over all periods is at least that of one such cell, and at most that of all; of a period, the cell.
        spread = self.table.horizon if voters_of(self.table).whole_person else 1
        places = self.table.max_groups
        first, last = 2 * math.log2(low / spread), 2 * math.log2(high * places)
        return range(max(math.floor(first), _LEAST), min(math.ceil(last), _MOST) + 1)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """What voters hold over all periods at each point of the grid, with those for the upper end; in steps."""
        over = self.table.horizon if voters_of(self.table).whole_person else 1
        last = self.first[-1] + _ABOVE
        points = (2.0 ** (index / 2) * over / FINE.step for index in range(self.first[0] + _BELOW, last + 1))
        return tuple(max(1, round(point)) for point in points)

    @property
    def before(self) -> int:
        """How many sizes stand before those of the grid of medians."""
        return -_BELOW

    @property
    def top(self) -> int:
        """The most that one cell counts, in steps: what is declared, or so much that its voter is above every size."""
        return self.sizes[-1] + 1 if self.reach is None else round(self.reach / FINE.step)

    @cached_property
    def median(self) -> ChoiceDesign:
        """The first choice as it is drawn."""
        return median_choice(self.table, self.law, list(self.first), self.median_epsilon)

    @cached_property
    def tail(self) -> ChoiceDesign:
        """The second choice as it is drawn, by half octaves from the median."""
        voters = voters_of(self.table)
        return design_choice(
            mechanism_for(self.law),
            [str(index) for index in range(_BELOW, _ABOVE + 1)],
            unit=self.table.claimed,
            # A count above moves by 1 for each voter, and all counts in one direction where voters only come or go.
            change=float(voters.held * _PARTS),
            monotone=not voters.altered,
            epsilon=self.tail_epsilon,
            purpose="half octaves of the upper end of means",
        )

    @property
    def needed(self) -> int:
        """Voters that it takes so that a far miss has a chance of about a thousandth."""
        return voters_needed(self.table, self.median_epsilon, len(self.first))

    def pick(self, counts: Sizes, entropy: Entropy) -> tuple[int, int]:
        """Draw the half octaves of the median and of the upper end."""
        middle = slice(self.before, self.before + len(self.first))
        place = pick_whole(self.median, median_utilities(counts.above[middle], counts.voters), entropy)
        above = counts.above[place : place + len(self.tail.candidates)]
        chosen = pick_whole(self.tail, self.tail_utilities(above), entropy)
        return self.first[place], self.first[place] + _BELOW + chosen

    def tail_utilities(self, above: tuple[int, ...]) -> list[int]:
        """Return -#above - penalty for each half octave from the median, in parts of a voter."""
        # The penalty is 2.2 an octave in the exponent, whatever epsilon is: public, so it moves nothing.
        voters = voters_of(self.table)
        factor = 1 if self.tail.monotone else 2
        octave = _PER_OCTAVE * factor * voters.held * _PARTS / self.tail_epsilon
        return [-count * _PARTS - round(octave * index / 2) for index, count in enumerate(above)]


def median_choice(table: Table, law: Law, indices: list[int], epsilon: float) -> ChoiceDesign:
    """Return the choice of a median among half octaves, as it is drawn."""
    return design_choice(
        mechanism_for(law),
        [str(index) for index in indices],
        unit=table.claimed,
        change=float(_moved(table)),
        monotone=False,
        epsilon=epsilon,
        purpose="half octaves of the median of means",
    )


def voters_needed(table: Table, epsilon: float, points: int) -> int:
    """Return how many voters it takes so that a far miss of the median has a chance of about a thousandth."""
    return math.ceil(2 * _moved(table) / epsilon * math.log(points / _MISS))


def _moved(table: Table) -> int:
    """Return how far one unit moves above - below: by 1 for each voter that comes or goes, by 2 if it is altered."""
    voters = voters_of(table)
    return voters.held * (2 if voters.altered else 1)


def median_utilities(above: tuple[int, ...], voters: int) -> list[int]:
    """Return twice u(c) = -max(0, above(c) - below(c), below(c⁻) - above(c⁻)) / 2 for each size.

    c⁻ is the next smaller size, and below the smallest everybody is above. 0 where the median lies in (c⁻, c]; plain
    |above - below| would tie every size where all voters hold the same.
    """
    margins = [2 * count - voters for count in above]  # above - below, as below is the rest
    before = [voters, *margins[:-1]]
    return [-max(0, margin, -last) for margin, last in zip(margins, before, strict=True)]

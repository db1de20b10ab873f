"""Step 1: the size of a typical cell, chosen by the vote of all.

Everybody has one vote, split over their cells that are not 0. A size wins if the median lies between it and the next
smaller one. Step 1 of "What is computed" in ``docs/explanation/proofs/finding.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from chronodp.engines import VOTE, Sizes
from chronodp.errors import InvalidArgument
from chronodp.postprocess import Law
from chronodp.privacy import Grid
from chronodp.randomness import Entropy
from chronodp.selection import (
    ChoiceDesign,
    ExponentialMechanism,
    PermuteAndFlip,
    design_choice,
    pick_whole,
)
from chronodp.series.table import Table
from chronodp.series.voters import voters_of

__all__ = ["Scale", "mechanism_for", "scale_utilities"]

_LEAST, _MOST = -20, 40  # the open grid spans 2^-20 to 2^40, whatever the data
_FINE = Grid(2.0**-22)
_MISS = 1e-3  # the chance of a far miss at which the people needed are counted


def mechanism_for(law: Law) -> ExponentialMechanism | PermuteAndFlip:
    """Return what draws choices: the exponential mechanism is cheap beside Gaussian noise, and only there."""
    return ExponentialMechanism() if law == "gaussian" else PermuteAndFlip()


@dataclass(frozen=True)
class Scale:
    """The choice of a scale, all public.

    Attributes:
        table: whose cells.
        law: of the noise that is paid beside it.
        epsilon: of the choice.
        between: public ends of the search; None for the open grid.
    """

    table: Table
    law: Law
    epsilon: float
    between: tuple[float, float] | None = None

    @property
    def grid(self) -> Grid:
        """The steps in which cells are added up here."""
        return _FINE

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The grid of sizes, powers of √2, in ascending steps."""
        low, high = (2.0**_LEAST, 2.0**_MOST) if self.between is None else self.between
        low = max(low, 1.0) if self.table.measure.whole else low
        if not 2.0**_LEAST <= low <= high <= 2.0**_MOST:
            allowed = f"within 2^{_LEAST} … 2^{_MOST}: give the column in other units"
            raise InvalidArgument("between", self.between, allowed)
        first, last = math.floor(2 * math.log2(low)), math.ceil(2 * math.log2(high))
        found = [2.0 ** (index / 2) for index in range(first, last + 1)]
        if self.table.measure.whole:
            found = sorted({float(round(size)) for size in found if round(size)})
        return tuple(dict.fromkeys(round(size / _FINE.step) for size in found))

    @cached_property
    def choice(self) -> ChoiceDesign:
        """The choice as it is drawn."""
        voters = voters_of(self.table)
        return design_choice(
            mechanism_for(self.law),
            [f"{size * _FINE.step:g}" for size in self.sizes],
            unit=self.table.claimed,
            change=float(VOTE * voters.held * (2 if voters.altered else 1)),
            monotone=False,
            epsilon=self.epsilon,
            purpose="the size of a typical cell, by votes",
        )

    @property
    def needed(self) -> int:
        """Voters that it takes so that a far miss has a chance of about a thousandth."""
        voters = voters_of(self.table)
        return math.ceil(
            2 * voters.held * (2 if voters.altered else 1) / self.epsilon * math.log(len(self.sizes) / _MISS)
        )

    def pick(self, votes: Sizes, entropy: Entropy) -> int:
        """Draw a size's place in the grid."""
        return pick_whole(self.choice, scale_utilities(votes), entropy)

    def value(self, place: int) -> float:
        """Return the size at a place of the grid."""
        return self.sizes[place] * _FINE.step


def scale_utilities(votes: Sizes) -> list[int]:
    """Return twice u(c) = -max(0, above(c) - below(c), below(c⁻) - above(c⁻)) / 2, in parts of a vote.

    c⁻ is the next smaller size, and below the smallest everybody is above. 0 where the median lies in (c⁻, c]; plain
    |above - below| would tie every size where all cells are equal.
    """
    everyone = votes.voters * VOTE
    margins = [2 * int(above) - everyone for above in votes.above]  # above - below, as below is the rest
    before = [everyone, *margins[:-1]]
    return [-max(0, margin, -last) for margin, last in zip(margins, before, strict=True)]

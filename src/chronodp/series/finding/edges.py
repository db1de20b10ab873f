"""Edges of bins from one typical size of a value, which is chosen privately; the shape about it is public.

"Edges of bins" in ``docs/explanation/proofs/finding.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from chronodp.engines import Sizes
from chronodp.errors import InvalidArgument
from chronodp.postprocess import Law
from chronodp.privacy import Grid
from chronodp.randomness import Entropy
from chronodp.selection import ChoiceDesign, pick_whole
from chronodp.series.finding.scale import FINE, WIDEST, median_choice, median_utilities, voters_needed
from chronodp.series.found import Found
from chronodp.series.table import Table

__all__ = ["FARTHEST", "Typical", "edges_at", "edges_shape"]

_APART = 2.0**-20
FARTHEST = 64.0  # times the typical size: values beyond it are left out


def edges_shape(*, from_zero: bool) -> tuple[float, ...]:
    """Return the edges of 24 bins, for a typical size of 1.

    0, then half octaves from 1/4 to 4 on both sides, then wider bins up to 64; from 0 on, bins half as wide.

    >>> [round(edge, 2) for edge in edges_shape(from_zero=False)[12:]]
    [0.0, 0.25, 0.35, 0.5, 0.71, 1.0, 1.41, 2.0, 2.83, 4.0, 8.0, 16.0, 64.0]
    """
    if from_zero:
        quarters = (*range(-9, 9), 10, 12, 14, 16, 20)
        return (0.0, *(2.0 ** (index / 4) for index in quarters), FARTHEST)
    side = (*(2.0 ** (index / 2) for index in (*range(-4, 5), 6, 8)), FARTHEST)
    return (*(-edge for edge in reversed(side)), 0.0, *side)


def edges_at(shape: Sequence[float], size: float, between: tuple[float, float] | None) -> tuple[float, ...]:
    """Return the edges for a typical size, none beyond the public end; there are as many whatever the size is.

    >>> edges_at((0.0, 0.5, 1.0, 2.0, 64.0), 4.0, (1.0, 6.0))
    (0.0, 2.0, 4.0, 5.0, 6.0)
    """
    above = [edge * size for edge in shape if edge > 0]
    if between is not None and above[-1] > between[1]:
        # None so near the end that what would lie beyond it finds no room between the two.
        kept = [edge for edge in above if edge < between[1] * (1 - _APART)]
        # What would lie beyond the end divides evenly what is left before it.
        first, left = (kept[-1] if kept else 0.0), len(above) - len(kept)
        width = between[1] - first
        above = [*kept, *(first + width * index / left for index in range(1, left)), between[1]]
    below = [-edge for edge in reversed(above)] if shape[0] < 0 else []
    return (*below, 0.0, *above)


@dataclass(frozen=True)
class Typical:
    """The choice of a typical size of a value, all public: the median of voters' mean sizes of rows that are not 0.

    Attributes:
        table: whose rows.
        law: of the noise that is paid beside it.
        epsilon: of the choice.
        between: public ends of the sizes of values; None for the open grid.
    """

    table: Table
    law: Law
    epsilon: float
    between: tuple[float, float] | None = None

    @property
    def grid(self) -> Grid:
        """The steps in which rows are added up here."""
        return FINE

    @cached_property
    def first(self) -> range:
        """The half octaves among which it is chosen."""
        if self.between is None:
            return WIDEST
        low, high = self.between
        if not 2.0 ** (WIDEST[0] / 2) <= low <= high <= 2.0 ** (WIDEST[-1] / 2):
            raise InvalidArgument("between", (low, high), "within 2^-20 … 2^40: give the column in other units")
        last = min(math.ceil(2 * math.log2(high)), WIDEST[-1])
        return range(max(math.floor(2 * math.log2(low)), WIDEST[0]), last + 1)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The same as sizes, in steps."""
        return tuple(max(1, round(2.0 ** (index / 2) / FINE.step)) for index in self.first)

    @property
    def top(self) -> int:
        """The most that one row counts, in steps."""
        return self.sizes[-1] + 1

    @cached_property
    def median(self) -> ChoiceDesign:
        """The choice as it is drawn."""
        return median_choice(self.table, self.law, list(self.first), self.epsilon)

    @property
    def needed(self) -> int:
        """Voters that it takes so that a far miss has a chance of about a thousandth."""
        return voters_needed(self.table, self.epsilon, len(self.first))

    def pick(self, counts: Sizes, entropy: Entropy) -> int:
        """Draw the half octave of the typical size."""
        return self.first[pick_whole(self.median, median_utilities(counts.above, counts.voters), entropy)]

    def found(self, half_octave: int) -> Found:
        """Return the edges that follow from a half octave: nothing of the data enters any more."""
        size = math.exp2(half_octave / 2)
        return Found(scale=size, edges=edges_at(self.table.measure.bin_edges, size, self.between))

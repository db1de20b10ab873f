"""Step 3: all bounds together, chosen by the larger of what each would take away and of its noise.

Step 3 of "What is computed" in ``docs/explanation/proofs/finding.md``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from chronodp.postprocess import Law
from chronodp.privacy import Grid
from chronodp.randomness import Entropy
from chronodp.selection import ChoiceDesign, design_choice, pick_whole
from chronodp.series.finding.scale import mechanism_for
from chronodp.series.table import Table
from chronodp.series.voters import voters_of

__all__ = ["Drawn", "Joint", "bounded_table", "candidates_up_to", "group_candidates", "period_candidates"]

_FINEST = range(-8, 13)  # quarter octaves about the upper end of means in which the largest size is looked for
_CAP_PART, _CAP_LEAST, _CAP_MOST, _CAP_TAIL = 0.07, 0.1, 16.0, 0.2
_BITS = 30  # steps that the largest size has, where sums of it fit 64 bits


def candidates_up_to(most: int) -> tuple[int, ...]:
    """Return the most, divided by powers of √2 and rounded up, down to 1; ascending.

    >>> candidates_up_to(20)
    (1, 2, 3, 4, 5, 8, 10, 15, 20)
    """
    found = {most}
    for index in itertools.count():
        found.add(math.ceil(most * 2 ** (-index / 2)))
        if 1 in found:
            return tuple(sorted(found))
    raise AssertionError("counting never ends")


def period_candidates(table: Table, finds: Container[str]) -> tuple[int, ...]:
    """Return candidates for how many periods of a person count; the declared limit where it is not found."""
    if "max_periods" in finds:
        return candidates_up_to(table.horizon)
    return (table.max_periods or table.horizon,)


def group_candidates(table: Table, finds: Container[str]) -> tuple[int, ...]:
    """Return candidates for in how many groups of a period a person counts; the declared where it is not found."""
    return candidates_up_to(table.groups) if "max_groups" in finds else (table.max_groups,)


def bounded_table(
    table: Table, *, size: float | tuple[float, ...] | None, max_periods: int | None, max_groups: int | None
) -> Table:
    """Return a table with the bounds that are given, or with edges in place of a size; the others stay."""
    measure = table.measure
    if size is not None:
        measure = measure.with_edges(size) if isinstance(size, tuple) else measure.bounded_by(size)
    return replace(
        table,
        measure=measure,
        max_periods=table.max_periods if max_periods is None else max_periods,
        max_groups=table.max_groups if max_groups is None else max_groups,
    )


@dataclass(frozen=True, slots=True)
class Drawn:
    """What noise does to numbers of so many periods and groups.

    Attributes:
        error: by noise, for sizes up to 1.
        largest: the largest size whose noise can be drawn; infinite where the grid grows with it.
    """

    error: float
    largest: float


@dataclass(frozen=True)
class Joint:
    """The choice of all bounds, given a scale; all public.

    Attributes:
        table: at the reference bounds: sizes of 1 where they are found, else as declared; all periods and groups.
        finds: the names of the bounds that are found.
        noise: of each number of periods and of groups whose noise can be drawn.
        law: of the noise.
        epsilon: of this choice.
        median: the half octave of the median of means over all periods.
        upper: the half octave of their upper end.
        between: public ends of the largest size, if there are any.
    """

    table: Table
    finds: tuple[str, ...]
    noise: Mapping[tuple[int, int], Drawn]
    law: Law
    epsilon: float
    median: int
    upper: int
    between: tuple[float, float] | None = None

    @property
    def finds_size(self) -> bool:
        """Whether the largest size is found."""
        return self.table.measure.size_name in self.finds

    @property
    def end(self) -> float:
        """The upper end of means over all periods (of what voters hold, where they are periods)."""
        return math.exp2(self.upper / 2)

    @cached_property
    def _sizes(self) -> tuple[float, ...]:
        if not self.finds_size:
            return (self.table.measure.reach,)
        if self.table.measure.norm is not None:
            # A mean of y over T periods is a length of √T y if it is even, and of T y if it lies in one of them.
            even = round(2 * math.log2(self.table.horizon))
            return self._between(self.end * 2.0 ** (index / 4) for index in range(even - 12, 2 * even + 9))
        # A mean over T periods may all lie in one of them: T times as large.
        spread = self.table.horizon if voters_of(self.table).whole_person else 1
        quarters = [*_FINEST]
        while quarters[-1] < 4 * math.log2(spread):
            quarters.append(quarters[-1] + 2)
        found = (self.end * 2.0 ** (index / 4) for index in quarters)
        if self.table.measure.whole:
            return self._between(float(max(1, round(size))) for size in found)
        return self._between(found)

    def _between(self, sizes: Iterable[float]) -> tuple[float, ...]:
        """Return candidates moved between the public ends, and to the largest whose noise can be drawn."""
        low, high = self.ends
        return tuple(sorted({min(max(size, low), high) for size in sizes}))

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Between which sizes all candidates lie; the first is above the second where no noise can be drawn."""
        low, high = self.between or (0.0, math.inf)
        if self.table.measure.whole:
            high = max(1.0, high if math.isinf(high) else math.floor(high))
            low = min(float(math.ceil(low)), high)
        return low, min(high, max(drawn.largest for drawn in self.noise.values()))

    @cached_property
    def grid(self) -> Grid:
        """The steps in which losses are added up: no sum of a person's, times their periods, leaves 64 bits."""
        if self.table.measure.norm is not None:
            # A cell counts at most r and the cap: their sum below 2^30 steps, so that products of squares fit.
            return Grid(math.ldexp(1.0, math.ceil(math.log2(self._sizes[-1] + self._cap)) - _BITS))
        spare = 54 - 2 * math.ceil(math.log2(self.table.horizon)) - math.ceil(math.log2(self.table.places))
        exponent = math.ceil(math.log2(max(self._sizes[-1], self.end))) - min(_BITS, spare)
        return Grid(math.ldexp(1.0, min(exponent, 0) if self.table.measure.whole else exponent))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Candidates for the largest size, in ascending steps of the grid."""
        return tuple(dict.fromkeys(max(1, round(size / self.grid.step)) for size in self._sizes))

    def size_of(self, steps: int) -> float:
        """Return a candidate for the largest size in the column's own numbers, never past the last end."""
        return min(steps * self.grid.step, self.ends[1])  # to the nearest step, so it may pass the end by a part of one

    @cached_property
    def periods(self) -> tuple[int, ...]:
        """Candidates for how many periods of a person count, with some number of groups."""
        return tuple(sorted({periods for periods, _ in self.noise}))

    @cached_property
    def groups(self) -> tuple[int, ...]:
        """Candidates for in how many groups of a period a person counts, with some number of periods."""
        return tuple(sorted({groups for _, groups in self.noise}))

    @property
    def cap(self) -> int:
        """The most that one voter adds to a loss, in steps; it must not depend on the candidate."""
        return max(10, round(self._cap / self.grid.step))

    @cached_property
    def _cap(self) -> float:
        # A part of the noise at the widest bounds, seen through the choice: below, losses vanish in what the choice
        # itself is off by; above, a few who hold much would decide alone. More where the upper end is far from the
        # median: there are more who hold much.
        voters, horizon = voters_of(self.table), self.table.horizon
        periods = horizon if voters.whole_person else voters.held
        noise = self.noise[max(self.noise)].error
        if self.table.measure.norm is not None:
            noise *= math.sqrt(horizon * self.table.groups)  # of a series that is 1 in every cell
        factor = 1 if not voters.altered else 2
        wide = _CAP_PART * self.epsilon / factor * noise * horizon / periods
        tail = math.exp2(_CAP_TAIL * max(0, self.upper - self.median) / 2)
        typical = min(max(wide, _CAP_LEAST), _CAP_MOST) * tail * self.end
        return typical * horizon if voters.whole_person else typical / voters.held

    @property
    def top(self) -> int:
        """The most that a cell counts, in steps: whoever has more loses the cap by every candidate."""
        return self.sizes[-1] + self.cap if self.finds_size else self.sizes[-1]

    @cached_property
    def choice(self) -> ChoiceDesign:
        """The choice as it is drawn."""
        voters = voters_of(self.table)
        return design_choice(
            mechanism_for(self.law),
            [self.words(place) for place in range(len(self.candidates))],
            unit=self.table.claimed,
            # A voter that comes raises every loss by 0 … cap and with it every error; one that is altered moves some
            # up and others down.
            change=float(voters.held * self.cap),
            monotone=not voters.altered,
            epsilon=self.epsilon,
            purpose="bounds, by what they take away and their noise",
        )

    @cached_property
    def candidates(self) -> list[tuple[int, int, int]]:
        """Every candidate whose noise can be drawn: periods, groups and size in steps, the last changing first."""
        return list(itertools.compress(self._asked, self._drawn))

    @property
    def _asked(self) -> Iterable[tuple[int, int, int]]:
        """What losses are asked of: engines add them up for each number of periods, of groups and of sizes."""
        return itertools.product(self.periods, self.groups, self.sizes)

    @cached_property
    def _drawn(self) -> list[bool]:
        """Whether the noise of each can be drawn."""
        if not self.finds_size:
            return [(periods, groups) in self.noise for periods, groups, _ in self._asked]
        return [
            (drawn := self.noise.get((periods, groups))) is not None and self.size_of(size) <= drawn.largest
            for periods, groups, size in self._asked
        ]

    def words(self, place: int) -> str:
        """Return a candidate in words."""
        periods, groups, size = self.candidates[place]
        return f"{periods} periods, {groups} groups, size {self.size_of(size)!r}"

    def utilities(self, losses: Sequence[int]) -> list[int]:
        """Return -max(loss, noise) of each candidate, in steps: it falls by 0 … cap with a loss that grows so."""
        # Losses are over all periods and groups; so is the noise here.
        cells = self.table.horizon * self.table.groups
        pairs = itertools.compress(zip(self._asked, losses, strict=True), self._drawn)
        return [-max(loss, round(size * self.noise[k, g].error * cells)) for (k, g, size), loss in pairs]

    def pick(self, losses: Sequence[int], entropy: Entropy) -> int:
        """Draw a candidate's place."""
        return pick_whole(self.choice, self.utilities(losses), entropy)

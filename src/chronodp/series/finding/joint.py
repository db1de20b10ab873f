"""Step 2: all bounds together, chosen by the error that each would leave: what it takes away, capped, and its noise.

Step 2 of "What is computed" in ``docs/explanation/proofs/finding.md``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from chronodp.privacy import Grid
from chronodp.randomness import Entropy
from chronodp.selection import ChoiceDesign, design_choice, pick_whole
from chronodp.series.finding.scale import mechanism_for
from chronodp.series.planner import design_release
from chronodp.series.split import Split
from chronodp.series.table import Table
from chronodp.series.voters import voters_of
from chronodp.series.workloads import Workload

__all__ = ["Joint", "bounded_table", "candidates_up_to"]

_BELOW, _ABOVE = -4, 14  # half octaves about the scale in which the largest size is looked for
_CAP_LEAST, _CAP_MOST, _CAP_PART = 0.7, 16.0, 8.0
_BITS = 30  # steps that the largest size has, where sums of it fit 64 bits


def candidates_up_to(most: int) -> tuple[int, ...]:
    """Return powers of √2, rounded, and the most itself.

    >>> candidates_up_to(20)
    (1, 2, 3, 4, 6, 8, 11, 16, 20)
    """
    powers = (round(2 ** (index / 2)) for index in itertools.count())
    below = itertools.takewhile(lambda power: power < most, powers)
    return (*dict.fromkeys(below), most)


def bounded_table(table: Table, *, size: float | None, max_periods: int | None, max_groups: int | None) -> Table:
    """Return a table with the bounds that are given; the others stay."""
    return replace(
        table,
        measure=table.measure if size is None else table.measure.bounded_by(size),
        max_periods=table.max_periods if max_periods is None else max_periods,
        max_groups=table.max_groups if max_groups is None else max_groups,
    )


@dataclass(frozen=True)
class Joint:
    """The choice of all bounds, given a scale; all public.

    Attributes:
        table: at the reference bounds: sizes of 1 where they are found, else as declared; all periods and groups.
        finds: the names of the bounds that are found.
        split: the price of each step.
        tuned_for: what the error is made small for.
        scale: the size of a typical cell.
    """

    table: Table
    finds: tuple[str, ...]
    split: Split
    tuned_for: Workload
    epsilon: float
    delta: float
    scale: float

    @property
    def finds_size(self) -> bool:
        """Whether the largest size is found."""
        return self.table.measure.size_name in self.finds

    @cached_property
    def grid(self) -> Grid:
        """The steps in which losses are added up: no sum of a person's, times their periods, leaves 64 bits."""
        most = 62 - 2 * math.ceil(math.log2(self.table.horizon)) - math.ceil(math.log2(self.table.places))
        top = math.ceil(math.log2(self._tops[-1]))
        return Grid(math.ldexp(1.0, min(top - min(_BITS, most), 0 if self.table.measure.whole else top)))

    @cached_property
    def _tops(self) -> tuple[float, ...]:
        if not self.finds_size:
            return (self.table.measure.reach,)
        found = [self.scale * 2.0 ** (index / 2) for index in range(_BELOW, _ABOVE + 1)]
        if self.table.measure.whole:
            return tuple(sorted({float(max(1, round(size))) for size in found}))
        return tuple(found)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Candidates for the largest size, in ascending steps of the grid."""
        return tuple(dict.fromkeys(max(1, round(size / self.grid.step)) for size in self._tops))

    @cached_property
    def periods(self) -> tuple[int, ...]:
        """Candidates for how many periods of a person count."""
        if "max_periods" in self.finds:
            return candidates_up_to(self.table.horizon)
        return (self.table.max_periods or self.table.horizon,)

    @cached_property
    def groups(self) -> tuple[int, ...]:
        """Candidates for in how many groups of a period a person counts."""
        return candidates_up_to(self.table.groups) if "max_groups" in self.finds else (self.table.max_groups,)

    @cached_property
    def noise(self) -> dict[tuple[int, int], float]:
        """The error by noise of each number of periods and of groups, for sizes up to 1."""
        reach = 1.0 if self.finds_size else self.table.measure.reach
        return {
            (periods, groups): self._error(periods, groups) / reach
            for periods in self.periods
            for groups in self.groups
        }

    def _error(self, periods: int, groups: int) -> float:
        limited = periods if "max_periods" in self.finds else None
        table = bounded_table(self.table, size=None, max_periods=limited, max_groups=groups)
        best = design_release(
            table, epsilon=self.epsilon, delta=self.delta, tuned_for=self.tuned_for, split=self.split
        )[0]
        return best.errors.rmse_mean

    @cached_property
    def cap(self) -> int:
        """The most that one voter adds to a loss, in steps; it must not depend on the candidate."""
        # About an eighth of the noise at the widest bounds, seen through the choice: below, losses vanish in what the
        # choice itself is off by; above, a few people who hold much would decide alone.
        voters, horizon = voters_of(self.table), self.table.horizon
        held = horizon if voters.whole_person else voters.held
        noise = self.noise[self.periods[-1], self.groups[-1]]
        wide = self.split.choices[-1] * noise * horizon / held / _CAP_PART
        typical = min(max(wide, _CAP_LEAST), _CAP_MOST) * self.scale / self.grid.step
        return max(1, round(typical * (horizon if voters.whole_person else 1)))

    @cached_property
    def choice(self) -> ChoiceDesign:
        """The choice as it is drawn."""
        voters = voters_of(self.table)
        return design_choice(
            mechanism_for(self.split.law),
            [self.words(place) for place in range(len(self.candidates))],
            unit=self.table.claimed,
            # A voter that comes raises every loss by 0 … cap and with it every error; one that is altered moves some
            # up and others down.
            change=float(voters.held * self.cap),
            monotone=not voters.altered,
            epsilon=self.split.choices[-1],
            purpose="bounds, by what they take away and their noise",
        )

    @property
    def candidates(self) -> list[tuple[int, int, int]]:
        """Every candidate: size in steps, periods and groups, the last changing first."""
        return list(itertools.product(self.sizes, self.periods, self.groups))

    def words(self, place: int) -> str:
        """Return a candidate in words."""
        size, periods, groups = self.candidates[place]
        return f"size {size * self.grid.step:g}, {periods} periods, {groups} groups"

    def utilities(self, losses: Sequence[int]) -> list[int]:
        """Return -⌊√(loss² + noise²)⌋ of each candidate, in steps: it falls by 0 … cap with a loss that grows so."""
        # Losses are over all periods and groups; so is the noise here.
        cells = self.table.horizon * self.table.groups
        found = []
        for (size, periods, groups), loss in zip(self.candidates, losses, strict=True):
            noise = round(size * self.noise[periods, groups] * cells)
            found.append(-math.isqrt(loss**2 + noise**2))
        return found

    def pick(self, losses: Sequence[int], entropy: Entropy) -> int:
        """Draw a candidate's place."""
        return pick_whole(self.choice, self.utilities(losses), entropy)

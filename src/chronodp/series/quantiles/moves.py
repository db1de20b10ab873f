"""What one unit moves of the counts that quantiles are made of.

"What one unit moves" of ``docs/explanation/proofs/quantiles.md``. A unit that comes or goes takes one step; one that is
replaced takes two, the old goes and the new comes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from chronodp.privacy import periods_held
from chronodp.series.shapes.reach import FilterReach, above
from chronodp.series.shapes.toeplitz import SquareRoot
from chronodp.series.table import Table

__all__ = ["Moves", "moves_of", "rank_change"]


@dataclass(frozen=True, slots=True)
class Moves:
    """What one unit moves.

    Attributes:
        steps: 1 if it comes or goes, 2 if it is replaced.
        periods: in how many periods one step moves anything.
        weight: people or rows that a step adds to, or takes from, one period.
        groups: over how many groups of a period these may be spread.
        of_people: whether each of them is one more or less in a bin of its own, and not weight that piles up in one.
        stays: whether both steps are in the same periods, and there is one group only.
    """

    steps: int
    periods: int
    weight: int
    groups: int
    of_people: bool
    stays: bool

    def l1(self) -> float:
        """Return the most that all bins of all periods change together."""
        return float(self.steps * self.periods * self.weight)

    def through(self, shape: SquareRoot, bins: int) -> float:
        """Return the l2 sensitivity of counts seen through a shape along bins.

        C has no negative entry, so what comes and what goes never add up beyond the root of the sum of their squares,
        and people are farthest seen side by side in the first bins of one group.
        """
        reach = FilterReach(shape.coefficients(bins))
        if self.of_people:
            one = reach.l2(min(self.weight, bins), together=False) ** 2
        else:
            each = self.weight // self.groups  # rows of one person in one group pile up in one bin at worst
            one = self.groups * (each * reach.l2(1, together=True)) ** 2
        return above(math.sqrt(self.steps * self.periods * one), 8)

    def cells(self, table: Table) -> int:
        """Return how many pairs of a period and a group a unit can change."""
        return min(table.horizon * table.groups, self.steps * self.periods * self.groups)


def rank_change(table: Table) -> float:
    """Return the most that one unit, if it comes or goes, adds to a rank."""
    moves = moves_of(table)
    return float(moves.weight if moves.of_people else moves.weight // moves.groups)


def moves_of(table: Table) -> Moves:
    """Return what one unit of a table moves."""
    unit, measure = table.protected, table.measure
    steps = 1 if unit.relation == "add_remove" else 2
    alone = table.groups == 1
    if unit.of_rows:  # a row is one more or less in its bin, whoever else is there: no places are chosen
        return Moves(steps, 1, 1, 1, True, alone and table.horizon == 1)
    periods = periods_held(unit, table.bounds)
    stays = alone and (table.horizon == 1 or not unit.whole_person)
    rows = measure.row_weight
    if rows is None:
        weight = min(table.max_places, table.places)
        return Moves(steps, periods, weight, min(weight, table.groups), True, stays)
    groups = min(table.max_groups, table.groups)
    return Moves(steps, periods, groups * rows, groups, False, stays)

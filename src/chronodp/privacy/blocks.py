"""How much one unit can change what is made of blocks of periods: totals of blocks, their peaks and troughs.

The periods are those of a bounded series; a block is a stretch of them, such as the hours of a day. Proofs, and which
bounds are attained, stand in ``docs/explanation/proofs/sharing-a-budget.md``: `block_totals` is its step *Totals*,
`block_extremes` *Peaks and troughs*.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from chronodp.privacy.parameters import check_whole
from chronodp.privacy.sensitivity import (
    Bounds,
    Contribution,
    Sensitivity,
    exact_sensitivity,
    most_change,
    per_period,
    periods_held,
)
from chronodp.privacy.units import RecordUnit

__all__ = ["Blocking", "block_extremes", "block_totals"]


@dataclass(frozen=True, slots=True)
class Blocking:
    """How periods are put together into blocks.

    Attributes:
        blocks: how many blocks there are.
        longest: periods in the longest of them.
        touched: how many blocks a stretch of one unit's periods can touch; of a `User` all of them.
    """

    blocks: int
    longest: int
    touched: int

    def __post_init__(self) -> None:
        check_whole("blocks", self.blocks)
        check_whole("longest", self.longest)
        check_whole("touched", self.touched, most=self.blocks)


def block_totals(unit: RecordUnit, bounds: Bounds, contribution: Contribution, blocking: Blocking) -> Sensitivity:
    """Return the sensitivity of the sum over every block (and group).

    Sums never move farther than what is added up: l1 is that of the periods. A unit's change is farthest in l2 when it
    fills as few blocks as it can: q whole blocks of C and the rest R, √(q C² + R²),

    where
        C = min(l1, longest × the most that one period changes), the most that one block changes,
        q C + R = l1 with R < C.

    >>> from chronodp.privacy import User
    >>> month = Blocking(blocks=30, longest=24, touched=30)
    >>> hours = Bounds(horizon=720, max_periods=30)
    >>> found = block_totals(User(), hours, Contribution.count(), month)
    >>> found.l1, round(found.l2**2, 9)                                 # 24 hours of one day and 6 of another
    (30.0, 612.0)
    """
    l1 = Fraction(per_period(unit, bounds, contribution).l1)
    most = min(l1, blocking.longest * _largest_change(unit, contribution))
    # The corner of {sum of b_j <= l1, b_j <= C}: as many whole C as fit. Rational numbers, so no remainder is lost.
    whole, rest = divmod(l1, most)
    return exact_sensitivity(l1, whole * most**2 + rest**2)


def block_extremes(unit: RecordUnit, bounds: Bounds, contribution: Contribution, blocking: Blocking) -> Sensitivity:
    """Return the sensitivity of the largest number of every block (and group); of the least as well.

    The largest of several numbers moves by no more than the one that moves most: |max x - max y| <= max |x - y|. So a
    block that a unit touches moves by what one period does, however many of its periods the unit is in.

    >>> from chronodp.privacy import User
    >>> month = Blocking(blocks=30, longest=24, touched=30)
    >>> hours = Bounds(horizon=720, max_periods=720)
    >>> block_extremes(User(), hours, Contribution.total(clip=(0.0, 5.0)), month).l1       # 30 days, 5 each
    150.0
    """
    if unit.of_rows:
        return per_period(unit, Bounds(blocking.blocks, groups=bounds.groups), contribution)
    # In L periods a person can be in L m different groups: one block may hold more places than one period.
    places = min(bounds.groups, blocking.longest * bounds.max_groups)
    held = min(periods_held(unit, bounds) * bounds.max_groups, blocking.touched * places)
    cells = (blocking.blocks if unit.whole_person else blocking.touched) * bounds.groups
    return exact_sensitivity(
        most_change(unit, cells, held, contribution, power=1), most_change(unit, cells, held, contribution, power=2)
    )


def _largest_change(unit: RecordUnit, contribution: Contribution) -> Fraction:
    """The most that one unit changes one number."""
    if unit.of_rows:
        return contribution.row if unit.relation == "add_remove" else max(contribution.row, contribution.rewrite)
    return contribution.presence if unit.relation == "add_remove" else contribution.exchange

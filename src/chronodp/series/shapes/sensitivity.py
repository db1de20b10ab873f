"""How much one unit can change a shaped release C x, in l1 and l2.

The answer combines what one unit can do to one period (`chronodp.privacy`) with how far changes of several periods
reach through the shape (`reach`). "What one unit does" in ``docs/explanation/proofs/shapes.md`` has the proofs, and
says which are attained: `_of_row` is *One row*, `_of_person` the three others, `_moved` is *l1*.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from chronodp.errors import InvalidArgument
from chronodp.privacy import Bounds, Contribution, Sensitivity, Window, check_number, per_period, periods_held
from chronodp.privacy.units import RecordUnit
from chronodp.series.shapes.power_series import Floats
from chronodp.series.shapes.reach import FilterReach, Reach, above

__all__ = ["shape_sensitivity"]

_AGAINST = "a finite number of at least 0, or None"


def shape_sensitivity(
    reach: Reach,
    unit: RecordUnit,
    bounds: Bounds,
    contribution: Contribution,
    *,
    opposite: float | Fraction | None = None,
) -> Sensitivity:
    """Return the most that one unit can change C x, over all places together.

    With s(m) the reach of m changed periods, in l2:

        add_remove   presence s(k) √g
        replace      what one period can change, times s(k), if the unit stays in its stretch of k periods;
                     for a person, who may move, the least of  √2 √(presence² + opposite²) s(k) √g  (aligned shapes)
                     and  presence s(2k) √g + (change - presence √g) s(k)
        one row      row s(1); replaced: √2 row s(1), or up to row s(2) if both its changes may have one sign

    where k is the number of periods, g the number of places, and change what one period can change in l2.

    Args:
        reach: of the shape.
        unit: who is protected.
        bounds: where one unit may appear; its horizon is the shape's.
        contribution: what one unit can do to one cell.
        opposite: the most that what a unit holds in a cell counts against the sign of its largest: all of it lies
            between -opposite and presence (for `Event`: row), or the other way round. For clipped totals of people this
            is exchange - presence; for counts 0. None: any sign.

    **Guarantee.** No two neighbouring tables within the bounds differ by more, values between the ends included.

    >>> from chronodp.privacy import User
    >>> flat = shape_sensitivity(FilterReach(np.ones(3)), User(), Bounds(3, max_periods=2), Contribution.count())
    >>> round(flat.l1, 9), round(flat.l2**2, 9)      # columns 1,1,1 and 0,1,1
    (5.0, 9.0)
    """
    if opposite is not None and check_number("opposite", float(opposite), _AGAINST) < 0:
        raise InvalidArgument("opposite", float(opposite), _AGAINST)
    if reach.horizon != bounds.horizon:
        raise InvalidArgument("horizon", bounds.horizon, f"the {reach.horizon} periods of the shape")
    plain = per_period(unit, bounds, contribution)
    if isinstance(reach, FilterReach) and reach.white:
        scale = abs(float(reach.column[0]))
        return plain if scale == 1 else Sensitivity(above(scale * plain.l1, 1), above(scale * plain.l2, 1))
    if unit.of_rows:
        return _of_row(reach, unit, bounds, contribution, opposite)
    return _of_person(reach, unit, bounds, contribution, opposite)


def _of_row(
    reach: Reach, unit: RecordUnit, bounds: Bounds, contribution: Contribution, opposite: float | Fraction | None
) -> Sensitivity:
    row, rewrite = float(contribution.row), float(contribution.rewrite)
    one = reach.l2(1, together=True)
    columns = reach.l1(min(2, bounds.horizon))
    if unit.relation == "add_remove":
        return Sensitivity(above(row * float(columns[0]), 1), above(row * one, 1))
    # The row leaves one cell and enters another, possibly of the same period in another place, or changes in its own.
    second = float(columns[0]) if bounds.groups > 1 else float(columns[1]) if len(columns) > 1 else 0.0
    l1 = max(row * (float(columns[0]) + second), rewrite * float(columns[0]))
    two = reach.l2(2, together=False)
    against = row if opposite is None else min(row, float(opposite))
    if reach.aligned:  # K has no negative entry: only two changes of one sign add up, and those s(2) bounds
        square = max(2 * (row * one) ** 2, against * row * two**2 + row * (row - against) * one**2)
    else:
        square = (row * max(two, math.sqrt(2) * one)) ** 2
    return Sensitivity(above(l1, 1), above(max(math.sqrt(square), rewrite * one), 1))


def _of_person(
    reach: Reach, unit: RecordUnit, bounds: Bounds, contribution: Contribution, opposite: float | Fraction | None
) -> Sensitivity:
    periods = periods_held(unit, bounds)
    within = Bounds(1, groups=bounds.groups, max_groups=bounds.max_groups)
    present = per_period(Window(1), within, replace(contribution, people=None))
    together = not unit.whole_person
    columns = reach.l1(min(2 * periods, bounds.horizon))
    far = reach.l2(periods, together=together)
    if unit.relation == "add_remove":
        return Sensitivity(above(present.l1 * float(columns[:periods].sum()), periods), above(present.l2 * far, 1))
    changed = per_period(Window(1, "replace"), within, contribution)
    if together:
        return Sensitivity(above(changed.l1 * float(columns[:periods].sum()), periods), above(changed.l2 * far, 1))
    farther = reach.l2(min(2 * periods, bounds.horizon), together=False)
    # (i) of "Replace a person": a part in each of 2k periods, and what both sides share beyond it in k of them.
    l2 = present.l2 * farther + max(0.0, changed.l2 - present.l2) * far
    l2 = min(l2, 2 * present.l2 * far)
    if reach.aligned and opposite is not None:  # (ii): √2 √(M² + o²) √g s(k)
        against = min(1.0, float(opposite) / float(contribution.presence))
        l2 = min(l2, present.l2 * math.sqrt(2) * math.hypot(1.0, against) * far)
    return Sensitivity(above(_moved(columns, periods, present.l1, changed.l1), 2 * periods), above(l2, 1))


def _moved(columns: Floats, periods: int, present: float, changed: float) -> float:
    """The largest l1 change of a person who leaves ``periods`` periods and enters as many others.

    With j periods in both, 2 (periods - j) are in one of them; the larger change goes to the larger columns.
    """
    sums = np.concatenate(([0.0], np.cumsum(columns)))
    shared = np.arange(max(0, 2 * periods - len(columns)), periods + 1)
    return float((changed * sums[shared] + present * (sums[2 * periods - shared] - sums[shared])).max())

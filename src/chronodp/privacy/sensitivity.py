"""How much one unit can change a released series, in l1 and l2.

The answer follows from three declared things: the unit, the `Bounds` on where one unit may appear, and the
`Contribution` of one unit to one cell (a period of a group). No data is involved. Proofs of every formula, and
which are attained, stand in ``docs/explanation/proofs/sensitivity.md``; M there is `Contribution.presence`, R is
`Contribution.exchange`. ``docs/explanation/proofs/bounding.md`` says why a bounded table has such a contribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

from chronodp.errors import InvalidArgument
from chronodp.privacy.parameters import check_number, check_positive, check_whole
from chronodp.privacy.units import RecordUnit, Unit, check_record_unit

__all__ = [
    "Bounds",
    "Contribution",
    "Sensitivity",
    "check_clip",
    "exact_sensitivity",
    "most_change",
    "of_scaled",
    "per_period",
    "periods_held",
    "running_total",
]

_LEAST, _MOST = 1e-50, 1e50  # powers and sums of such numbers stay finite


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where one unit may appear in the released table.

    Attributes:
        horizon: periods in the series.
        max_periods: under `User`, how many periods of one person count; under `UserPeriod`, how many periods of
            the grid one calendar period holds. `Event` and `Window` need none.
        groups: how many groups are released side by side.
        max_groups: in how many groups one person counts within a period.
    """

    horizon: int
    max_periods: int | None = None
    groups: int = 1
    max_groups: int = 1

    def __post_init__(self) -> None:
        check_whole("horizon", self.horizon)
        if self.max_periods is not None:
            check_whole("max_periods", self.max_periods, most=self.horizon)
        check_whole("groups", self.groups)
        check_whole("max_groups", self.max_groups, most=self.groups)


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one unit can do to the number in one cell.

    Attributes:
        presence: most that a person's appearing in the cell, or leaving it, changes.
        exchange: most that a change of what a present person holds there changes, appearing included.
        row: most that one row's appearing or leaving changes.
        rewrite: most that a change of what one row says, in its cell, changes.
        people: the public number of people averaged over; None for counts and sums.
    """

    presence: Fraction
    exchange: Fraction
    row: Fraction
    rewrite: Fraction
    people: int | None = None

    @classmethod
    def count(cls, *, at_most: int = 1) -> Self:
        """A count to which one person adds at most ``at_most`` in a period."""
        most = Fraction(check_whole("at_most", at_most))
        return cls(presence=most, exchange=most, row=Fraction(1), rewrite=Fraction(0))

    @classmethod
    def total(cls, *, clip: tuple[float, float]) -> Self:
        """A sum of people's totals, each clipped to ``clip``; a person without rows adds nothing."""
        low, high = (Fraction(end) for end in check_clip(clip))
        presence = max(abs(low), abs(high))
        exchange = max(presence, high - low)
        return cls(presence=presence, exchange=exchange, row=exchange, rewrite=exchange)

    @classmethod
    def mean(cls, *, clip: tuple[float, float], people: int) -> Self:
        """A mean over a public number of people, each total clipped to ``clip``; needs the replace relation."""
        whole = cls.total(clip=clip)
        share = Fraction(1, check_whole("people", people))
        return cls(whole.presence * share, whole.exchange * share, whole.row * share, whole.rewrite * share, people)

    @classmethod
    def change(cls, most: float) -> Self:
        """A number that someone else bounded: one unit changes it by at most ``most``."""
        exact = Fraction(check_positive("change", most))
        return cls(presence=exact, exchange=exact, row=exact, rewrite=exact)

    def of_single_rows(self) -> Self:
        """Return the same where every row stands for itself: a row then appears or leaves, and shares no total."""
        return replace(self, row=self.presence)


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The most one unit can change a released table, as sums of absolute values and as Euclidean length."""

    l1: float
    l2: float


def check_clip(clip: object) -> tuple[float, float]:
    """Return the range of a person's total, if it is one: a pair of finite numbers in order, not both 0."""
    allowed = "a pair (low, high) of finite numbers with low <= high, not both 0"
    if not isinstance(clip, tuple | list) or len(clip) != 2:
        raise InvalidArgument("clip", clip, allowed)
    low, high = (check_number("clip", end, allowed) for end in clip)
    size = max(abs(low), abs(high))
    if low > high or size == 0:
        raise InvalidArgument("clip", (low, high), allowed)
    if not _LEAST <= size <= _MOST:
        raise InvalidArgument("clip", (low, high), f"a pair whose larger end is from {_LEAST:g} to {_MOST:g} in size")
    return low, high


def per_period(unit: Unit, bounds: Bounds, contribution: Contribution) -> Sensitivity:
    """Return the sensitivity of one number a period (and group).

    >>> from chronodp.privacy import Event, User
    >>> day = Bounds(horizon=24, max_periods=24)
    >>> per_period(Event(), day, Contribution.count()).l1, per_period(User(), day, Contribution.count()).l1
    (1.0, 24.0)
    """
    unit = _check(unit, bounds, contribution)
    cells = bounds.horizon * bounds.groups
    if unit.of_rows:  # "One row" of the proof page: a row shares a clipped total, and moves it by R, not M
        if unit.relation == "add_remove":
            return exact_sensitivity(contribution.row, contribution.row**2)
        # The row leaves one cell and enters another, or changes where it is.
        changed, row, rewrite = min(2, cells), contribution.row, contribution.rewrite
        return exact_sensitivity(max(changed * row, rewrite), max(changed * row**2, rewrite**2))
    periods = periods_held(unit, bounds)
    held = periods * bounds.max_groups
    if not unit.whole_person:
        cells = periods * bounds.groups  # what a stretch of time holds stays in that stretch
    return exact_sensitivity(
        most_change(unit, cells, held, contribution, power=1), most_change(unit, cells, held, contribution, power=2)
    )


def running_total(unit: Unit, bounds: Bounds, contribution: Contribution) -> Sensitivity:
    """Return the sensitivity of all running totals released together.

    >>> from chronodp.privacy import User
    >>> everything = running_total(User(), Bounds(horizon=10, max_periods=10), Contribution.count())
    >>> everything.l1, round(everything.l2**2, 9)      # T(T+1)/2 and T(T+1)(2T+1)/6
    (55.0, 385.0)
    """
    unit = _check(unit, bounds, contribution)
    horizon, groups = bounds.horizon, bounds.groups
    if unit.of_rows:
        row = contribution.row if unit.relation == "add_remove" else max(contribution.row, contribution.rewrite)
        one = (row, row**2)
        if unit.relation == "add_remove":
            return exact_sensitivity(horizon * one[0], horizon * one[1])
        # A moved row changes two cells: both in one group, or each in its own.
        same = _ramp(horizon, 2)
        apart = 2 * horizon if groups > 1 else 0
        return exact_sensitivity(max(same[0], apart) * one[0], max(same[1], apart) * one[1])
    # "Running totals" of the proof page: at time t at most min(t, periods) periods have been added up, in every group
    # at once.
    l1, l2_squared = _ramp(horizon, periods_held(unit, bounds))
    return exact_sensitivity(
        l1 * most_change(unit, groups, bounds.max_groups, contribution, power=1),
        l2_squared * most_change(unit, groups, bounds.max_groups, contribution, power=2),
    )


def of_scaled(unit: Unit, cells: int, norm: float, *, signed: bool) -> Sensitivity:
    """Return the sensitivity where a person's whole series, over so many cells, has at most this l2 norm.

    ``signed`` says whether its numbers may be below 0. Of whole people only: the factor that scales a series looks at
    all of it, so a part of a person moves everything else of theirs.

    >>> from chronodp.privacy import User
    >>> of_scaled(User(), 365, 2.0, signed=True).l2, of_scaled(User(relation="replace"), 365, 2.0, signed=True).l2
    (2.0, 4.0)
    >>> round(of_scaled(User(relation="replace"), 365, 2.0, signed=False).l2, 3)
    2.828
    """
    unit = check_record_unit("unit", unit)
    if not unit.whole_person:
        raise InvalidArgument("unit", str(unit), "User(): the factor of a series looks at the whole history")
    check_whole("cells", cells)
    squared = Fraction(check_positive("norm", norm)) ** 2
    if unit.relation != "add_remove":
        # |v - w|² = |v|² + |w|² - 2 v·w: without numbers below 0 the last term takes away only, and one cell holds no
        # two series side by side.
        squared *= 4 if signed else min(cells, 2)
    # Cauchy-Schwarz: l1 of n numbers is at most √n times their l2.
    return Sensitivity(l1=_root_above(squared * cells), l2=_root_above(squared))


def most_change(unit: Unit, cells: int, held: int, contribution: Contribution, *, power: int) -> Fraction:
    """Return the largest sum of |change|^power when a unit holds ``held`` of ``cells`` cells.

    Under `replace` it may leave ``held`` cells and enter ``held`` others: with j cells in both sets and s in one
    of them, j + s <= cells and 2j + s <= 2 held, and the sum is linear in (j, s): a corner attains the maximum.
    """
    # "Add or remove" and "Replace" of the proof page; both sides hold at most ``held`` cells, so 2j + s counts 2 held.
    presence, exchange = contribution.presence**power, contribution.exchange**power
    held = min(held, cells)
    if unit.relation == "add_remove":
        return held * presence
    corners = [(0, min(cells, 2 * held)), (held, 0)]
    if cells <= 2 * held:
        corners.append((2 * held - cells, 2 * (cells - held)))
    return max(both * exchange + single * presence for both, single in corners)


def _ramp(horizon: int, periods: int) -> tuple[int, int]:
    """The sum and the sum of squares of min(t, periods) for t from 1 to the horizon."""
    # min(t, k) = t for t = 1 … k, then k for the other T - k times: t = k is in the rising part, once.
    rising = min(periods, horizon)
    flat = horizon - rising
    return (
        rising * (rising + 1) // 2 + flat * rising,
        rising * (rising + 1) * (2 * rising + 1) // 6 + flat * rising**2,
    )


def periods_held(unit: RecordUnit, bounds: Bounds) -> int:
    """Return in how many periods one unit can be."""
    return unit.periods_touched(bounds.max_periods if unit.limited else None, horizon=bounds.horizon)


def _check(unit: Unit, bounds: Bounds, contribution: Contribution) -> RecordUnit:
    unit = check_record_unit("unit", unit)
    if not isinstance(bounds, Bounds):
        raise InvalidArgument("bounds", bounds, "a Bounds")
    if contribution.people is not None and unit.relation != "replace":
        raise InvalidArgument(
            "relation",
            unit.relation,
            "'replace' for a mean over a public number of people; under 'add_remove' release a sum and a count",
        )
    return unit


def exact_sensitivity(l1: Fraction, l2_squared: Fraction) -> Sensitivity:
    """Return a sensitivity in floats, rounded against ourselves."""
    return Sensitivity(l1=_float_above(l1), l2=_root_above(l2_squared))


def _float_above(exact: Fraction) -> float:
    """The smallest float that is not below ``exact``: sensitivities are rounded against ourselves."""
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def _root_above(square: Fraction) -> float:
    root = math.sqrt(_float_above(square))
    while Fraction(root) ** 2 < square:  # sqrt rounds to the nearest float, which may lie below
        root = math.nextafter(root, math.inf)
    while Fraction(math.nextafter(root, 0.0)) ** 2 >= square:
        root = math.nextafter(root, 0.0)
    return root

"""A release as it is designed: everything public about it, fixed before any data is read."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

from chronodp.accounting import basic, gaussian, renyi
from chronodp.engines import Grouping
from chronodp.errors import InvalidArgument, MissingBound
from chronodp.privacy import (
    Bounds,
    Calendar,
    Cost,
    RepeatedCost,
    Sensitivity,
    Unit,
    User,
    UserPeriod,
    Window,
    per_period,
)
from chronodp.privacy.calendar import LONGEST
from chronodp.privacy.documents import document
from chronodp.privacy.parameters import check_delta, check_epsilon, check_whole
from chronodp.privacy.units import Event
from chronodp.series.measures import Count, Histogram, Mean, Measure, PanelMean, Total
from chronodp.series.noise import Noise, calibrated, cost_of, with_grid
from chronodp.series.tails import Law
from chronodp.series.workloads import Workload

__all__ = ["Design", "Table", "design_release"]

_WIDEST = 2.0**30  # steps of noise that the sampler can draw


@document("table")
@dataclass(frozen=True)
class Table:
    """The table that is released, and whom its numbers are about.

    Attributes:
        measure: what is released of each period and group.
        unit: who is protected.
        horizon: how many periods.
        calendar: when they are; None if they are only numbered.
        groupings: columns that split it, with their public keys.
        max_periods: how many periods of one person count, for `User`.
        max_groups: in how many groups one person counts within a period.
        single_rows: whether every row stands for itself, there being no person.
    """

    measure: Measure
    unit: Unit
    horizon: int
    calendar: Calendar | None = None
    groupings: tuple[Grouping, ...] = ()
    max_periods: int | None = None
    max_groups: int = 1
    single_rows: bool = False

    def __post_init__(self) -> None:
        check_whole("horizon", self.horizon, most=LONGEST)
        if self.calendar is not None and len(self.calendar) != self.horizon:
            raise InvalidArgument("horizon", self.horizon, f"the {len(self.calendar)} periods of the calendar")
        if not isinstance(self.unit, Event | User | UserPeriod | Window):
            raise InvalidArgument("unit", str(self.unit), "Event, User, UserPeriod or Window")
        check_whole("max_groups", self.max_groups, most=self.groups)
        if self.horizon * self.places > LONGEST:
            raise InvalidArgument(
                "groups",
                f"{self.horizon * self.places:,} cells",
                f"few enough for at most {LONGEST:,} cells (periods × groups × bins): fewer keys or longer periods",
            )
        if isinstance(self.measure, PanelMean) and self.unit.relation != "replace":
            raise InvalidArgument(
                "people",
                self.measure.people,
                f"left out, or the unit's relation 'replace': when people come and go ({self.unit}) their number is no "
                "public fact",
            )
        _ = self.bounds

    def moved_to(self, horizon: int, calendar: Calendar | None) -> Table:
        """Return the same table of other periods; a limit of more periods than there are means all of them."""
        periods = None if self.max_periods is None else min(self.max_periods, horizon)
        return replace(self, horizon=horizon, calendar=calendar, max_periods=periods)

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return math.prod(len(grouping.keys) for grouping in self.groupings)

    @property
    def places(self) -> int:
        """How many numbers of each kind a period has."""
        return self.groups * (self.measure.bins if isinstance(self.measure, Histogram) else 1)

    @property
    def max_places(self) -> int:
        """In how many places one person counts within a period."""
        return self.max_groups * (self.measure.at_most if isinstance(self.measure, Histogram) else 1)

    @cached_property
    def bounds(self) -> Bounds:
        """Where one unit may appear."""
        periods = self.max_periods
        if isinstance(self.unit, User):
            if periods is None:
                raise MissingBound("max_periods", f"say how many periods of one person count (1 to {self.horizon})")
            check_whole("max_periods", periods, most=self.horizon)
        elif isinstance(self.unit, UserPeriod) and self.calendar is not None:
            _refuse_max_periods(self.unit, periods)
            periods = self.calendar.most_within(self.unit.every)[0]
        elif not isinstance(self.unit, UserPeriod):
            _refuse_max_periods(self.unit, periods)
        if isinstance(self.unit, Window):
            check_whole("periods of the Window", self.unit.periods, most=self.horizon)
        return Bounds(self.horizon, periods, groups=self.places, max_groups=self.max_places)

    def sensitivities(self, *, rounding: float = 0.0) -> tuple[Sensitivity, ...]:
        """Return how much one unit can change the numbers of each kind, ``rounding`` of finished totals included."""
        measure = self.measure
        if isinstance(measure, Total):
            measure = replace(measure, change=measure.change + rounding)
        contributions = measure.contributions()
        if self.single_rows:
            contributions = tuple(part.of_single_rows() for part in contributions)
        unit: Unit = self.unit
        if isinstance(unit, UserPeriod) and self.calendar is not None and not self.calendar.most_within(unit.every)[1]:
            # The rest of what the person holds in a period stays when one calendar period of theirs goes.
            unit = replace(unit, relation="replace")
        return tuple(per_period(unit, self.bounds, part) for part in contributions)


@document("design")
@dataclass(frozen=True)
class Design:
    """A table, the noise that goes on it, and the guarantee that follows."""

    table: Table
    noises: tuple[Noise, ...]
    epsilon: float
    delta: float
    tuned_for: Workload

    @property
    def law(self) -> Law:
        """Laplace or Gaussian."""
        return self.noises[0].law

    @property
    def cost(self) -> Cost:
        """What the release costs."""
        return cost_of(self.noises)

    def epsilon_of(self, releases: int, delta: float) -> float:
        """Return epsilon after so many such releases about the same people."""
        costs = RepeatedCost(self.cost, releases)
        if self.law == "gaussian":
            return gaussian.epsilon(costs, delta)
        plain = basic.epsilon(costs, 0.0)
        return min(plain, renyi.epsilon(costs, delta)) if delta else plain


def design_release(table: Table, *, epsilon: float, delta: float, tuned_for: Workload) -> tuple[Design, ...]:
    """Return every way to release a table within (epsilon, delta), the one with the least error first."""
    check_epsilon(epsilon)
    check_delta(delta)
    laws: tuple[Law, ...] = ("laplace", "gaussian") if delta else ("laplace",)
    designs: list[Design] = []
    refused: list[InvalidArgument] = []
    for law in laws:
        try:
            noises = _noises(table, law, epsilon, delta)
        except InvalidArgument as error:
            refused.append(error)
        else:
            designs.append(Design(table, noises, epsilon, delta if law == "gaussian" else 0.0, tuned_for))
    if not designs:
        raise refused[-1]
    return tuple(sorted(designs, key=lambda design: design.noises[0].deviation))


def _noises(table: Table, law: Law, epsilon: float, delta: float) -> tuple[Noise, ...]:
    scales = calibrated(law, table.sensitivities(), epsilon=epsilon, delta=delta)
    noises = tuple(_on_grid(table.measure, law, index, *scale) for index, scale in enumerate(scales))
    for noise in noises:
        if noise.scale / noise.step > _WIDEST:
            allowed = f"larger: noise of scale {noise.scale:.3g} would drown what one person can add"
            raise InvalidArgument("epsilon", epsilon, allowed)
        if noise.scale / noise.step < 1 / _WIDEST:
            raise InvalidArgument("epsilon", epsilon, f"smaller: noise of scale {noise.scale:.3g} protects nobody")
    if not isinstance(table.measure, Total):
        return noises
    # Finished totals are rounded to the grid, which may add one step to what a unit changes.
    (noise,) = noises
    ((sensitivity, scale),) = calibrated(law, table.sensitivities(rounding=noise.step), epsilon=epsilon, delta=delta)
    return (replace(noise, sensitivity=sensitivity, scale=scale),)


def _on_grid(measure: Measure, law: Law, index: int, sensitivity: float, scale: float) -> Noise:
    if isinstance(measure, Count | Histogram) or index == 1:
        reach = measure.reach if isinstance(measure, Count) else 1.0
        return with_grid(law, sensitivity, scale, reach=reach, width=reach, whole=True)
    if not isinstance(measure, Mean):
        return with_grid(law, sensitivity, scale, reach=measure.reach, width=measure.reach, whole=False)
    width = measure.clip[1] - measure.clip[0]
    if measure.reach > 2**20 * width:
        raise InvalidArgument(
            "clip", measure.clip, "wider: its ends are closer together than a millionth of their size"
        )
    noise = with_grid(law, sensitivity, scale, reach=measure.reach, width=width, whole=False)
    # A sum about the middle of two grid points lies on a grid of half the step.
    return replace(noise, step=noise.step / 2)


def _refuse_max_periods(unit: Unit, periods: int | None) -> None:
    if periods is not None:
        raise InvalidArgument(
            "max_periods",
            periods,
            f"left out: for {unit} no periods of a person are chosen, since one row could move them",
        )

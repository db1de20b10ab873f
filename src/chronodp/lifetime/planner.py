"""The plan of a lifetime series: its price for ever and its error, before anything is paid or read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from chronodp.display import facts_html, scrolled
from chronodp.errors import InvalidArgument
from chronodp.ledger import Ledger
from chronodp.lifetime.design import LifetimeDesign, check_table_of_lives
from chronodp.lifetime.series import LifetimeSeries
from chronodp.lifetime.shares import MOST_PERIODS, life_of, life_sensitivities
from chronodp.lifetime.words import YEARS, describe_lifetime, periods_in, years_of
from chronodp.postprocess import Law
from chronodp.privacy import Claim, check_delta, check_epsilon, check_fraction, check_whole, labelled
from chronodp.report import Line, series_figure
from chronodp.series import Design, EachPeriod, Table, calibrated, check_drawable, half_width
from chronodp.series.shapes import White

if TYPE_CHECKING:
    import pandas
    import plotly.graph_objects as go

__all__ = ["LifetimePlan", "make_lifetime_plan"]

Opened = TypeVar("Opened", bound=LifetimeSeries)


@dataclass(frozen=True, slots=True, repr=False)
class LifetimePlan(Generic[Opened]):
    """A series that is bought once and issued for ever, priced and with its error known; `open` pays.

    Attributes:
        design: everything public about it.
        delta: the delta that was asked for.
    """

    design: LifetimeDesign
    delta: float
    _open: Callable[..., Opened] = field(repr=False)

    @property
    def claim(self) -> Claim:
        """Whom all issues together protect, at what cost, and where the argument stands."""
        return self.design.claim

    def half_width(self, level: float = 0.95) -> float:
        """Return how far noise carries one number of any issue, at a level."""
        return half_width(self.design.base, check_fraction("level", level))

    @property
    def alternatives(self) -> pandas.DataFrame:
        """What other lives would cost: of a year to a century of periods, the one that was asked for among them."""
        import pandas

        rows = []
        for design in self._lives():
            noise, periods = design.base.noises[0], design.max_periods
            rows.append(
                {
                    "years": years_of(design.calendar.every, periods),
                    "max_periods": periods,
                    "noise": noise.law,
                    "scale": noise.scale,
                    "half_width": half_width(design.base, 0.95),
                    "stops": periods + 1,
                    "chosen": design == self.design,
                }
            )
        return pandas.DataFrame(rows)

    def plot(self) -> go.Figure:
        """Return a figure of the error of one number against how many years of a life count."""
        table = self.alternatives
        years, widths = table["years"].tolist(), table["half_width"].tolist()
        line = Line("error", years, widths, widths, widths)
        figure = series_figure([line], title="Error of one number, for ever", value_name="± in 95 of 100 periods")
        figure.update_layout(xaxis_title_text="years of a life that count", xaxis_rangeslider_visible=False)
        return figure

    def open(self, ledger: Ledger, *, dataset: str, name: str, tally: str | Path, analyst: str = "") -> Opened:
        """Pay for all issues, past and future, and return the series.

        Args:
            ledger: what pays, once.
            dataset: whose budget in it; one that renews is refused.
            name: of the series, by which it is resumed.
            tally: a folder for what each person has used, sealed with the ledger's keys. Keep it as you keep the
                ledger: without it the series ends.
            analyst: whose part of the budget pays.
        """
        return self._open(self.design, ledger, dataset=dataset, name=name, tally=tally, analyst=analyst)

    def _lives(self) -> list[LifetimeDesign]:
        every, most = self.design.calendar.every, MOST_PERIODS // self.design.base.table.max_places
        counts = {periods_in(every, years) for years in YEARS} | {self.design.max_periods}
        lives = []
        for periods in sorted(count for count in counts if count <= most):
            base = self.design.base
            try:
                base, life = _best(base.table, periods, base.epsilon, self.delta)
            except InvalidArgument:  # noise that cannot be drawn is no alternative
                continue
            lives.append(replace(self.design, base=base, max_periods=periods, life=life))
        return lives

    def __repr__(self) -> str:
        return f"LifetimePlan({self.design.base.table.released}; {self.design.max_periods:,} periods of a life)"

    def __str__(self) -> str:
        return labelled(describe_lifetime(self.design, self.delta))

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        facts = describe_lifetime(self.design, self.delta)
        table = self.alternatives.to_html(index=False, escape=True, border=0, float_format="{:.4g}".format)
        return f"<div>{facts_html(facts)}{scrolled(table)}</div>"


def make_lifetime_plan(
    table: Table, *, time: str, user: str, epsilon: float, delta: float, max_periods: int, opens: Callable[..., Opened]
) -> LifetimePlan[Opened]:
    """Return the plan with the least error. Free, and reads no data."""
    check_epsilon(epsilon)
    check_delta(delta)
    check_table_of_lives(table)
    check_whole("max_periods", max_periods, most=MOST_PERIODS // table.max_places)
    base, life = _best(table, max_periods, epsilon, delta)
    return LifetimePlan(LifetimeDesign(base, time, user, max_periods, life), float(delta), opens)


def _best(table: Table, periods: int, epsilon: float, delta: float) -> tuple[Design, int]:
    """Return the issue with the least error whose noise hides one person in all issues, with its life."""
    issue = replace(table, max_periods=min(periods, table.horizon))
    parts = life_sensitivities(issue, periods)
    laws: tuple[Law, ...] = ("laplace", "gaussian") if delta else ("laplace",)
    found: list[Design] = []
    refused = []
    for law in laws:
        scales = calibrated(law, parts, epsilon=epsilon, delta=delta)
        noises = tuple(issue.measure.on_grid(law, index, *scale, times=1) for index, scale in enumerate(scales))
        try:
            for noise in noises:
                check_drawable(noise, epsilon)
        except InvalidArgument as error:
            refused.append(error)
            continue
        spent = float(delta) if law == "gaussian" else 0.0
        found.append(Design(issue, noises, epsilon, spent, EachPeriod(), White()))
    if not found:
        raise refused[-1]
    best = min(found, key=lambda one: one.errors.rmse_mean)
    return best, life_of(issue, best.law, periods)

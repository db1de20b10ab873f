"""A reading of a release, and what further can be made of it: sums, ratios, shares, changes, what is published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_flag, check_fraction, counted
from chronodp.series.readings.axes import Rows
from chronodp.series.readings.baselines import Baseline, Match
from chronodp.series.readings.changes import changed
from chronodp.series.readings.levels import one_level, top_levels
from chronodp.series.readings.made import LinearReading, Made, RatioReading, level_of_each
from chronodp.series.readings.publishing import Coverage, cells_apart, check_rule, publish_cells
from chronodp.series.readings.steps import (
    at_keys,
    check_within,
    check_word,
    linear_of,
    matched,
    over_groupings,
    resampled,
    rolled,
    some_columns,
    totalled,
)

if TYPE_CHECKING:
    pass
from chronodp.series.shown_view import ShownView

__all__ = ["View"]

_LEAST = 1e-60  # of a factor: with it and its inverse no number overflows


@dataclass(frozen=True, slots=True, repr=False)
class View(ShownView):
    """Numbers of a release with intervals, and what further can be made of them; `ShownView` says what each field is.

    A linear view knows its weights on the released numbers, so that sums, ratios and changes of views have the
    intervals that they should: ``release.resample("1W").over("county").ratio(other)``. All of it is free.
    """

    def at(
        self,
        keys: Mapping[str, object] | None = None,
        /,
        *,
        level: float | None = None,
        simultaneous: bool = False,
        **named: object,
    ) -> View:
        """Return the groups with these keys, such as ``at(county="c12")``, or ``at({"level": "3"})``."""
        made, chosen = at_keys(_made(self, "at"), keys, named)
        return self._next(made, f"{self.title}, {chosen}", f"of {chosen}", level, simultaneous)

    def at_level(self, name: str, *, level: float | None = None, simultaneous: bool = False) -> View:
        """Return the places of one level of a release with `Places`, such as ``at_level("state")``."""
        made = _made(self, "at_level")
        chosen = some_columns(made, *one_level(made.columns, name), "at_level")
        return self._next(chosen, f"{self.title}, of level {name}", f"of level {name}", level, simultaneous)

    def uppermost(self, most: int) -> View:
        """Return the uppermost levels of places that fit a table of so many rows; see `ShownView.uppermost`."""
        if self.made is None or len(self.estimates.value):
            return super(View, self).uppermost(most)  # by name: a class with slots is made twice
        rows, columns = len(self.periods), self.made.columns
        top = None if rows * len(columns) <= most else top_levels(columns, most // max(1, rows))
        made = self.made if top is None else some_columns(self.made, *top, "uppermost")
        # Single periods whose intervals are still to be made: none are of what is not shown.
        return replace(self._next(made, self.title, "", None, False), covers=self.covers)

    def over(self, *groupings: str, level: float | None = None, simultaneous: bool = False) -> View:
        """Return sums (of means: means) over groupings; none named, over all of them."""
        made = over_groupings(_made(self, "over"), groupings)
        over = ", ".join(groupings) or "all groups"
        return self._next(made, f"{self.title}, over {over}", f"added up over {over}", level, simultaneous)

    def resample(self, every: str, *, level: float | None = None, simultaneous: bool = False) -> View:
        """Return sums over longer periods, such as '1W' of days; a last one that is not filled is left out."""
        made = resampled(_made(self, "resample"), every)
        step = f"added up to periods of {every}"
        return self._next(made, f"{self.title}, every {every}", step, level, simultaneous)

    def rolling(self, n: int, *, level: float | None = None, simultaneous: bool = False) -> View:
        """Return the mean of each row and the n - 1 before it, from the n-th on."""
        made = rolled(_made(self, "rolling"), n)
        step = f"rolling means over {counted(n, 'period')}"
        return self._next(made, f"mean over {counted(n, 'row')} of {self.title}", step, level, simultaneous)

    def running_total(self, *, level: float | None = None, simultaneous: bool = False) -> View:
        """Return the total up to and with each row."""
        made = totalled(_made(self, "running_total"))
        return self._next(made, f"running total of {self.title}", "running totals", level, simultaneous)

    def __add__(self, other: object) -> View:
        """Return the sum with another view of the same rows and columns."""
        return self._combined(other, 1.0)

    def __sub__(self, other: object) -> View:
        """Return the difference to another view of the same rows and columns."""
        return self._combined(other, -1.0)

    def __mul__(self, factor: float) -> View:
        """Return the view times a public number above 0, such as a rate or the size of a group."""
        if isinstance(factor, bool) or not isinstance(factor, int | float) or not _LEAST <= factor <= 1 / _LEAST:
            raise InvalidArgument(
                "factor", factor, f"a finite number above 0 that is public, from {_LEAST:g} to {1 / _LEAST:g}"
            )
        made = linear_of(_made(self, "*"), "*")
        scaled = replace(made, linear=made.linear.scaled(float(factor)))
        return self._next(scaled, f"{factor:g} × {self.title}", f"times {factor:g}", None, False)

    __rmul__ = __mul__

    def ratio(
        self,
        other: object,
        *,
        within: tuple[float, float] | None = None,
        level: float | None = None,
        simultaneous: bool = False,
    ) -> View:
        """Return this over another: a view of this release, of one released together with it, or of another one.

        Intervals are Fieller's sets, which hold however small the denominator is: see the column ``kind``.

        Args:
            other: a view (or release) with the same rows, and the same groups or fewer.
            within: where the ratio is known to be, such as (0, 1) for a part of a whole.
            level: of intervals; this view's unless told.
            simultaneous: whether all hold at once with probability ``level``.

        Guarantee: free; that of the release, or of both.
        """
        view = _view_of(other, "other")
        above, below = linear_of(_made(self, "ratio"), "ratio"), linear_of(_made(view, "ratio"), "ratio")
        made = self._ratio(above, below, within)
        known = {source.named for source in above.linear.sources.values()}
        others = sorted({source.named for source in below.linear.sources.values()} - known)
        step = f"divided by {view.title}" + "".join(f", of the release {name!r}" for name in others)
        return self._next(made, f"{self.title} / {view.title}", step, level, simultaneous, label="ratio")

    def share(self, *, level: float | None = None, simultaneous: bool = False) -> View:
        """Return what part of all groups and bins together each one is."""
        made = linear_of(_made(self, "share"), "share")
        if not made.nonnegative:
            raise InvalidArgument("view", self.title, "of counts, or of sums that are never negative; see ratio")
        whole, groups = made.columns.summed((), bins=True)
        if len(made.columns) == 1:
            raise InvalidArgument("view", self.title, "one with several groups or bins: of one alone the share is 1")
        total = replace(made, columns=whole, linear=made.linear.mixed_columns(groups))
        shares = self._ratio(made, total, (0.0, 1.0))
        return self._next(
            shares, f"share of {self.title}", "divided by all groups together", level, simultaneous, label="share"
        )

    def change(
        self,
        *,
        baseline: Baseline,
        match: Match = None,
        statistic: Literal["mean", "median"] = "mean",
        scale: Literal["percent", "index"] = "percent",
        level: float | None = None,
        simultaneous: bool = False,
    ) -> View:
        """Return the change against a stretch of time, in percent; or as an index with 100 for the baseline.

        Args:
            baseline: its first and last date (or period, where they have no dates), both of them in it.
            match: 'weekday' to compare each day with the same weekday of the baseline.
            statistic: of the baseline's rows.
            scale: 'percent' (0 is no change) or 'index' (100 is none).
            level: of intervals; this view's unless told.
            simultaneous: whether all hold at once with probability ``level``.

        Guarantee: free; that of the release.
        """
        made = linear_of(_made(self, "change"), "change")
        found = changed(made, baseline, match, statistic=statistic, scale=scale)
        title = f"{found.words} of {self.title} against {found.against}"
        step = f"{found.words} against {found.against}"
        return self._next(found.made, title, step, level, simultaneous, label=found.label)

    def publish(
        self,
        *,
        relative: float | None = None,
        points: float | None = None,
        chance: float | None = None,
        coverage: Coverage = "published",
        decided_on: object = None,
    ) -> View:
        """Return the view with cells that are not reliable left out, by a rule that reads released numbers alone.

        This is for readers, and no privacy device: all numbers are released already.

        Args:
            relative: publish where the interval is within so many times the value, such as 0.2.
            points: publish where the number is more than so far off, in its own units, ...
            chance: ... with at most this probability (0.05 unless told).
            coverage: 'published': of what is shown, a share of 1 - level is expected to miss at most, for cells whose
                noise is independent. 'given': each holds at its level given that it is shown (Gaussian noise and
                ``relative``). 'each': intervals as they were, which miss more often where cells are left out.
            decided_on: a view with other noise that decides instead, with as many rows or a single one. Then intervals
                hold as they were.

        Guarantee: free; that of the release.
        """
        made, rule = _made(self, "publish"), check_rule(relative, points, chance)
        check_word("coverage", coverage, ("published", "each", "given"))
        by = None if decided_on is None else _made(_view_of(decided_on, "decided_on"), "publish")
        apart = self.apart and cells_apart(made)
        found = publish_cells(made, rule, self.level, coverage, values=self.estimates.value, by=by, apart=apart)
        return replace(
            self,
            estimates=found.cells.estimates,
            cells=found.cells,
            certificate=self.certificate.after(found.step),
            covers=found.covers,
            everyone=None,
            apart=False,
            made=None,
        )

    def _combined(self, other: object, sign: float) -> View:
        asked = "+" if sign > 0 else "-"
        view = _view_of(other, asked)
        mine, theirs = linear_of(_made(self, asked), asked), linear_of(_made(view, asked), asked)
        linear = mine.linear.plus(matched(mine, theirs, asked, wider=False), sign)
        made = replace(mine, linear=linear, nonnegative=sign > 0 and mine.nonnegative and theirs.nonnegative)
        title = f"{self.title} {asked} {view.title}"
        return self._next(made, title, f"{'with' if sign > 0 else 'less'} {view.title}", None, False)

    def _ratio(self, above: LinearReading, below: LinearReading, within: object) -> RatioReading:
        known = check_within(within)
        if known is None and above.nonnegative and below.nonnegative:
            known = (0.0, np.inf)
        return RatioReading(above.rows, above.columns, above.linear, matched(above, below, "other", wider=True), known)

    def _next(
        self, made: Made, title: str, step: str, level: float | None, simultaneous: bool, *, label: str = ""
    ) -> View:
        """Return the view of what was made."""
        said = check_fraction("level", self.level if level is None else level)
        check_flag("simultaneous", simultaneous)
        cells = made.cells(level_of_each(made, said) if simultaneous else said)
        rows: Rows = made.rows
        shown = made.columns
        return View(
            self.table,
            title,
            rows.windows.labels,
            cells.estimates,
            said,
            self.certificate.after(step) if step else self.certificate,
            label or self.label,
            self.law,
            rows.kind if not label else ("change" if "baseline" in label or "change" in label else "ratio"),
            apart=isinstance(made, LinearReading) and made.rows_apart,
            binned=bool(shown.edges),
            covers=_covers(self, simultaneous=simultaneous),
            columns=shown,
            made=made,
            cells=cells if label else None,
        )


def _covers(view: View, *, simultaneous: bool) -> str:
    bounded = "noise only" if view.table.measure.finished else "noise only, not what the limits removed"
    return f"{bounded}, all of them at once" if simultaneous else bounded


def _view_of(given: object, name: str) -> View:
    """Return a view, or that of a release's single periods: whoever offers one has it as ``operand``."""
    view = given if isinstance(given, View) else getattr(given, "operand", None)
    if not isinstance(view, View):
        raise InvalidArgument(name, type(given).__name__, "a release, or a view such as release.over()")
    return view


def _made(view: View, asked: str) -> Made:
    if view.made is None and view.reading == "quantile":
        allowed = (
            "asked of counts and sums: quantiles do not add up; of a histogram quantile(q, every=...) reads others"
        )
        raise InvalidArgument(asked, view.title, allowed)
    if view.made is None:
        raise InvalidArgument(
            asked, view.title, "used with numbers as they were released: smooth, filter and publish last"
        )
    return view.made

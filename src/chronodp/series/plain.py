"""Views straight from released numbers: stretches of periods, filters, and the numbers without limits.

Which intervals hold, and why: "Intervals" of ``docs/explanation/proofs/release.md``.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from chronodp.errors import InvalidArgument
from chronodp.postprocess import deviations
from chronodp.privacy import Calendar, Certificate, check_flag, check_fraction
from chronodp.series.answers import Memory, answer
from chronodp.series.bands import level_for_all
from chronodp.series.design import Design
from chronodp.series.estimates import Estimates, Floats, estimate, in_units, noise_terms
from chronodp.series.missing import MissingFigure, Unlimited, if_even
from chronodp.series.place_noise import axes_of
from chronodp.series.place_reading import place_deviations
from chronodp.series.readings.axes import RowKind, Rows, columns_of
from chronodp.series.readings.covariance import IndependentPlaces, PlaceCovariance
from chronodp.series.readings.linear import Linear, Source, Term
from chronodp.series.readings.made import LinearReading, Made
from chronodp.series.readings.places import TreePlaces
from chronodp.series.readings.pooled import PooledReading
from chronodp.series.readings.weights import identity, of_windows
from chronodp.series.shapes.errors import filter_variances
from chronodp.series.shapes.toeplitz import White
from chronodp.series.shapes.tree import Tree
from chronodp.series.views import View
from chronodp.series.windows import Windows, coarser, each, rolling
from chronodp.series.workloads import Ewm, Filter

__all__ = ["Numbers"]


@dataclass(frozen=True, eq=False)
class Numbers:
    """Released numbers with all that is public about them.

    Attributes:
        design: of the release.
        parts: the noisy numbers of each kind, periods by places.
        certificate: of the release.
        text: of the release, which tells its numbers from all others.
        request: under which it was released.
    """

    design: Design
    parts: tuple[Floats, ...]
    certificate: Certificate
    text: str
    request: str

    def view(
        self,
        windows: Windows,
        title: str,
        step: str,
        kind: RowKind,
        *,
        level: float,
        figure: MissingFigure | None,
        simultaneous: bool = False,
    ) -> View:
        """Return sums (or means) over stretches of periods."""
        single = check_fraction("level", level)
        if check_flag("simultaneous", simultaneous):
            single = level_for_all(self.design, windows, level)
        estimates = estimate(self.design, self.parts, windows, average=kind == "rolling", level=single)
        everyone = None if simultaneous else self._everyone(estimates, kind, figure)
        covers = self._covers() if everyone is None or figure is None else self._covers_all(everyone, figure)
        return self._shown(windows, title, step, kind, estimates, level=level, everyone=everyone, covers=covers)

    def operand(self) -> View:
        """Return every period by itself for other views to be made of: without intervals of its own."""
        nothing = np.zeros((0, self.parts[0].shape[1]))
        windows = each(self.design.table.horizon)
        return self._shown(
            windows,
            self.design.table.released,
            "",
            "single",
            Estimates(nothing, nothing, nothing),
            level=0.95,
            everyone=None,
            covers=self._covers(),
        )

    def filtered(self, workload: Ewm | Filter, *, level: float) -> View:
        """Return a weighted sum of each period and those before it."""
        design, table = self.design, self.design.table
        if table.measure.ratio:
            found = f"a {table.measure.noun} over the people present"
            raise InvalidArgument("release", found, "a count, a sum or totals; see rolling")
        if isinstance(design.shape, Tree):
            raise InvalidArgument("release", str(design.shape), "tuned for single periods; see rolling and resample")
        check_fraction("level", level)
        value, _ = answer(workload, Memory.start(workload, self.parts[0].shape[1]), self.parts[0])
        spread = np.sqrt(filter_variances(workload, design.shape.inverse(table.horizon)))[:, None]
        deviation = design.noises[0].deviation if design.measured is None else place_deviations(design)
        half = deviations(design.law, level) * deviation * spread
        if table.measure.divisor is not None:
            value, half = value / table.measure.divisor, half / table.measure.divisor
        return View(
            table,
            f"{workload} of {table.released}",
            np.arange(table.horizon),
            in_units(Estimates(value, value - half, value + half), table.scales),
            level,
            self.certificate.after(str(workload)),
            table.label,
            design.law,
            "filtered",
            apart=False,
            binned=bool(table.measure.bin_edges),
        )

    def coarser(self, every: str) -> Windows:
        """Return longer periods."""
        calendar = self.design.table.calendar
        if calendar is None:
            raise InvalidArgument("every", every, "used only where periods have dates; rolling(n) needs none")
        return coarser(calendar, every)

    def made(self, windows: Windows, kind: RowKind) -> Made:
        """Return what numbers over stretches of periods are made of."""
        design, table = self.design, self.design.table
        rows, columns = Rows(table, windows, kind), columns_of(table)
        if table.measure.ratio:
            groups = np.arange(table.groups)[:, None]
            return PooledReading(rows, columns, design, self.parts, groups)
        divisor = np.full(len(windows.starts), float(table.measure.divisor or 1))
        if kind == "rolling" or table.measure.averages:
            divisor *= windows.lengths
        factors = None if bool(np.all(divisor == 1.0)) else 1 / divisor
        noise = design.noises[0]
        key = hashlib.sha256(self.text.encode()).hexdigest()
        places: PlaceCovariance = IndependentPlaces(table.places)
        covariance = design.place_covariance
        if covariance is not None:
            places = TreePlaces(covariance, axes_of(table)[2], noise.deviation**2)
        apart = covariance is None
        source = Source(key, self.request, self.parts[0], noise.law, noise.scale, design.shape, places, apart)
        # Weights over groups put numbers back into units of the column: sums over groups know each one's noise.
        across = identity(len(columns))
        if table.scales is not None:
            across = across.scaled(np.array(table.scales))
        term = Term(source, of_windows(windows.starts, windows.stops, factors), across)
        return LinearReading(rows, columns, Linear((term,)), nonnegative=not table.measure.negative)

    def _shown(
        self,
        windows: Windows,
        title: str,
        step: str,
        kind: RowKind,
        estimates: Estimates,
        *,
        level: float,
        everyone: Unlimited | None,
        covers: str,
    ) -> View:
        table = self.design.table
        return View(
            table,
            title,
            windows.labels,
            estimates,
            level,
            self.certificate.after(step) if step else self.certificate,
            table.label,
            self.design.law,
            kind,
            apart=isinstance(self.design.shape, White) and kind in ("single", "coarser"),
            binned=bool(table.measure.bin_edges),
            everyone=everyone,
            covers=covers,
            made=self.made(windows, kind),
        )

    def _everyone(self, estimates: Estimates, kind: RowKind, figure: MissingFigure | None) -> Unlimited | None:
        """Return the numbers without limits, as far as they can be told, where the figure of what is missing is."""
        if figure is None or kind not in ("single", "coarser", "running"):
            return None
        if figure.nothing:
            return Unlimited(estimates, "all")
        if figure.assume is None:
            nothing = np.full_like(estimates.value, np.nan)
            return Unlimited(Estimates(nothing, nothing, nothing), "all")
        table = self.design.table
        mean, spread = self._kept()
        periods = table.max_periods is None or table.max_periods >= table.horizon
        chosen = 0.0 if periods and table.max_groups >= table.groups else table.measure.reach
        signed = table.measure.negative
        law = self.design.law
        found = if_even(estimates, figure, mean=mean, spread=spread, law=law, choice=chosen, signed=signed)
        return Unlimited(found, "if_even")

    def _kept(self) -> tuple[float, float]:
        """Return the mean over all periods of what was kept, all groups together, and the deviation of its noise."""
        table = self.design.table
        everything = rolling(table.horizon, table.horizon)
        whole = estimate(self.design, self.parts, everything, average=True, level=0.95)
        # Groups have noise of their own, as many draws of it each.
        terms = float(noise_terms(self.design, everything)[0]) * table.groups
        divisor = table.horizon * (table.measure.divisor or 1)
        return float(whole.value.sum()), self.design.noises[0].deviation * float(np.sqrt(terms)) / divisor

    def _covers_all(self, everyone: Unlimited, figure: MissingFigure) -> str:
        """What both bands cover where the figure of what is missing is: the second is of the number without limits."""
        if figure.nothing:
            return "noise only, and the limits can remove nothing, so columns …_all are the same"
        share = figure.share_of(self._kept()[0])
        if everyone.suffix == "all":
            many = _periods(self.design.table.calendar)
            return f"noise only. The limits removed {share} on average, perhaps unevenly: no band for single {many}"
        if not everyone.apart:
            return "noise only. What was kept may be nothing but noise: no band, even if the loss was even"
        return (
            f"noise only; columns …_if_even also what the limits removed, {share} on average, and only if it was "
            "spread over periods and groups like what they kept"
        )

    def _covers(self) -> str:
        if self.design.table.measure.finished:
            return "noise only"
        if self.design.life is not None:
            return "noise only, not what the limits removed; whoever has used up their life is not in the number"
        if self.design.counts_decide:
            return (
                "noise only, not what the limits removed; counts decided which keys are shown, and those near the "
                "least that is shown are too high more often than that"
            )
        return "noise only, not what the limits removed"


_PERIODS = {"D": "days", "W": "weeks", "mo": "months", "h": "hours"}


def _periods(calendar: Calendar | None) -> str:
    """Return what the periods of a table are called, of which there are several."""
    return "periods" if calendar is None else _PERIODS.get(calendar.every.removeprefix("1"), "periods")

"""A release: noisy numbers, what they are, and the certificate; everything asked of it afterwards is free.

What it shows is post-processing; which intervals hold, and why: "Intervals" of ``docs/explanation/proofs/release.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument, UnknownDocument
from chronodp.ledger import Link, SignedLink, check_signed, load_release, save_release
from chronodp.postprocess import deviations
from chronodp.privacy import Certificate, Grid, canonical, check_fraction, load, load_parts, stored_quanta, to_document
from chronodp.report import Page, write_page
from chronodp.series.answers import Memory, answer
from chronodp.series.bands import level_for_all
from chronodp.series.describe import describe
from chronodp.series.design import Design
from chronodp.series.estimates import Estimates, Floats, estimate, estimate_quantile, noise_terms
from chronodp.series.found import Found
from chronodp.series.missing import MissingFigure, everyone
from chronodp.series.shapes.errors import filter_variances
from chronodp.series.shapes.toeplitz import White
from chronodp.series.shapes.tree import Tree
from chronodp.series.views import Reading, View
from chronodp.series.windows import Windows, coarser, each, rolling, running
from chronodp.series.workloads import Ewm, Filter

if TYPE_CHECKING:
    import pandas
    import pyarrow

__all__ = ["Release", "release_text"]


def release_text(design: Design, noisy: Sequence[NDArray[np.int64]], figure: Sequence[int] | None = None) -> str:
    """Return the canonical text of a release: what is stored, digested and signed."""
    content: dict[str, Any] = {
        "kind": "release",
        "design": to_document(design),
        "noisy": [part.ravel().tolist() for part in noisy],
    }
    if figure is not None:
        content["missing"] = list(figure)
    return canonical(content)


class Release:
    """Private numbers to publish. Made by ``plan.release(...)`` or `Release.load`.

    Intervals cover noise at their level (0.95 unless you say otherwise); clipping and left-out periods are not in them.
    Where the plan asked for `Missing`, a second interval covers the number without bounds.
    """

    def __init__(self, text: str, signed: SignedLink, *, whole: str | None = None) -> None:
        """Read a release from its text, and from the text that was signed if it is a part of that."""
        self.text, self.signed, self.whole = text, signed, whole
        check_signed(self.link, text, whole=whole)

    @classmethod
    def load(cls, path: str | Path) -> Release:
        """Return a release that was saved; `chronodp verify` tells whether its signature is genuine."""
        return cls(*load_release(path))

    @cached_property
    def link(self) -> Link:
        """The link in the dataset's chain: dataset, request, when it was issued."""
        return self.signed.link

    @property
    def certificate(self) -> Certificate:
        """What is promised, by which argument."""
        return self.link.certificate

    @cached_property
    def design(self) -> Design:
        """Everything public about the release."""
        design: Design = load(self._content["design"], Design)
        return design

    @property
    def found(self) -> Found | None:
        """The bounds that were found privately; None if all were declared."""
        return self.design.found

    @property
    def keys(self) -> tuple[str, ...] | None:
        """The keys that were found privately, in the order of their bytes; None if all were declared.

        They are public from now on: ``by(page=release.keys)`` pays for numbers alone.
        """
        found = [grouping.keys for grouping in self.design.table.groupings if grouping.found]
        return found[0] if found else None

    @property
    def missing(self) -> MissingFigure | None:
        """What bounds took away, as it was released, with an interval of 95 %; None where nobody asked for it."""
        return self.missing_at(0.95)

    def missing_at(self, level: float) -> MissingFigure | None:
        """Return what bounds took away with an interval of another level; None where nobody asked for it."""
        design = self.design.missing
        if design is None:
            return None
        released = self._content.get("missing")
        kinds = 1 if design.beyond is None else 2
        if not isinstance(released, list) or [type(number) for number in released] != [int] * kinds:
            raise UnknownDocument(f"the figure of what is missing is {kinds} whole numbers")
        horizon = self.design.table.horizon
        return MissingFigure.read(design, released, horizon=horizon, level=level)

    def to_pandas(self, *, level: float = 0.95) -> pandas.DataFrame:
        """Return a long table: time, groups, value, lower, upper.

        With `Missing` also value_all, lower_all and upper_all: of the numbers without bounds, assuming even loss.
        """
        return self.each_period(level=level).to_pandas()

    def to_arrow(self, *, level: float = 0.95) -> pyarrow.Table:
        """Return the same long table as Arrow."""
        return self.each_period(level=level).to_arrow()

    def each_period(self, *, level: float = 0.95, simultaneous: bool = False) -> View:
        """Return every period by itself. A simultaneous band holds all values at once with probability ``level``."""
        windows = each(self.design.table.horizon)
        title = self.design.table.released
        return self._view(windows, title, "", "single", level=level, simultaneous=simultaneous)

    def running_total(self, *, level: float = 0.95, simultaneous: bool = False) -> View:
        """Return the total up to and with each period. Free."""
        if self.design.table.measure.averages:
            noun = self.design.table.measure.noun
            allowed = f"a count, a sum or totals: running totals of {noun}s say nothing"
            raise InvalidArgument("release", f"a {noun}", allowed)
        self._refuse_extremes("running totals")
        title = f"running total of {self.design.table.released}"
        windows = running(self.design.table.horizon)
        return self._view(windows, title, "running totals", "running", level=level, simultaneous=simultaneous)

    def rolling(self, n: int, *, level: float = 0.95, simultaneous: bool = False) -> View:
        """Return the mean (or variance) of each period and the n - 1 before it, from the n-th on. Free."""
        title = f"{self.design.table.measure.together(n)} {self.design.table.released}"
        windows = rolling(self.design.table.horizon, n)
        step = f"rolling means over {n} periods"
        return self._view(windows, title, step, "rolling", level=level, simultaneous=simultaneous)

    def resample(self, every: str, *, level: float = 0.95, simultaneous: bool = False) -> View:
        """Return sums (of means and variances: these) over longer periods, such as '1D' of hours. Free.

        Periods are counted from the series' start; a last one that is not filled is left out.
        """
        self._refuse_extremes("sums")
        title = f"{self.design.table.released}, every {every}"
        step = f"added up to periods of {every}"
        return self._view(self._coarser(every), title, step, "coarser", level=level, simultaneous=simultaneous)

    def ewm(self, alpha: float, *, level: float = 0.95) -> View:
        """Return exponentially weighted means, ``alpha`` of the present and the rest of the mean before. Free."""
        return self._filtered(Ewm(alpha), level=level)

    def linear(self, weights: Sequence[float], *, level: float = 0.95) -> View:
        """Return any weighted sum of each period and those before it, the present one's weight first. Free."""
        return self._filtered(Filter(tuple(weights)), level=level)

    def quantile(self, q: float, *, every: str | None = None, level: float = 0.95) -> View:
        """Return a quantile of a histogram, such as 0.5 for the median, with an interval of edges. Free."""
        table = self.design.table
        column = table.measure.read_column
        if column is None or not table.measure.bin_edges:
            raise InvalidArgument("release", str(table.measure), "a histogram: only there are quantiles free")
        check_fraction("q", q)
        windows = each(table.horizon) if every is None else self._coarser(every)
        counts = windows.sums(self._parts[0]).reshape(len(windows.starts), table.groups, table.measure.bins)
        estimates = estimate_quantile(
            counts,
            np.array(table.measure.bin_edges),
            q,
            design=self.design,
            terms=noise_terms(self.design, windows),
            level=check_fraction("level", level),
        )
        certificate = self.certificate.after(f"quantile {q:g} of the histogram")
        title = f"quantile {q:g} of {column}"
        return View(
            table,
            title,
            windows.labels,
            estimates,
            level,
            certificate,
            column,
            self.design.law,
            "quantile",
            apart=False,
        )

    def save(self, path: str | Path) -> Path:
        """Write the release with its signed certificate as JSON, which `chronodp verify` reads."""
        return save_release(path, self.text, self.signed, whole=self.whole)

    def plot(self) -> Any:
        """Return a Plotly figure of the series with its band."""
        return self.each_period().plot()

    def report(self, path: str | Path, *, title: str = "") -> Path:
        """Write one page that opens anywhere with the network off: series, guarantee in words, certificate, table."""
        view = self.each_period()
        frame = view.to_pandas()
        guarantee = self.certificate.guarantee
        warning = str(self.certificate).splitlines()[0] if self.certificate.seeded else ""
        page = Page(
            title=title or f"{self.link.dataset}: {self.design.table.released}",
            promise=f"This release is {guarantee}. It protects {guarantee.unit.protects}. It does not protect "
            f"{guarantee.unit.does_not_protect}.",
            facts=(*describe(self.design, self.design.delta), *self.beside),
            certificate=str(self.certificate),
            warning=warning,
            caption=f"{'Each line shows released values in its band. ' if len(frame) else ''}{view.drawn_note}.",
            columns=tuple(frame.columns),
            rows=list(frame.itertuples(index=False, name=None)),
            figure=view.plot(),
        )
        return write_page(page, path)

    @property
    def beside(self) -> list[tuple[str, str]]:
        """Return what was found and what is missing, in words."""
        facts = [] if self.found is None else [("Found", f"privately, as a part of the price: {self.found}")]
        if self.keys is not None:
            how = "found privately, as a part of the price"
            enough = f"none had enough {self.design.table.unit.called or 'people'}"
            left_out = "rows with other keys are left out"
            facts.append(("Keys", f"{len(self.keys):,} {how}; {left_out if self.keys else enough}"))
        return facts if self.missing is None else [*facts, ("Missing", str(self.missing))]

    def __repr__(self) -> str:
        return f"Release({self.link.dataset!r}, request={self.link.request!r}, {self.design.table.released})"

    def __str__(self) -> str:
        view = self.each_period()
        beside = "".join(f"\n{label}: {text}" for label, text in self.beside)
        return f"{self.design.table.released}\n{view.to_pandas()}\n{view.note}{beside}\n{self.certificate}"

    def _refuse_extremes(self, what: str) -> None:
        block = self.design.table.measure.block
        if block is not None and block.extreme:
            raise InvalidArgument(
                "release", f"a {block.statistic}", f"of totals: {what} of {block.statistic}s say nothing"
            )

    def _coarser(self, every: str) -> Windows:
        calendar = self.design.table.calendar
        if calendar is None:
            raise InvalidArgument("every", every, "used only where periods have dates; rolling(n) needs none")
        return coarser(calendar, every)

    def _filtered(self, workload: Ewm | Filter, *, level: float) -> View:
        design, table = self.design, self.design.table
        if table.measure.ratio:
            found = f"a {table.measure.noun} over the people present"
            raise InvalidArgument("release", found, "a count, a sum or totals; see rolling")
        if isinstance(design.shape, Tree):
            raise InvalidArgument("release", str(design.shape), "tuned for single periods; see rolling and resample")
        check_fraction("level", level)
        value, _ = answer(workload, Memory.start(workload, table.places), self._parts[0])
        spread = np.sqrt(filter_variances(workload, design.shape.inverse(table.horizon)))[:, None]
        half = deviations(design.law, level) * design.noises[0].deviation * spread
        if table.measure.divisor is not None:
            value, half = value / table.measure.divisor, half / table.measure.divisor
        estimates = Estimates(value, value - half, value + half)
        certificate = self.certificate.after(str(workload))
        binned = bool(table.measure.bin_edges)
        return View(
            table,
            f"{workload} of {table.released}",
            np.arange(table.horizon),
            estimates,
            level,
            certificate,
            table.label,
            design.law,
            "filtered",
            apart=False,
            binned=binned,
        )

    def _view(
        self,
        windows: Windows,
        title: str,
        step: str,
        reading: Reading,
        *,
        level: float,
        simultaneous: bool = False,
    ) -> View:
        single = check_fraction("level", level)
        if simultaneous:
            single = level_for_all(self.design, windows, level)
        estimates = estimate(self.design, self._parts, windows, average=reading == "rolling", level=single)
        without_bounds = None if simultaneous else self._everyone(estimates, reading, level)
        certificate = self.certificate.after(step) if step else self.certificate
        table = self.design.table
        return View(
            table,
            title,
            windows.labels,
            estimates,
            level,
            certificate,
            table.label,
            self.design.law,
            reading,
            apart=isinstance(self.design.shape, White) and reading in ("single", "coarser"),
            binned=bool(table.measure.bin_edges),
            everyone=without_bounds,
            covers=self._covers(without_bounds is not None),
        )

    def _everyone(self, estimates: Estimates, reading: Reading, level: float) -> Estimates | None:
        """Return estimates of the numbers without bounds, where that is assumed to be possible."""
        figure = self.missing_at(level)
        if figure is None or figure.assume is None or reading not in ("single", "coarser", "running"):
            return None
        table = self.design.table
        everything = rolling(table.horizon, table.horizon)
        whole = estimate(self.design, self._parts, everything, average=True, level=level)
        # Groups have noise of their own: halves add as roots of squares.
        half = float(np.sqrt((((whole.upper - whole.lower) / 2) ** 2).sum()))
        periods = table.max_periods is None or table.max_periods >= table.horizon
        chosen = 0.0 if periods and table.max_groups >= table.groups else table.measure.reach
        return everyone(
            estimates,
            figure,
            mean=float(whole.value.sum()),
            mean_half=half,
            choice=chosen,
            signed=table.measure.negative,
        )

    def _covers(self, without_bounds: bool) -> str:
        if without_bounds:
            return "noise only within bounds; without bounds (…_all) also what bounds took away, assuming even loss"
        if self.design.table.measure.finished:
            return "noise only"
        return "noise only, not what bounds took away"

    @cached_property
    def _content(self) -> dict[str, Any]:
        return load_parts(self.text, "release", "design", "noisy")

    @cached_property
    def _parts(self) -> tuple[Floats, ...]:
        """The noisy numbers of each kind, periods by places."""
        table, noises = self.design.table, self.design.noises
        noisy = stored_quanta(self._content["noisy"], (len(noises), table.horizon, table.places))
        return tuple(Grid(noise.step).to_values(steps) for steps, noise in zip(noisy, noises, strict=True))

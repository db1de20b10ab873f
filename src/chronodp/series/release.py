"""A release: noisy numbers, what they are, and the certificate; everything asked of it afterwards is free.

What it shows is post-processing; which intervals hold, and why: "Intervals" of ``docs/explanation/proofs/release.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument, UnknownDocument
from chronodp.ledger import Written, list_or_pack, read_numbers
from chronodp.privacy import Grid, canonical, check_fraction, counted, load, load_parts, to_document
from chronodp.series.describe import describe
from chronodp.series.design import Design
from chronodp.series.estimates import Floats, noise_terms
from chronodp.series.found import Found
from chronodp.series.missing import MissingFigure
from chronodp.series.place_noise import sums_of_places
from chronodp.series.plain import Numbers
from chronodp.series.quantile_reading import estimate_quantile
from chronodp.series.readable import Readable
from chronodp.series.readings.axes import RowKind, columns_of
from chronodp.series.reporting import MOST_ON_PAGE, report_view
from chronodp.series.table_release import TableRelease
from chronodp.series.views import View
from chronodp.series.windows import Windows, each, rolling, running
from chronodp.series.workloads import Ewm, Filter

if TYPE_CHECKING:
    pass

__all__ = ["Release", "release_text"]


def release_text(design: Design, noisy: Sequence[NDArray[np.int64]], figure: Sequence[int] | None = None) -> Written:
    """Return the canonical text of a release, which is digested and signed, and numbers that are too many for it."""
    listed, parts = list_or_pack(noisy)
    content: dict[str, Any] = {"kind": "release", "design": to_document(design), "noisy": listed}
    if figure is not None:
        content["missing"] = list(figure)
    return Written(canonical(content), parts)


class Release(TableRelease, Readable):
    """Private numbers to publish. Made by ``plan.release(...)`` or `Release.load`.

    Intervals cover noise at their level (0.95 unless you say otherwise); clipping and left-out periods are not in them.
    Where the plan asked for `Missing`, what limits removed on average is beside them, and what follows for the numbers.
    """

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
        kinds = len(design.noises)
        if not isinstance(released, list) or [type(number) for number in released] != [int] * kinds:
            raise UnknownDocument(f"the figure of what is missing is {counted(kinds, 'whole number')}")
        table = self.design.table
        least = 0.0 if table.measure.whole else -math.inf
        return MissingFigure.read(design, released, horizon=table.horizon, level=level, least=least)

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
        step = f"rolling means over {counted(n, 'period')}"
        return self._view(windows, title, step, "rolling", level=level, simultaneous=simultaneous)

    def resample(self, every: str, *, level: float = 0.95, simultaneous: bool = False) -> View:
        """Return sums (of means and variances: these) over longer periods, such as '1D' of hours. Free.

        Periods are counted from the series' start; a last one that is not filled is left out.
        """
        self._refuse_extremes("sums")
        title = f"{self.design.table.released}, every {every}"
        step = f"added up to periods of {every}"
        return self._view(self._numbers.coarser(every), title, step, "coarser", level=level, simultaneous=simultaneous)

    def ewm(self, alpha: float, *, level: float = 0.95) -> View:
        """Return exponentially weighted means, ``alpha`` of the present and the rest of the mean before. Free."""
        return self._numbers.filtered(Ewm(alpha), level=level)

    def linear(self, weights: Sequence[float], *, level: float = 0.95) -> View:
        """Return any weighted sum of each period and those before it, the present one's weight first. Free."""
        return self._numbers.filtered(Filter(tuple(weights)), level=level)

    def quantile(self, q: float, *, every: str | None = None, level: float = 0.95) -> View:
        """Return a quantile of a histogram, such as 0.5 for the median, with an interval of edges. Free."""
        table = self.design.table
        column = table.measure.read_column
        if column is None or not table.measure.bin_edges:
            raise InvalidArgument("release", str(table.measure), "a histogram: only there are quantiles free")
        check_fraction("q", q)
        if table.levels is not None:
            allowed = "a histogram without Places: quantiles of these are not read yet"
            raise InvalidArgument("release", "places", allowed)
        windows = each(table.horizon) if every is None else self._numbers.coarser(every)
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

    def report(self, path: str | Path, *, title: str = "") -> Path:
        """Write one page that opens anywhere with the network off: series, guarantee in words, certificate, table.

        It holds 100,000 rows at most: of `Places` the uppermost levels that fit, and says what is left out.
        """
        # Of places the uppermost levels alone may fit the page: intervals of the rest are not made.
        places = self.design.table.levels is not None
        return report_view(
            self.operand.uppermost(MOST_ON_PAGE) if places else self.each_period(),
            path,
            title=title or f"{self.link.dataset}: {self.design.table.released}",
            facts=(*describe(self.design, self.design.delta), *self.beside),
        )

    @property
    def beside(self) -> list[tuple[str, str]]:
        """Return what was found and what is missing, in words."""
        facts = [] if self.found is None else [("Found", f"privately, as a part of the price: {self.found}")]
        if self.keys is not None:
            how = (
                "found privately, by their own counts"
                if self.design.counts_decide
                else "found privately, as a part of the price"
            )
            enough = f"none had enough {self.design.table.unit.called or 'people'}"
            left_out = "rows with other keys are left out"
            facts.append(("Keys", f"{len(self.keys):,} {how}; {left_out if self.keys else enough}"))
        return facts if self.missing is None else [*facts, ("Missing", str(self.missing))]

    def _refuse_extremes(self, what: str) -> None:
        block = self.design.table.measure.block
        if block is not None and block.extreme:
            raise InvalidArgument(
                "release", f"a {block.statistic}", f"of totals: {what} of {block.statistic}s say nothing"
            )

    def _view(
        self, windows: Windows, title: str, step: str, kind: RowKind, *, level: float, simultaneous: bool = False
    ) -> View:
        check_fraction("level", level)
        figure = self.missing_at(level)
        return self._numbers.view(windows, title, step, kind, level=level, figure=figure, simultaneous=simultaneous)

    @property
    def operand(self) -> View:
        """Every period by itself, for other views to be made of; `each_period` has intervals too."""
        return self._numbers.operand()

    @property
    def outline(self) -> View:
        """The same without a number in it: what can be asked of a release, from its design alone."""
        nothing = np.broadcast_to(0.0, (self.design.table.horizon, len(columns_of(self.design.table))))
        parts = (nothing,) * len(self.design.noises)
        return Numbers(self.design, parts, self.certificate, self.text, self.link.request).operand()

    @cached_property
    def _numbers(self) -> Numbers:
        return Numbers(self.design, self._parts, self.certificate, self.text, self.link.request)

    @cached_property
    def _content(self) -> dict[str, Any]:
        return load_parts(self.text, "release", "design", "noisy")

    @cached_property
    def _parts(self) -> tuple[Floats, ...]:
        """The noisy numbers of each kind, periods by places."""
        table, noises = self.design.table, self.design.noises
        # Of places the leaves are stored; what is above is their sum, to the last digit.
        kinds = len(noises) if table.levels is None else 1
        shape = (kinds, table.horizon, table.places)
        noisy = read_numbers(self._content["noisy"], shape, self._packed)
        if table.levels is not None:
            return (Grid(noises[0].step).to_values(sums_of_places(table, noisy[0])),)
        return tuple(Grid(noise.step).to_values(steps) for steps, noise in zip(noisy, noises, strict=True))

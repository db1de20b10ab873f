"""Released quantiles: a drawn bin for each, or a value with an interval of edges where a histogram was released."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chronodp.engines import Grouping
from chronodp.errors import InvalidArgument, UnknownDocument
from chronodp.ledger import Written, list_or_pack, read_numbers
from chronodp.postprocess import Estimates, Floats
from chronodp.privacy import Grid, canonical, check_fraction, load, load_parts, to_document
from chronodp.series.quantile_reading import read_quantiles
from chronodp.series.quantiles.choices import ByChoice
from chronodp.series.quantiles.describe import describe_quantiles, rank_words
from chronodp.series.quantiles.design import QuantileDesign
from chronodp.series.quantiles.histograms import ByHistogram
from chronodp.series.readings.axes import Columns
from chronodp.series.readings.cells import NONE, TOO_FEW, Cells
from chronodp.series.reporting import report_view
from chronodp.series.table_release import TableRelease
from chronodp.series.views import View
from chronodp.series.windows import Windows, coarser, each

if TYPE_CHECKING:
    import pandas

__all__ = ["QuantileRelease", "QuantileView", "quantile_text"]


def quantile_text(design: QuantileDesign, drawn: NDArray[np.int64]) -> Written:
    """Return the canonical text of released quantiles, which is digested and signed, and numbers too many for it."""
    listed, parts = list_or_pack([drawn])
    return Written(canonical({"kind": "quantiles", "design": to_document(design), "drawn": listed}), parts)


@dataclass(frozen=True, slots=True)
class QuantileView(View):
    """Quantiles as people look at them: a row for every period, group and quantile.

    Attributes:
        drawn: whether they are drawn bins: a value is then the lower end of its bin, and no point within it is told.
    """

    drawn: bool = False

    def to_pandas(self) -> pandas.DataFrame:
        """Return a long table: time (or period), groups, quantile, value, and lower and upper of an interval.

        Of drawn bins value and value_to, the ends of the bin, and why: "too few" where there is none.
        """
        frame = super(QuantileView, self).to_pandas()  # slots make the class anew
        frame["quantile"] = frame["quantile"].astype(np.float64)
        if not self.drawn:
            return frame
        bins = frame.drop(columns=["lower", "kind", "not_above", "not_below"])
        return bins.rename(columns={"upper": "value_to"})

    @property
    def banded(self) -> bool:
        """Whether values have intervals: drawn bins have none."""
        return not self.drawn

    @property
    def note(self) -> str:
        """What is known of errors, in a sentence."""
        if not self.drawn:
            return f"Bands of {100 * self.level:g} %: {self.covers}"
        few = "" if self.cells is None else int((self.cells.why == TOO_FEW).sum())
        without = f". {few:,} of {self.size:,} are empty: too few to tell" if few else ""
        return f"Each is a bin, from value up to value_to: {self.covers}{without}"


class QuantileRelease(TableRelease):
    """Private quantiles to publish. Made by ``series.quantiles(...).plan(...).release(...)`` or loaded.

    Where a histogram was released, intervals of edges cover noise at their level, and any other quantile is free. Where
    bins were drawn, the plan's words say how far ranks are off; a cell with too few people has no bin, and says so.
    """

    found = None
    keys = None
    missing = None

    @cached_property
    def design(self) -> QuantileDesign:
        """Everything public about the release."""
        design: QuantileDesign = load(self._content["design"], QuantileDesign)
        return design

    @property
    def beside(self) -> list[tuple[str, str]]:
        """Nothing: what is known of errors is said by the view."""
        return []

    def missing_at(self, level: float) -> None:
        """Return nothing: no figure of what bounds took away is released beside quantiles."""
        check_fraction("level", level)

    def each_period(self, *, level: float = 0.95) -> QuantileView:
        """Return the quantiles that were asked for, of every period."""
        check_fraction("level", level)
        way, table = self.design.way, self.design.table
        if isinstance(way, ByHistogram):
            return self._read(way, each(table.horizon), self.design.quantiles, level, "")
        edges = np.append(table.measure.bin_edges, np.nan)  # one more, for both ends of "too few"
        few = self._drawn == self.design.bins
        value, end = edges[np.where(few, self.design.bins + 1, self._drawn)], edges[self._drawn + 1]
        nothing = np.full(few.shape, NONE, np.int8)
        bins = Estimates(value, value, end)
        cells = Cells(bins, nothing, None, None, np.where(few, TOO_FEW, NONE).astype(np.int8))
        covers = rank_words(self.design, level)
        return self._view(each(table.horizon), self.design.quantiles, bins, level, "", covers, cells)

    def quantile(self, q: float, *, every: str | None = None, level: float = 0.95) -> QuantileView:
        """Return another quantile, or one of longer periods. Free where a histogram was released."""
        check_fraction("q", q)
        check_fraction("level", level)
        way, table = self.design.way, self.design.table
        if isinstance(way, ByHistogram):
            if every is not None and table.calendar is None:
                raise InvalidArgument("every", every, "used only where periods have dates")
            windows = each(table.horizon)
            if every is not None and table.calendar is not None:
                windows = coarser(table.calendar, every)
            return self._read(way, windows, (q,), level, f"quantile {q:g} of the histogram")
        if q not in self.design.quantiles or every is not None:
            asked = ", ".join(f"{one:g}" for one in self.design.quantiles)
            allowed = f"one of {asked}, and no longer periods: bins were drawn for these alone"
            raise InvalidArgument("q" if every is None else "every", q if every is None else every, allowed)
        whole, index = self.each_period(level=level), self.design.quantiles.index(q)
        chosen = np.arange(index, whole.estimates.value.shape[1], len(self.design.quantiles))
        cells = None if whole.cells is None else whole.cells.columns(chosen)
        values = Estimates(*(getattr(whole.estimates, name)[:, chosen] for name in ("value", "lower", "upper")))
        return self._view(each(table.horizon), (q,), values, level, "", whole.covers, cells)

    def report(self, path: str | Path, *, title: str = "") -> Path:
        """Write one page that opens anywhere with the network off: series, guarantee in words, certificate, table."""
        named = title or f"{self.link.dataset}: {self.design.table.released}"
        return report_view(self.each_period(), path, title=named, facts=describe_quantiles(self.design))

    def _read(
        self, way: ByHistogram, windows: Windows, fractions: Sequence[float], level: float, step: str
    ) -> QuantileView:
        table, bins = self.design.table, self.design.bins
        counts = windows.sums(Grid(way.noise.step).to_values(self._drawn))
        lengths, which = np.unique(windows.lengths, return_inverse=True)
        half = [
            np.array([way.half_widths(q, bins, int(length), level) for length in lengths])[which] for q in fractions
        ]
        shaped: Floats = counts.reshape(len(windows.starts), table.groups, bins)
        found = read_quantiles(shaped, np.array(table.measure.bin_edges), fractions, half)
        rows = len(windows.starts)
        flat = Estimates(*(getattr(found, name).reshape(rows, -1) for name in ("value", "lower", "upper")))
        return self._view(windows, tuple(fractions), flat, level, step, "noise only, not what the limits removed")

    def _view(
        self,
        windows: Windows,
        fractions: tuple[float, ...],
        estimates: Estimates,
        level: float,
        step: str,
        covers: str,
        cells: Cells | None = None,
    ) -> QuantileView:
        way, table = self.design.way, self.design.table
        return QuantileView(
            table,
            table.released if not step else f"{step} of {table.measure.read_column}",
            windows.labels,
            estimates,
            level,
            self.certificate.after(step) if step else self.certificate,
            table.label,
            way.noise.law if isinstance(way, ByHistogram) else "laplace",
            "quantile",
            apart=False,
            covers=covers,
            columns=Columns((*table.groupings, Grouping("quantile", tuple(map(str, fractions))))),
            cells=cells,
            drawn=isinstance(way, ByChoice),
        )

    @cached_property
    def _content(self) -> dict[str, Any]:
        return load_parts(self.text, "quantiles", "design", "drawn")

    @cached_property
    def _drawn(self) -> NDArray[np.int64]:
        """What was drawn: bins' numbers by period, group and quantile, or steps by period, group and bin."""
        shape = (self.design.table.horizon, self.design.table.groups * self.design.numbers)
        drawn = read_numbers(self._content["drawn"], shape, self._packed)
        if isinstance(self.design.way, ByChoice) and not 0 <= drawn.min() <= drawn.max() <= self.design.bins:
            raise UnknownDocument(f"the number of a drawn bin is from 0 to {self.design.bins:,}, the last for too few")
        return drawn

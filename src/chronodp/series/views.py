"""A released series as people look at it: a long table with intervals, a plot."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.postprocess import Law
from chronodp.privacy import Certificate
from chronodp.report import Line, series_figure
from chronodp.series.estimates import Estimates
from chronodp.series.table import Table

if TYPE_CHECKING:
    import pandas
    import pyarrow

__all__ = ["Reading", "View"]

Reading: TypeAlias = Literal["single", "coarser", "running", "rolling", "filtered", "quantile"]


@dataclass(frozen=True, slots=True)
class View:
    """Estimates with their times and groups, and the certificate with what was done to get here.

    Attributes:
        table: what was released.
        title: what the values are, in words.
        periods: the number of the period that dates each row of estimates.
        estimates: values and intervals.
        level: at which intervals cover the noise.
        certificate: of the release, and then of this.
        label: what the values are, in a word.
        law: of the noise.
        reading: what each row is made of: a single period, periods added up, a running total, a rolling mean, a filter
            of periods, or a quantile.
        apart: whether no two rows share noise; after smoothing they do.
        binned: whether there is a column of estimates for every bin, or one for every group.
        everyone: estimates of the numbers without bounds, where they can be had.
        covers: what the band covers, in words.
    """

    table: Table
    title: str
    periods: NDArray[np.int64]
    estimates: Estimates
    level: float
    certificate: Certificate
    label: str
    law: Law
    reading: Reading
    apart: bool
    binned: bool = False
    everyone: Estimates | None = None
    covers: str = "noise only"

    def to_pandas(self) -> pandas.DataFrame:
        """Return a long table: time (or period), groups, bin, value, lower, upper; with `everyone` the same of all."""
        import pandas

        places = self.estimates.value.shape[1]
        columns: dict[str, Any] = self._times(places)
        for name, keys in self._labels().items():
            # Texts as objects: an array of texts loses a NUL at their end, and is as wide as the longest everywhere.
            texts = object if name not in _BINS else None
            columns[name] = np.tile(np.array(keys, texts), len(self.periods))
        for name in ("value", "lower", "upper"):
            columns[name] = getattr(self.estimates, name).ravel()
        if self.everyone is not None:
            for name in ("value", "lower", "upper"):
                columns[f"{name}_all"] = getattr(self.everyone, name).ravel()
        return pandas.DataFrame(columns)

    def to_arrow(self) -> pyarrow.Table:
        """Return the same long table as Arrow."""
        import pyarrow

        return pyarrow.Table.from_pandas(self.to_pandas(), preserve_index=False)

    def plot(self) -> Any:
        """Return a Plotly figure: each group's line in its band (of a histogram: each bin's).

        Of more lines than can be told apart the largest are drawn, of a histogram the first.
        """
        labels = self._labels()
        names = [", ".join(str(label) for label in row) for row in zip(*labels.values(), strict=True)]
        if not labels:
            names = [self.title]
        times = next(iter(self._times(1).values()))
        drawn = [("", self.estimates)]
        if self.everyone is not None:
            drawn = [(" within bounds", self.estimates), (" without bounds", self.everyone)]
        lines = [
            Line(
                name=f"{names[place]}{which}",
                times=list(times),
                values=estimates.value[:, place],
                lower=estimates.lower[:, place],
                upper=estimates.upper[:, place],
            )
            for place in self._drawn
            for which, estimates in drawn
        ]
        return series_figure(lines, title=self.title, value_name=self.label, note=self.drawn_note)

    @property
    def note(self) -> str:
        """What bands cover, in a sentence; of a table without any key, why it is empty."""
        if not self.table.places:
            columns = [grouping.column for grouping in self.table.groupings if grouping.found]
            return f"No key of {columns[0]} had enough {self.table.unit.called or 'people'}: the table is empty"
        return f"Bands of {100 * self.level:g} %: {self.covers}"

    @property
    def drawn_note(self) -> str:
        """The same beside a chart, which may not have all lines."""
        places, drawn = self.estimates.value.shape[1], len(self._drawn)
        if drawn == places:
            return self.note
        which = "first" if self.binned else "largest"
        return f"{self.note}; drawn are the {which} {drawn} of {places:,}, the table has all"

    @property
    def _drawn(self) -> list[int]:
        """Which places are drawn, in their order."""
        values = self.estimates.value
        most = _MOST_LINES if self.everyone is None else _MOST_LINES // 2
        if self.binned or values.shape[1] <= most:
            return list(range(values.shape[1]))[:most]
        # By values that are released: what is shown of them needs no price.
        largest = np.argsort(-np.nan_to_num(values).sum(axis=0), kind="stable")[:most]
        return sorted(largest.tolist())

    def _times(self, places: int) -> dict[str, Any]:
        import pandas

        if self.table.calendar is None:
            return {"period": np.repeat(self.periods, places)}
        starts = pandas.to_datetime(self.table.calendar.edges[self.periods], unit="us", utc=True)
        return {"time": starts.tz_convert(self.table.calendar.timezone).repeat(places)}

    def _labels(self) -> dict[str, list[Any]]:
        """The label of every place, by column."""
        groupings = self.table.groupings
        rows: list[tuple[Any, ...]] = list(product(*(grouping.keys for grouping in groupings)))
        names = [grouping.column for grouping in groupings]
        if self.binned:
            edges = self.table.measure.bin_edges
            rows = [(*row, low, high) for row in rows for low, high in pairwise(edges)]
            names += _BINS
        return {name: [row[index] for row in rows] for index, name in enumerate(names)}


_BINS = ("bin_low", "bin_high")
_MOST_LINES = 24  # more cannot be told apart; the table has them all

"""Numbers with intervals as people get them: a long table, a figure, a page, and what they are in a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from chronodp.display import shown, shown_lines
from chronodp.postprocess import Law
from chronodp.privacy import Certificate, counted
from chronodp.report import arrow_of
from chronodp.series.estimates import Estimates
from chronodp.series.missing import Unlimited
from chronodp.series.readings.axes import Columns, RowKind, columns_of
from chronodp.series.readings.cells import REASONS, Cells
from chronodp.series.readings.levels import PLACE, level_sizes, top_levels
from chronodp.series.readings.made import Made
from chronodp.series.readings.weights import Wholes
from chronodp.series.reporting import Drawn, notebook_view, report_view
from chronodp.series.showing import Displayed, drawn_ends, drawn_places, shown_figure, shown_frame
from chronodp.series.table import Table

if TYPE_CHECKING:
    import pandas
    import pyarrow

__all__ = ["ShownView"]

_MOST_AT_ONCE = 2**20  # values of a stretch
_MOST_IN_NOTEBOOK = 2**12  # rows of a table that are made to show some
_ROWS = 10  # of a table that is printed, from both ends


@dataclass(frozen=True, slots=True, repr=False)
class ShownView:
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
            of periods, a quantile, a ratio or a change.
        apart: whether no two rows share noise; after smoothing they do.
        binned: whether there is a column of estimates for every bin, or one for every group.
        everyone: the numbers without limits, as far as they can be told, where the figure of what is missing is.
        covers: what the band covers, in words.
        columns: what columns are, where these are not those of the table.
        made: what the numbers are made of; None where nothing more can be made of them.
        cells: which kind of set each interval is, and why a value is missing; None where all are plain intervals.
    """

    table: Table
    title: str
    periods: NDArray[np.int64]
    estimates: Estimates
    level: float
    certificate: Certificate
    label: str
    law: Law
    reading: RowKind
    apart: bool
    binned: bool = False
    everyone: Unlimited | None = None
    covers: str = "noise only"
    columns: Columns | None = None
    made: Made | None = None
    cells: Cells | None = None

    def to_pandas(self) -> pandas.DataFrame:
        """Return a long table: time (or period), groups, bin, value, lower, upper; with `everyone` its columns.

        Of ratios and of what is published also kind, not_above, not_below and why: 'outside' is all but what lies
        between not_above and not_below, and where there is no value ``why`` tells the reason.
        """
        return shown_frame(self._shown)

    def stretches(self) -> Iterator[Self]:
        """Return the same by stretches of periods of about a million values, so that a large table is never whole.

        They are for reading: nothing more can be made of them.
        """
        count = max(1, _MOST_AT_ONCE // max(1, self.estimates.value.shape[1]))
        for begin in range(0, len(self.periods), count):
            some = slice(begin, begin + count)
            everyone = self.everyone and replace(self.everyone, estimates=_rows(self.everyone.estimates, some))
            yield replace(
                self,
                periods=self.periods[some],
                estimates=_rows(self.estimates, some),
                everyone=everyone,
                made=None,
                cells=None if self.cells is None else self.cells.rows(some),
            )

    def to_arrow(self) -> pyarrow.Table:
        """Return the same long table as Arrow."""
        return arrow_of(self.to_pandas())

    def plot(self) -> Any:
        """Return a Plotly figure: each group's line in its band (of a histogram: each bin's).

        Of more lines than can be told apart the largest are drawn, of a histogram the first.
        """
        return shown_figure(self._shown, title=self.title, label=self.label, note=self.drawn_note)

    def first_rows(self, most: int) -> pandas.DataFrame:
        """Return the first rows of the long table, without making the rest of it."""
        import pandas

        found: list[pandas.DataFrame] = []
        for stretch in self.stretches():
            found.append(stretch.to_pandas())
            if sum(map(len, found)) >= most:
                break
        return pandas.concat(found, ignore_index=True).head(most) if found else self.to_pandas()

    def uppermost(self, most: int) -> Self:
        """Return the uppermost levels of places that fit a table of so many rows; all where it fits, or has no places.

        They are for reading: nothing more can be made of them.
        """
        columns, rows = self._shown.columns, len(self.periods)
        top = None if rows * len(columns) <= most else top_levels(columns, most // max(1, rows))
        if top is None:
            return self
        left, chosen = top
        everyone = self.everyone and replace(self.everyone, estimates=_columns(self.everyone.estimates, chosen))
        cells = None if self.cells is None else self.cells.columns(chosen)
        estimates = _columns(self.estimates, chosen)
        return replace(self, columns=left, estimates=estimates, everyone=everyone, cells=cells, made=None)

    def report(self, path: str | Path, *, title: str = "") -> Path:
        """Write one page that opens anywhere with the network off: numbers, guarantee in words, certificate, table."""
        return report_view(self, path, title=title or self.title)

    def in_notebook(self, *, title: str, facts: Sequence[tuple[str, str]] = ()) -> str:
        """Return HTML for a notebook."""
        return notebook_view(
            self.first_rows(_MOST_IN_NOTEBOOK),
            title=f"{title}; {counted(self.size, 'row')}",
            note=self.note,
            facts=facts,
            certificate=self.certificate,
            line=self._line() if self.size else None,
        )

    def _line(self) -> Drawn:
        """Return the largest of the lines, as it is drawn in a notebook."""
        shown = self._shown
        place = max(drawn_places(shown), key=lambda place: float(np.nansum(shown.estimates.value[:, place])))
        keys = [str(column[place]) for column in shown.columns.labels().values()]
        several = shown.estimates.value.shape[1] > 1
        return Drawn(", ".join(keys) if several else self.title, drawn_ends(shown, place), several)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({shown(self.title)}; {counted(self.size, 'row')})"

    def __str__(self) -> str:
        # Its beginning and its end, as far as pandas shows them: a view may have millions of rows.
        rows = self.first_rows(_MOST_IN_NOTEBOOK).to_string(max_rows=_ROWS, index=False)
        more = "" if self.size <= _MOST_IN_NOTEBOOK else f"\n… {counted(self.size - _MOST_IN_NOTEBOOK, 'row')} more"
        return shown_lines(f"{self.title}\n{rows}{more}\n{self.note}\n{self.certificate.guarantee}")

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return self.in_notebook(title=self.title)

    @property
    def banded(self) -> bool:
        """Whether values have intervals."""
        return True

    @property
    def note(self) -> str:
        """What bands cover, in a sentence; of a table without any key, why it is empty."""
        if not self.table.places:
            columns = [grouping.column for grouping in self.table.groupings if grouping.found]
            return f"No key of {columns[0]} had enough {self.table.unit.called or 'people'}: the table is empty"
        without = ""
        for code, reason in enumerate(REASONS if self.cells is not None else ()):
            count = 0 if self.cells is None else int((self.cells.why == code).sum())
            if count:
                without += f"; {count:,} of {self.estimates.value.size:,} have no value: {reason}"
        return f"Bands of {100 * self.level:g} %: {self.covers}{without}"

    @property
    def drawn_note(self) -> str:
        """The same beside a chart, which may not have all lines."""
        places, drawn = self.estimates.value.shape[1], len(drawn_places(self._shown))
        if drawn == places:
            return self.note
        which = f"the {'first' if self.binned else 'largest'} {drawn} of {places:,}"
        if self.cells is not None and not self.binned:
            which = f"{drawn} of {places:,}, those with most values"
        return f"{self.note}; drawn are {which}, the table has all"

    @property
    def size(self) -> int:
        """How many rows the long table has."""
        return int(self.estimates.value.size)

    @property
    def level_sizes(self) -> dict[str, int]:
        """How many places each level has, root first; nothing where there are none."""
        return level_sizes(self._shown.columns)

    @property
    def key_columns(self) -> dict[str, tuple[str, ...]]:
        """The keys of every grouping, and of every level of places by its name."""
        columns = self._shown.columns
        return {one.column: one.keys for one in columns.groupings if not columns.nodes or one.column != PLACE} | {
            level: tuple(key for of, key in columns.nodes if of == level) for level in level_sizes(columns)
        }

    @property
    def left_out(self) -> str:
        """Which levels of places are not here, in words; nothing where all are, or others were chosen."""
        kept, levels = self._shown.columns.nodes, self.table.levels
        if not kept or levels is None or len(kept) == levels.tree.nodes:
            return ""
        names = list(level_sizes(self._shown.columns))
        here = f"level {names[0]}" if len(names) == 1 else f"levels {', '.join(names[:-1])} and {names[-1]}"
        below = ", ".join(name for name in levels.names if name not in names)
        places = "1 place" if len(kept) == 1 else f"{len(kept):,} places"
        return f"the {places} of {here}, of {levels.tree.nodes:,} in all; those of {below} are left out"

    @property
    def _shown(self) -> Displayed:
        columns = self.columns
        if columns is None:
            columns = columns_of(self.table)
            columns = columns if self.binned else replace(columns, edges=())
        per = "" if self.reading in ("ratio", "change") else self.table.per
        return Displayed(self.table, self.periods, columns, self.estimates, self.everyone, self.cells, per)


def _columns(estimates: Estimates, chosen: Wholes) -> Estimates:
    return Estimates(estimates.value[:, chosen], estimates.lower[:, chosen], estimates.upper[:, chosen])


def _rows(estimates: Estimates, some: slice) -> Estimates:
    return Estimates(estimates.value[some], estimates.lower[some], estimates.upper[some])

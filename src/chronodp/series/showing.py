"""A view as people look at it: a long table, and a figure of its lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chronodp.postprocess import Estimates
from chronodp.report import Line, covered, series_figure
from chronodp.series.missing import Unlimited
from chronodp.series.readings.axes import BINS, Columns
from chronodp.series.readings.cells import KINDS, REASONS, Cells
from chronodp.series.table import Table

if TYPE_CHECKING:
    import pandas

__all__ = ["Displayed", "drawn_ends", "drawn_places", "shown_figure", "shown_frame"]

_OWN = (
    *("covers", "time", "period", "value", "value_to", "lower", "upper"),
    *("kind", "not_above", "not_below", "why", "per"),
)
_MOST_LINES = 24  # more cannot be told apart; the table has them all


@dataclass(frozen=True, slots=True, eq=False)
class Displayed:
    """What a table and a figure show.

    Attributes:
        table: what was released.
        periods: the period that dates each row.
        columns: what columns are.
        estimates: values and intervals.
        everyone: the numbers without limits, as far as they can be told.
        cells: kinds of sets and reasons, where these are told.
        per: of what each number is, such as "row" or "person and day"; empty where it adds up.
    """

    table: Table
    periods: NDArray[np.int64]
    columns: Columns
    estimates: Estimates
    everyone: Unlimited | None
    cells: Cells | None
    per: str


def shown_frame(shown: Displayed) -> pandas.DataFrame:
    """Return the long table."""
    import pandas

    places = shown.estimates.value.shape[1]
    columns: dict[str, Any] = _times(shown, places)
    for name, keys in shown.columns.labels().items():
        # Texts as objects: an array of texts loses a NUL at their end, and is as wide as the longest everywhere.
        texts = object if name not in BINS else None
        # A grouping that is called as one of the columns here keeps its keys under another name.
        free = f"{name}_key" if name in _OWN else name
        columns[free] = np.tile(np.array(keys, texts), len(shown.periods))
    for name in ("value", "lower", "upper"):
        columns[name] = getattr(shown.estimates, name).ravel()
    if shown.everyone is not None:
        columns |= {name: of.ravel() for name, of in shown.everyone.columns.items()}
    if shown.cells is not None:
        columns["kind"] = _worded(shown.cells.kind, KINDS)
        for name in ("not_above", "not_below"):
            gap = getattr(shown.cells, name)
            columns[name] = np.full(shown.estimates.value.size, np.nan) if gap is None else gap.ravel()
        columns["why"] = _worded(shown.cells.why, REASONS)
    if shown.per:
        columns["per"] = np.full(shown.estimates.value.size, shown.per, object)
    frame = pandas.DataFrame(columns)
    frame.attrs.update(covered(list(columns)))
    return frame


def shown_figure(shown: Displayed, *, title: str, label: str, note: str) -> Any:
    """Return a figure of the lines that can be told apart, each in its band."""
    labels = shown.columns.labels()
    names = [", ".join(str(label) for label in row) for row in zip(*labels.values(), strict=True)]
    if not labels:
        names = [title]
    times = next(iter(_times(shown, 1).values()))
    drawn = [("", shown.estimates)]
    if shown.everyone is not None and shown.everyone.apart:
        drawn = [(" within limits", shown.estimates), (" without, if even", shown.everyone.estimates)]
    lines = [
        Line(
            name=f"{names[place]}{which}",
            times=list(times),
            values=estimates.value[:, place],
            lower=_ends(shown.cells, estimates.lower, place),
            upper=_ends(shown.cells, estimates.upper, place),
            told=() if shown.cells is None else tuple(_told(shown.cells, row, place) for row in range(len(times))),
        )
        for place in drawn_places(shown)
        for which, estimates in drawn
    ]
    return series_figure(lines, title=title, value_name=label, note=note)


def drawn_ends(shown: Displayed, place: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the values of one column and the ends of its band, as they are drawn."""
    lower, upper = shown.estimates.lower, shown.estimates.upper
    return shown.estimates.value[:, place], _ends(shown.cells, lower, place), _ends(shown.cells, upper, place)


def _ends(cells: Cells | None, ends: NDArray[np.float64], place: int) -> NDArray[np.float64]:
    """Return ends of a band; where a set is no interval none, since it may leave out what lies between its ends."""
    drawn = ends[:, place]
    return drawn if cells is None else np.where(cells.kind[:, place] <= 0, drawn, np.nan)


def drawn_places(shown: Displayed) -> list[int]:
    """Return which columns are drawn, in their order: the largest, of a histogram the first.

    Where some numbers have no value, those with most of them: a change is not told by its size, and a line without any
    value would draw nothing but what is missing.
    """
    values = shown.estimates.value
    most = _MOST_LINES if shown.everyone is None or not shown.everyone.apart else _MOST_LINES // 2
    if shown.cells is not None and not shown.columns.edges:
        known = np.isfinite(values).sum(axis=0)
        fullest = sorted(np.argsort(-known, kind="stable")[:most].tolist())
        return [place for place in fullest if known[place]] or fullest
    if shown.columns.edges or values.shape[1] <= most:
        return list(range(values.shape[1]))[:most]
    # By values that are released: what is shown of them needs no price.
    largest = np.argsort(-np.nan_to_num(values).sum(axis=0), kind="stable")[:most]
    return sorted(largest.tolist())


def _told(cells: Cells, row: int, place: int) -> str:
    """What stands beside a point that is no plain value in a plain interval."""
    kind, why = int(cells.kind[row, place]), int(cells.why[row, place])
    if why >= 0 and kind < 0:
        return f"not shown: {REASONS[why]}"
    if kind <= 0:
        return ""
    words = {"outside": "may be anything outside a gap", "line": "may be anything", "empty": "no value"}
    return words[KINDS[kind]] if why < 0 else f"{words[KINDS[kind]]}: {REASONS[why]}"


def _worded(codes: NDArray[np.int8], words: tuple[str, ...]) -> Any:
    import pandas

    return pandas.Categorical.from_codes(codes.ravel(), categories=pandas.Index(words))


def _times(shown: Displayed, places: int) -> dict[str, Any]:
    import pandas

    calendar = shown.table.calendar
    if calendar is None:
        return {"period": np.repeat(shown.periods, places)}
    starts = pandas.to_datetime(calendar.edges[shown.periods], unit="us", utc=True)
    return {"time": starts.tz_convert(calendar.timezone).repeat(places)}

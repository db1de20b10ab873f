"""Series and tables on the terminal."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.segment import Segment
from rich.table import Table

from chronodp.display import amount, in_json, shown, shown_lines

if TYPE_CHECKING:
    import pandas

    from chronodp.series import QuantileRelease, Release, View

__all__ = [
    "bars",
    "print_json",
    "print_line",
    "print_written",
    "rows_of",
    "show_series",
    "show_view",
    "table_of",
    "terminal",
]

_BARS = "▁▂▃▄▅▆▇█"
_WIDE = 72
_ROWS = 12


def terminal(*, errors: bool = False, soft_wrap: bool = False) -> Console:
    """Return the terminal, or what stands beside its output. Brackets and colons mean nothing: names are data.

    Whatever is printed on it is seen and not obeyed. Line breaks are left, as our own texts have them: what others
    wrote goes through `shown` before it stands among ours.
    """
    console = Console(stderr=errors, highlight=False, markup=False, emoji=False, soft_wrap=soft_wrap)
    console.push_render_hook(_Gate())
    return console


def print_json(content: Any, *, indent: int | None = None) -> None:
    """Print JSON that reads back the same, and that a terminal can show."""
    print(in_json(content, indent=indent), flush=True)


def print_line(text: str) -> None:
    """Print one line as it is given, however long, for people and for programs that read it."""
    print(shown(text), flush=True)


def print_written(console: Console, *paths: Path | None) -> None:
    """Print which files were written; None is no file at all."""
    for path in paths:
        if path is not None:
            console.print(f"Written: {path}")


class _Gate(RenderHook):
    """Lets nothing through to a terminal that it would obey, but for styles and moves that are our own."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Gated(one) for one in renderables]


class _Gated:
    def __init__(self, inner: ConsoleRenderable) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._inner, options):
            lines = segment.text if segment.control else shown_lines(segment.text)
            yield Segment(lines, segment.style, segment.control)


def show_series(console: Console, release: Release | QuantileRelease) -> None:
    """Print the series as bars, and its first rows with intervals."""
    show_view(console, release.each_period())


def show_view(console: Console, view: View) -> None:
    """Print what a view shows as bars, and its first rows with intervals."""
    frame = view.to_pandas()
    numbers = [f"{name}{all_}" for all_ in ("", "_all", "_if_even") for name in ("value", "lower", "upper")]
    told = ("time", "period", "value_to", "kind", "not_above", "not_below", "why", "per", *numbers)
    labels = [name for name in frame.columns if name not in told]
    console.print(shown(view.title), style="bold")
    places = view.estimates.value.shape[1]
    if not places:
        console.print(shown(view.note))
        return
    groups = frame.groupby(labels, sort=False) if labels else [((), frame)]
    for name, part in list(groups)[:_ROWS]:
        values = part["value"].to_numpy()
        title = ", ".join(shown(label) for label in name)
        console.print(f"{bars(_thinned(values))} {title}")
    if places > _ROWS:
        console.print(f"Lines are of the first {_ROWS} of {places:,}.")
    console.print(table_of(frame.head(_ROWS)))
    console.print(shown(view.note))
    if len(frame) > _ROWS:
        console.print(f"{len(frame) - _ROWS:,} more rows; --out writes them all, --page draws them.")


def rows_of(frame: pandas.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a data frame as JSON has them: times as ISO 8601, numbers to the last digit."""
    rows: list[dict[str, Any]] = json.loads(frame.to_json(orient="records", date_format="iso", double_precision=15))
    return rows


def table_of(frame: pandas.DataFrame, title: str | None = None) -> Table:
    """Return a data frame as a table for the terminal."""
    heading = None if title is None else shown(title)
    table = Table(*map(shown, frame.columns), title=heading, title_justify="left", title_style="bold")
    for row in frame.itertuples(index=False):
        table.add_row(*(_cell(cell) for cell in row))
    return table


def _cell(cell: object) -> str:
    if isinstance(cell, float):
        return "" if math.isnan(cell) else amount(cell, 5)
    return shown(cell)


def bars(values: NDArray[np.float64], top: float | None = None) -> str:
    """Return one character for each value, from 0 to the largest."""
    known = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
    high = float(np.max(known)) if top is None else top
    heights = np.clip(known / high * (len(_BARS) - 1) if high > 0 else known * 0, 0, len(_BARS) - 1).astype(int)
    # A space where there is no value: the lowest bar would be a 0.
    return "".join(_BARS[height] if there else " " for height, there in zip(heights, ~np.isnan(values), strict=True))


def _thinned(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return means over equal stretches, as many as a line holds."""
    if len(values) <= _WIDE:
        return values
    edges = np.linspace(0, len(values), _WIDE + 1).astype(int)
    thin: NDArray[np.float64] = np.add.reduceat(values, edges[:-1]) / np.diff(edges)
    return thin

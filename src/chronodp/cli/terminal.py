"""Series and tables on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    import pandas

    from chronodp.series import Release

__all__ = ["bars", "printable", "show_series", "table_of", "terminal"]

_BARS = "▁▂▃▄▅▆▇█"
_WIDE = 72
_ROWS = 12


def terminal(*, errors: bool = False, soft_wrap: bool = False) -> Console:
    """Return the terminal, or what stands beside its output. Brackets and colons mean nothing: names are data."""
    return Console(stderr=errors, highlight=False, markup=False, emoji=False, soft_wrap=soft_wrap)


def show_series(console: Console, release: Release) -> None:
    """Print the series as bars, and its first rows with intervals."""
    view = release.each_period()
    frame = view.to_pandas()
    numbers = [f"{name}{all_}" for all_ in ("", "_all") for name in ("value", "lower", "upper")]
    labels = [name for name in frame.columns if name not in ("time", "period", *numbers)]
    console.print(release.design.table.released, style="bold")
    places = release.design.table.places
    if not places:
        console.print(view.note)
        return
    groups = frame.groupby(labels, sort=False) if labels else [((), frame)]
    for name, part in list(groups)[:_ROWS]:
        values = part["value"].to_numpy()
        title = ", ".join(printable(label) for label in name)
        console.print(f"{bars(_thinned(values))} {title}")
    if places > _ROWS:
        console.print(f"Lines are of the first {_ROWS} of {places:,}.")
    console.print(table_of(frame.head(_ROWS)))
    console.print(view.note)
    if len(frame) > _ROWS:
        console.print(f"{len(frame) - _ROWS:,} more rows; --out writes them all, --page draws them.")


def table_of(frame: pandas.DataFrame, title: str | None = None) -> Table:
    """Return a data frame as a table for the terminal."""
    table = Table(*(str(name) for name in frame.columns), title=title, title_justify="left", title_style="bold")
    for row in frame.itertuples(index=False):
        table.add_row(*(f"{cell:,.5g}" if isinstance(cell, float) else printable(cell) for cell in row))
    return table


def printable(cell: object) -> str:
    r"""Return a text that a terminal shows and does not obey: what is no letter or sign stands as Python writes it.

    >>> printable("caf\u00e9 \x1b[2J\n")
    'café \\x1b[2J\\n'
    """
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in str(cell))


def bars(values: NDArray[np.float64], top: float | None = None) -> str:
    """Return one character for each value, from 0 to the largest."""
    high = float(np.max(values)) if top is None else top
    heights = np.clip(values / high * (len(_BARS) - 1) if high > 0 else values * 0, 0, len(_BARS) - 1).astype(int)
    return "".join(_BARS[height] for height in heights)


def _thinned(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return means over equal stretches, as many as a line holds."""
    if len(values) <= _WIDE:
        return values
    edges = np.linspace(0, len(values), _WIDE + 1).astype(int)
    thin: NDArray[np.float64] = np.add.reduceat(values, edges[:-1]) / np.diff(edges)
    return thin

"""Run with ``python -m experiments.correlated_sequences``."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from chronodp.report import series_figure
from experiments.correlated_sequences import figure_3, figure_4, figure_5, panel, theorems
from experiments.verdicts import Verdict, show


def measure(data: Path | None = None) -> list[Verdict]:
    return [*theorems.check(), *figure_3.check(), *figure_4.check(), *figure_5.check(), *panel.check(data)]


def draw(folder: Path, data: Path | None = None) -> list[Path]:
    """Write every panel as a page of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for title, lines in (figure_3.curves() | figure_4.curves() | figure_5.curves() | panel.curves(data)).items():
        figure = series_figure([], title=title, value_name="")
        for name, places, heights in lines:
            figure.add_scatter(x=places, y=heights, name=name, mode="lines+markers")
        figure.update_layout(showlegend=True)
        path = folder / f"{title.split(',')[0].replace(' ', '_').replace(':', '')}_{len(written)}.html"
        figure.write_html(path, include_plotlyjs=True)
        written.append(path)
    return written


def option(name: str) -> Path | None:
    """Return the path after an option on the command line."""
    return Path(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv[:-1] else None


if __name__ == "__main__":
    show(
        "Correlated-sequence differential privacy",
        partial(measure, option("--data")),
        Path(__file__).with_name("README.md"),
    )
    if (pages := option("--figures")) is not None:
        draw(pages, option("--data"))

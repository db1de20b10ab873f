"""Figures as files: pages, pictures and tables, the same ones every time."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from xml.etree import ElementTree

import pytest
from experiments.figures import Curve, Figure, Level, Panel, Stated
from experiments.figures.writing import write_figure


def drawn() -> Figure:
    places = [0.0, 0.5, 1.0]
    lines = Panel(
        gallery="paper",
        title="By the formula <15> & d = 2",
        x_title="coupling λ",
        y_title="leakage ε_S",
        log_y=True,
        curves=[
            Curve(name="age 0", x=places, y=[1.0, 0.5, 1.0]),
            Curve(name="age 1", x=places, y=[0.5, math.nan, 0.5], style="dashed", low=[0.4, 0.2, 0.4]),
            Curve(name="measured", x=places, y=[0.6, 0.3, 0.6], style="marks", low=[0.5, 0.2, 0.5]),
        ],
        stated=[Stated(claim="C39", x=0.5, y=0.3)],
        levels=[Level(claim="C44", at=0.05, label="0.05"), Level(claim="C40", at=0.5, axis="x")],
    )
    bars = Panel(
        gallery="found",
        title="Costs",
        x_title="window k",
        y_title="cost",
        right_title="threshold",
        log_x=True,
        curves=[
            Curve(name="missing", x=[10, 20], y=[1, 2], style="bars"),
            Curve(name="delay", x=[10, 20], y=[2, 3], style="bars", hatched=[False, True]),
            Curve(name="range", x=[10, 20], y=[2, 3], low=[1, 1], style="bars"),
            Curve(name="threshold", x=[10, 20], y=[5, 8], style="dotted", right=True),
        ],
    )
    return Figure(
        name="correlated-3a",
        source="correlated",
        title="Fig. 3(a): leakage & coupling",
        panels=[lines, bars],
        paper_caption="A valley.",
        found_caption="Bars.",
    )


@pytest.mark.slow
def test_a_figure_is_a_page_a_picture_and_a_table_in_each_gallery(tmp_path: Path) -> None:
    written = write_figure(drawn(), tmp_path, ("html", "svg", "csv"))
    assert sorted(path.name for path in written) == sorted(
        f"correlated-3a-{gallery}.{kind}" for gallery in ("paper", "found") for kind in ("html", "svg", "csv")
    )
    picture = (tmp_path / "correlated-3a-paper.svg").read_text(encoding="utf-8")
    ElementTree.fromstring(picture)
    for text in ("coupling λ", "leakage ε_S", "stated by the paper", "C39", "<desc>A valley.</desc>", 'role="img"'):
        assert text in picture, text
    assert "prefers-color-scheme: dark" in picture
    page = (tmp_path / "correlated-3a-found.html").read_text(encoding="utf-8")
    for text in ("leakage &amp; coupling", "window k", "threshold", "Bars."):
        assert text in page, text
    assert "<script src=" not in page
    rows = read(tmp_path / "correlated-3a-paper.csv")
    assert len(rows) == 3 * 3 + 1 + 2
    assert [row["claim"] for row in rows if row["claim"]] == ["C39", "C44", "C40"]
    assert {row["y_axis"] for row in read(tmp_path / "correlated-3a-found.csv")} == {"cost", "threshold"}


def read(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))

"""A figure's files: for each gallery that it is in, a page, a picture and a table of every point that is drawn."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from experiments.figures.drawn_html import html
from experiments.figures.drawn_svg import svg
from experiments.figures.figure import Figure, Panel

__all__ = ["Gallery", "Kind", "file_name", "table", "write_figure"]

Gallery = Literal["paper", "found"]
Kind = Literal["html", "svg", "csv"]


def file_name(figure: Figure, gallery: Gallery, kind: Kind) -> str:
    """Return the name of a figure's file."""
    return f"{figure.name}-{gallery}.{kind}"


def write_figure(figure: Figure, folder: Path, kinds: Sequence[Kind]) -> list[Path]:
    """Write a figure's files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    galleries: tuple[Gallery, ...] = ("paper", "found")
    for gallery in galleries:
        panels = [panel for panel in figure.panels if panel.gallery == gallery]
        caption = figure.paper_caption if gallery == "paper" else figure.found_caption
        for kind in kinds if panels else ():
            path = folder / file_name(figure, gallery, kind)
            match kind:
                case "html":
                    path.write_text(html(figure.title, panels, caption), encoding="utf-8")
                case "svg":
                    path.write_text(svg(figure.title, panels, caption), encoding="utf-8")
                case "csv":
                    path.write_text(table(panels), encoding="utf-8")
            written.append(path)
    return written


def table(panels: Sequence[Panel]) -> str:
    """Return every drawn and every stated point as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["panel", "curve", "x_axis", "y_axis", "x", "y", "low", "claim"])
    for panel in panels:
        for curve in panel.curves:
            axis = panel.right_title if curve.right else panel.y_title
            lows = [f"{low:.8g}" for low in curve.low] or [""] * len(curve.x)
            for x, y, low in zip(curve.x, curve.y, lows, strict=True):
                writer.writerow([panel.title, curve.name, panel.x_title, axis, f"{x:.8g}", f"{y:.8g}", low, ""])
        for point in panel.stated:
            place = [panel.x_title, panel.y_title, f"{point.x:.8g}", f"{point.y:.8g}", ""]
            writer.writerow([panel.title, "stated", *place, point.claim])
        for level in panel.levels:
            where = [f"{level.at:.8g}", ""] if level.axis == "x" else ["", f"{level.at:.8g}"]
            writer.writerow(
                [panel.title, level.label or "stated", panel.x_title, panel.y_title, *where, "", level.claim]
            )
    return text.getvalue()

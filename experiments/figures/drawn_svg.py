"""A picture of panels side by side, by matplotlib, with colours that follow the reader's light or dark."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from textwrap import fill
from typing import Any

import numpy as np

from experiments.figures.colours import DARK, LIGHT, Colour
from experiments.figures.figure import Curve, Panel

__all__ = ["svg"]

_DASHES = {"line": "-", "dashed": (0, (5, 2)), "dotted": (0, (1.2, 1.8))}
_MARKS = "osD^vPX*"
_SIZE = (5.6, 4.6)
# An id lies on a sheet of its own, or it could not be read on a curve.
_BOX = {"boxstyle": "round,pad=0.12", "facecolor": LIGHT["sheet"], "edgecolor": "none", "alpha": 0.8}
_ROW = 2


def svg(title: str, panels: Sequence[Panel], caption: str) -> str:
    """Return the picture; its title and its caption are what a reader hears who does not see it."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Sheet

    settings: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": "chronodp",
        "font.family": "sans-serif",
        "font.size": 10,
        "axes.edgecolor": LIGHT["soft"],
        "axes.labelcolor": LIGHT["ink"],
        "text.color": LIGHT["ink"],
        "xtick.color": LIGHT["soft"],
        "ytick.color": LIGHT["soft"],
        "axes.facecolor": LIGHT["sheet"],
        "figure.facecolor": LIGHT["sheet"],
        "legend.facecolor": LIGHT["sheet"],
        "legend.edgecolor": LIGHT["rule"],
        "hatch.color": LIGHT["sheet"],
    }
    with mpl.rc_context(settings):
        columns = min(_ROW, len(panels))
        rows = -(-len(panels) // columns)
        sheet = Sheet(figsize=(_SIZE[0] * columns, _SIZE[1] * rows), layout="constrained")
        for place, panel in enumerate(panels):
            _draw(sheet.add_subplot(rows, columns, place + 1), panel)
        text = io.StringIO()
        # No date: the same figure is the same file.
        sheet.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return _titled(text.getvalue(), title, caption)


def _draw(axes: Any, panel: Panel) -> None:
    axes.set_title(fill(panel.title, 60), fontsize=11)
    axes.set_xlabel(panel.x_title)
    axes.set_ylabel(panel.y_title)
    axes.set_xscale("log" if panel.log_x else "linear")
    axes.set_yscale("log" if panel.log_y else "linear")
    places = sorted({float(x) for curve in panel.curves for x in curve.x})
    if panel.log_x and len(places) <= 12:
        axes.set_xticks(places, [f"{place:g}" for place in places])
        axes.set_xticks([], minor=True)
    axes.grid(color=LIGHT["rule"], linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    right = None
    if any(curve.right for curve in panel.curves):
        right = axes.twinx()
        right.set_ylabel(panel.right_title)
        right.set_yscale("log" if panel.log_right else "linear")
        right.spines[["top", "left"]].set_visible(False)
    floor: dict[float, float] = {}
    handles = []
    for place, curve in enumerate(panel.curves):
        handles.append(_curve(right if right is not None and curve.right else axes, place, curve, floor))
    for level in panel.levels:
        line = axes.axhline if level.axis == "y" else axes.axvline
        line(level.at, color=LIGHT["soft"], linewidth=1, linestyle=(0, (2, 2)))
        where: dict[str, Any] = (
            {"xy": (1, level.at), "xycoords": ("axes fraction", "data"), "ha": "right", "va": "bottom"}
            if level.axis == "y"
            else {"xy": (level.at, 0.02), "xycoords": ("data", "axes fraction"), "ha": "left", "rotation": 90}
        )
        axes.annotate(f"{level.claim} {level.label}".strip(), color=LIGHT["ink"], fontsize=8.5, bbox=_BOX, **where)
    for point in panel.stated:
        (mark,) = axes.plot(
            [point.x], [point.y], "o", markersize=9, markerfacecolor="none", markeredgecolor=LIGHT["ink"], zorder=5
        )
        beside: Any = {"xytext": (7, 6), "textcoords": "offset points", "fontsize": 8.5, "bbox": _BOX, "zorder": 6}
        axes.annotate(point.claim, (point.x, point.y), **beside)
        if point is panel.stated[0]:
            mark.set_label("stated by the paper")
            handles.append(mark)
    if handles:
        axes.legend(
            handles=handles, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2, frameon=False
        )


def _curve(axes: Any, place: int, curve: Curve, floor: dict[float, float]) -> Any:
    colour = LIGHT[_line(place)]
    x, y = np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float)
    if curve.style == "bars":
        return _bars(axes, colour, curve, floor)
    if curve.style == "marks":
        marker = _MARKS[place % len(_MARKS)]
        if curve.low:
            axes.vlines(x, np.asarray(curve.low, dtype=float), y, colors=colour, linewidth=1)
        (drawn,) = axes.plot(x, y, marker, color=colour, markersize=4.5, label=curve.name)
        return drawn
    # The same colours come round again with other marks: a curve is never told by its colour alone.
    few = _MARKS[place % len(_MARKS)] if len(x) <= 30 else None
    style: Any = _DASHES[curve.style]
    (drawn,) = axes.plot(
        x, y, color=colour, linestyle=style, linewidth=1.7, marker=few, markersize=3.2, label=curve.name
    )
    if curve.low:
        axes.fill_between(x, np.asarray(curve.low, dtype=float), y, color=colour, alpha=0.15, linewidth=0)
    return drawn


def _bars(axes: Any, colour: str, curve: Curve, floor: dict[float, float]) -> Any:
    x = np.asarray(curve.x, dtype=float)
    heights = np.asarray(curve.y, dtype=float)
    if curve.low:
        bottom = np.asarray(curve.low, dtype=float)
        heights = heights - bottom
    else:
        bottom = np.asarray([floor.get(place, 0.0) for place in x.tolist()])
        floor.update(zip(x.tolist(), (bottom + heights).tolist(), strict=True))
    gaps = np.diff(np.unique(x))
    width: Any = 0.7 * gaps.min() if len(gaps) else 0.7
    if axes.get_xscale() == "log":
        width = 0.25 * x
    drawn = axes.bar(x, heights, width, bottom, color=colour, alpha=0.8, label=curve.name)
    for bar, hatched in zip(drawn, curve.hatched, strict=False):
        if hatched:
            bar.set_hatch("///")
    return drawn


def _line(place: int) -> Colour:
    lines: tuple[Colour, ...] = ("line-1", "line-2", "line-3", "line-4", "line-5", "line-6")
    return lines[place % len(lines)]


def _titled(text: str, title: str, caption: str) -> str:
    # Inline styles win over a sheet's, but for those that are important: by them the colours change in the dark.
    rules = "".join(
        f'[style*="{kind}: {LIGHT[name]}"] {{ {kind}: {DARK[name]} !important }}\n'
        for name in LIGHT
        for kind in ("fill", "stroke")
    )
    fonts = "text { font-family: system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif !important }\n"
    style = f"<style>{fonts}@media (prefers-color-scheme: dark) {{\n{rules}}}</style>"
    head = f"<title>{_escaped(title)}</title><desc>{_escaped(caption)}</desc>{style}"
    text = text[text.index("<svg") :]
    return re.sub(r"(<svg[^>]*)(>)", rf'\1 role="img"\2{_literal(head)}', text, count=1)


def _literal(text: str) -> str:
    return text.replace("\\", r"\\")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

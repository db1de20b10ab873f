"""A page of panels that can be asked: every point tells its numbers, every curve can be switched off."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from experiments.figures.colours import DARK, LIGHT, Colour
from experiments.figures.figure import Curve, Panel

__all__ = ["html"]

_DASHES = {"line": "solid", "dashed": "dash", "dotted": "dot"}
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "star")
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ margin: 1.5rem auto; max-width: 68rem; padding: 0 1rem;
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  background: light-dark({light_sheet}, {dark_sheet}); color: light-dark({light_ink}, {dark_ink}) }}
h1 {{ font-size: 1.4rem; line-height: 1.2 }}
figure {{ margin: 0 0 2rem }}
figcaption {{ max-width: 46rem }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
<figure>
{panels}
<figcaption>{caption}</figcaption>
</figure>
</main>
<script>
const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => document.querySelectorAll(".js-plotly-plot").forEach((plot) => Plotly.relayout(plot, {{
  "font.color": dark.matches ? "{dark_ink}" : "{light_ink}",
}}));
dark.addEventListener("change", paint);
paint();
</script>
</body>
</html>
"""


def html(title: str, panels: Sequence[Panel], caption: str) -> str:
    """Return the page; it needs no network."""
    parts = [
        _drawn(panel).to_html(full_html=False, include_plotlyjs=place == 0, config={"displaylogo": False})
        for place, panel in enumerate(panels)
    ]
    return _PAGE.format(
        title=escape(title),
        caption=escape(caption),
        panels="\n".join(parts),
        light_sheet=LIGHT["sheet"],
        dark_sheet=DARK["sheet"],
        light_ink=LIGHT["ink"],
        dark_ink=DARK["ink"],
    )


def _drawn(panel: Panel) -> Any:
    import plotly.graph_objects as go

    # The grey of rules and lines reads on both grounds; the ink is painted by the page.
    rule = "rgba(128, 128, 128, 0.25)"
    axis = {"gridcolor": rule, "linecolor": rule, "zeroline": False, "automargin": True, "exponentformat": "power"}
    figure = go.Figure(
        layout={
            "title": {"text": escape(panel.title), "font": {"size": 15}},
            "xaxis": axis | {"title": escape(panel.x_title), "type": "log" if panel.log_x else "linear"},
            "yaxis": axis | {"title": escape(panel.y_title), "type": "log" if panel.log_y else "linear"},
            "paper_bgcolor": "rgba(0, 0, 0, 0)",
            "plot_bgcolor": "rgba(0, 0, 0, 0)",
            "barmode": "stack",
            "hovermode": "closest",
            "legend": {"orientation": "h", "y": -0.2},
            "showlegend": True,
            "height": 520,
        }
    )
    places = sorted({float(x) for curve in panel.curves for x in curve.x})
    if panel.log_x and len(places) <= 12:
        figure.update_xaxes(tickvals=places, ticktext=[f"{place:g}" for place in places])
    if any(curve.right for curve in panel.curves):
        kind = "log" if panel.log_right else "linear"
        figure.update_layout(
            yaxis2=axis | {"title": escape(panel.right_title), "type": kind, "overlaying": "y", "side": "right"}
        )
    for place, curve in enumerate(panel.curves):
        figure.add_trace(_trace(place, curve, log=panel.log_x))
    for level in panel.levels:
        text = escape(f"{level.claim} {level.label}".strip())
        draw = figure.add_hline if level.axis == "y" else figure.add_vline
        draw(level.at, line={"color": "#868f98", "dash": "dot", "width": 1}, annotation_text=text)
    if panel.stated:
        figure.add_scatter(
            x=[point.x for point in panel.stated],
            y=[point.y for point in panel.stated],
            text=[escape(point.claim) for point in panel.stated],
            mode="markers+text",
            textposition="top right",
            name="stated by the paper",
            marker={"symbol": "circle-open", "size": 11, "color": "#868f98", "line": {"width": 2}},
        )
    return figure


def _trace(place: int, curve: Curve, *, log: bool) -> Any:
    import plotly.graph_objects as go

    names: tuple[Colour, ...] = ("line-1", "line-2", "line-3", "line-4", "line-5", "line-6")
    colour = LIGHT[names[place % len(names)]]
    common = {"x": list(curve.x), "name": escape(curve.name), "yaxis": "y2" if curve.right else "y"}
    if curve.style == "bars":
        shapes = ["/" if hatched else "" for hatched in curve.hatched]
        marker = {"color": colour, "pattern": {"shape": shapes}} if shapes else {"color": colour}
        # Of evenly spaced bars plotly knows the width; on a logarithmic axis each is a quarter of its place.
        widths = [0.25 * x for x in curve.x] if log else None
        if curve.low:
            reach = [high - low for high, low in zip(curve.y, curve.low, strict=True)]
            return go.Bar(**common, y=reach, base=list(curve.low), marker=marker, width=widths, opacity=0.8)
        return go.Bar(**common, y=list(curve.y), marker=marker, width=widths, opacity=0.8)
    symbol = _SYMBOLS[place % len(_SYMBOLS)]
    whiskers = {}
    if curve.low:
        below = [high - low for high, low in zip(curve.y, curve.low, strict=True)]
        whiskers = {"error_y": {"type": "data", "symmetric": False, "array": [0.0] * len(below), "arrayminus": below}}
    if curve.style == "marks":
        return go.Scatter(
            **common, **whiskers, y=list(curve.y), mode="markers", marker={"color": colour, "symbol": symbol, "size": 7}
        )
    return go.Scatter(
        **common,
        **whiskers,
        y=list(curve.y),
        mode="lines+markers" if len(curve.x) <= 30 else "lines",
        line={"color": colour, "dash": _DASHES[curve.style], "width": 2},
        marker={"symbol": symbol, "size": 5},
    )

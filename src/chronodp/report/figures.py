"""Released series as an interactive figure: one line each, in the band that its true values lie in."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from chronodp.display import shown
from chronodp.errors import InvalidArgument
from chronodp.report.tables import number_format, number_text, plain
from chronodp.report.thinning import MOST_DRAWN, drawn_points

if TYPE_CHECKING:
    import numpy as np
    import plotly.graph_objects as go
    from numpy.typing import NDArray

    Numbers = Sequence[float] | NDArray[np.float64]

__all__ = ["Line", "series_figure"]

# The lines of house.css in the light: they show on white and on black, for a notebook may be either.
_COLOURS = ((0, 114, 178), (213, 94, 0), (0, 133, 95), (184, 87, 140), (168, 116, 0), (43, 140, 196))
_DASHES = ("solid", "dash", "dot", "dashdot")
_TEXT = "#767676"  # the one grey that reads on white and on black: a notebook may be either
_RULE = "rgba(128, 128, 128, 0.25)"
_CLEAR = "rgba(0, 0, 0, 0)"
_FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_MANY = 20_000  # points past which a browser draws SVG too slowly
_FEW = 60  # points up to which each is worth a mark
_CROWD = 8  # lines past which one box that tells them all would hide them
_ALONE = "%{fullData.name}<br>%{x}<br>%{customdata}<extra></extra>"  # a box of one line tells what a shared one heads
_STRETCHES = (("Day", 1), ("Week", 7), ("Month", 31), ("Year", 366))
_NO_TOOLS = ("zoom", "pan", "select", "lasso2d", "zoomin", "zoomout", "autoscale", "sendcharttocloud")


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One released series: its name, and for each time a value between a lower and an upper bound.

    Bounds that are infinite or not a number leave a gap in the band, and values that are leave one in the line. Where
    given, ``told`` has words for each time that say why; a time with words and no value gets a cross at the bottom.
    """

    name: str
    times: Sequence[datetime | str | float]
    values: Numbers
    lower: Numbers
    upper: Numbers
    told: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in ("values", "lower", "upper", *(["told"] if len(self.told) else [])):
            given = getattr(self, name)
            if len(given) != len(self.times):
                raise InvalidArgument(name, len(given), f"as many numbers as there are times, {len(self.times)}")


def series_figure(lines: Sequence[Line], *, title: str, value_name: str, note: str = "") -> go.Figure:
    """Return a figure of released series with their bands, for a page or a notebook; a note says what bands cover.

    Clocks are shown as they were written: a time zone stays out of the chart. Of a line with more than 5,000 points
    the least and the largest value of each stretch are drawn, and the note says so.

    >>> line = Line("north", [0, 1, 2], [5.0, 7.0, 6.0], [4.0, 6.0, 5.0], [6.0, 8.0, 7.0])
    >>> figure = series_figure([line], title="Visits", value_name="people")
    >>> [(trace.name, trace.fill) for trace in figure.data]
    [('north', 'toself'), ('north', None)]
    """
    import plotly.graph_objects as go

    if any(len(line.times) > MOST_DRAWN for line in lines):
        thin = f"of more than {MOST_DRAWN:,} points of a line the least and the largest of each stretch are drawn"
        note = f"{note}; {thin}" if note else thin
        lines = [_thinned(line) for line in lines]
    count = sum(len(line.times) for line in lines)
    times = [[plain(moment) for moment in line.times] for line in lines]
    axis = {"type": "linear"}
    if clocks := _clocks(times):
        times, axis = [[clock.isoformat() for clock in line] for line in clocks], _date_axis(clocks)
    elif any(isinstance(moment, str) for line in times for moment in line):
        times, axis = [[_literal(str(moment)) for moment in line] for line in times], {"type": "category"}
    crowd = len(lines) > _CROWD
    figure = go.Figure(layout=_layout(title, value_name, note))
    # All bands lie under all lines; they stay SVG, for plotly's WebGL cannot fill shapes of many corners.
    for index, line in enumerate(lines):
        # An edge of the full colour: on a dark ground the filling alone is hardly seen.
        edge = {"width": 0.5 if crowd else 1, "color": _colour(index, 1)}
        paint = {"fillcolor": _colour(index, 0.1 if crowd else 0.22), "line": edge}
        figure.add_trace(go.Scatter(_identity(index, line) | _band(line, times[index]) | paint))
    draw = go.Scattergl if count > _MANY else go.Scatter
    form = number_format(number for line in lines for part in (line.values, line.lower, line.upper) for number in part)
    for index, line in enumerate(lines):
        told = {"customdata": _column(_hover_texts(line, form)), "hovertemplate": _ALONE if crowd else "%{customdata}"}
        figure.add_trace(draw(_identity(index, line) | _curve(index, line, times[index]) | told))
    marked = [index for index, line in enumerate(lines) if any(line.told)]
    for row, index in enumerate(marked):
        figure.add_trace(go.Scatter(_identity(index, lines[index]) | _crosses(index, row, lines[index], times[index])))
    if marked:
        # An axis of their own at the bottom: on that of values a cross would stand for a number.
        own = {"overlaying": "y", "range": [0, 1], "visible": False, "fixedrange": True}
        figure.update_layout(yaxis2=own)
    slider = axis["type"] != "category" and count <= _MANY and max(map(len, times), default=0) > _FEW
    figure.update_layout(
        showlegend=len(lines) > 1,
        hovermode="closest" if crowd else "x unified",
        xaxis=axis | {"automargin": True, "gridcolor": _RULE, "linecolor": _RULE, "zeroline": False},
        xaxis_spikethickness=1,
        xaxis_spikecolor=_TEXT,
        xaxis_showspikes=not crowd,
        xaxis_rangeslider={"visible": slider, "thickness": 0.1, "bgcolor": _CLEAR, "bordercolor": _RULE},
    )
    if not lines:  # bare axes would look like numbers that are all 0
        said = {"text": _literal(note or "nothing to show"), "showarrow": False, "xref": "paper", "yref": "paper"}
        figure.update_layout(annotations=[said | {"x": 0.5, "y": 0.5}], xaxis_visible=False, yaxis_visible=False)
    return figure


def _thinned(line: Line) -> Line:
    if len(line.times) <= MOST_DRAWN:
        return line
    places = drawn_points(np.asarray(line.values, dtype=np.float64)).tolist()
    parts = (line.times, line.values, line.lower, line.upper)
    told = [line.told[place] for place in places] if len(line.told) else ()
    times, values, lower, upper = ([part[place] for place in places] for part in parts)
    return Line(line.name, times, values, lower, upper, told)


def _identity(index: int, line: Line) -> dict[str, Any]:
    return {"name": _literal(line.name), "legendgroup": str(index)}


def _colour(index: int, opacity: float) -> str:
    red, green, blue = _COLOURS[index % len(_COLOURS)]
    return f"rgba({red}, {green}, {blue}, {opacity})"


def _curve(index: int, line: Line, times: list[Any]) -> dict[str, Any]:
    dash = _DASHES[index // len(_COLOURS) % len(_DASHES)]
    values = _finite(line.values)
    # A value with none beside it is seen as a mark alone, and its interval as a bar: neither line nor band has a width.
    marked = len(times) <= _FEW or bool(_alone(np.isfinite(values)).any())
    return {
        "x": _column(times),
        "y": values,
        "mode": "lines+markers" if marked else "lines",
        "line": {"color": _colour(index, 1), "width": 1.8, "dash": dash},
        "marker": {"size": 5},
    } | _bars(index, line, values)


def _bars(index: int, line: Line, values: NDArray[np.float64]) -> dict[str, Any]:
    """Return intervals that stand alone, as bars."""
    lower, upper = _finite(line.lower), _finite(line.upper)
    there = _alone(np.isfinite(lower + upper)) & np.isfinite(values)
    if not there.any():
        return {}
    above, below = (np.where(there, reach, 0.0) for reach in (upper - values, values - lower))
    bars = {"type": "data", "symmetric": False, "array": above, "arrayminus": below, "width": 0, "thickness": 1.5}
    return {"error_y": bars | {"color": _colour(index, 1)}}


def _alone(there: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which of them have none beside them."""
    beside = np.concatenate([[False], there, [False]])
    found: NDArray[np.bool_] = there & ~beside[:-2] & ~beside[2:]
    return found


def _crosses(index: int, row: int, line: Line, times: list[Any]) -> dict[str, Any]:
    """Return a cross for every time without a value that has words; lines one above the other."""
    there = [place for place, words in enumerate(line.told) if words and math.isnan(line.values[place])]
    return {
        "x": _column([times[place] for place in there]),
        "y": np.full(len(there), 0.015 + 0.025 * row),
        "yaxis": "y2",
        "mode": "markers",
        "marker": {"symbol": "x-thin", "size": 6, "line": {"width": 1.4, "color": _colour(index, 1)}},
        "customdata": _column([_literal(line.told[place]) for place in there]),
        "hovertemplate": _ALONE,
        "showlegend": False,
    }


def _band(line: Line, times: list[Any]) -> dict[str, Any]:
    """Return one closed shape for every stretch with both bounds: along the upper one, and back along the lower."""
    lower, upper = _finite(line.lower), _finite(line.upper)
    along: list[Any] = []
    heights: list[float] = []
    known = np.concatenate([[False], np.isfinite(lower + upper), [False]])
    edges = np.flatnonzero(np.diff(known.astype(np.int8)))
    for start, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        along += [*times[start:stop], *times[start:stop][::-1], None]
        heights += [*upper[start:stop].tolist(), *lower[start:stop][::-1].tolist(), np.nan]
    return {
        "x": _column(along),
        "y": np.asarray(heights, dtype=np.float64),
        "mode": "lines",
        "fill": "toself",
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _hover_texts(line: Line, form: str) -> list[str]:
    texts = []
    words = line.told or [""] * len(line.times)
    for value, lower, upper, told in zip(line.values, line.lower, line.upper, words, strict=True):
        if told and math.isnan(value):
            texts.append(_literal(told))
            continue
        text = number_text(value, form)
        # A bound that is not a number says nothing, an infinite one says so.
        if not (math.isnan(lower) or math.isnan(upper)):
            text += f" ({number_text(lower, form)} to {number_text(upper, form)})"
        texts.append(text)
    return texts


def _column(cells: list[Any]) -> NDArray[np.object_]:
    """Return an array that plotly takes whole; a list it would check item by item."""
    return np.asarray(cells, dtype=object)


def _finite(numbers: Numbers) -> NDArray[np.float64]:
    values = np.asarray(numbers, dtype=np.float64)
    return np.where(np.isfinite(values), values, np.nan)


def _clocks(times: Sequence[Sequence[object]]) -> list[list[datetime]]:
    """Return every time as the clock on the wall there showed it, or nothing if one of them is not a moment."""
    clocks = []
    for line in times:
        try:
            clocks.append([_clock(moment) for moment in line])
        except (TypeError, ValueError):
            return []
    return clocks


def _clock(moment: object) -> datetime:
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    if not isinstance(moment, date):
        raise TypeError
    return moment.replace(tzinfo=None) if isinstance(moment, datetime) else datetime.combine(moment, time())


def _date_axis(clocks: Sequence[Sequence[datetime]]) -> dict[str, Any]:
    moments = [clock for line in clocks for clock in line]
    span = max(moments) - min(moments) if moments else timedelta()
    apart = min((two - one for line in clocks for one, two in pairwise(line) if two > one), default=timedelta())
    buttons: list[dict[str, Any]] = [
        {"label": label, "step": "day", "count": days, "stepmode": "backward"}
        for label, days in _STRETCHES
        if 2 * apart <= timedelta(days=days) < span  # of a single period there is no line
    ]
    if buttons:
        buttons.append({"label": "All", "step": "all"})
    whole_days = all(moment.time() == time() for moment in moments)
    fine = "%H:%M:%S" if any(moment.second for moment in moments) else "%H:%M"
    return {
        "type": "date",
        "dtick": 86_400_000 if whole_days and span < timedelta(days=10) else None,  # no noon between two days
        "hoverformat": "%a %-d %b %Y" if whole_days else f"%a %-d %b %Y, {fine}",
        "rangeselector": {
            "buttons": buttons,
            "visible": bool(buttons),
            "x": 0,
            "xanchor": "left",
            "bgcolor": _CLEAR,
            "activecolor": _RULE,
        },
    }


def _literal(text: str) -> str:
    """Return a text that plotly shows as it is, where it would read tags and links."""
    return html.escape(shown(text), quote=False)


def _layout(title: str, value_name: str, note: str) -> dict[str, Any]:
    heading = {"text": _literal(title), "x": 0, "xref": "paper", "y": 0.97, "yanchor": "top"}
    if note:
        heading["subtitle"] = {"text": _literal(note), "font": {"size": 12}}
    return {
        "template": "none",
        "title": heading,
        "font": {"family": _FONTS, "size": 13, "color": _TEXT},
        "paper_bgcolor": _CLEAR,
        "plot_bgcolor": _CLEAR,
        # The box would be as clear as the paper, and its text lie on the lines.
        "hoverlabel": {"bgcolor": "#ffffff", "bordercolor": _RULE, "font": {"family": _FONTS, "color": "#1d2329"}},
        "legend": {"orientation": "h", "yref": "container", "y": 0.01, "yanchor": "bottom", "x": 0},
        "margin": {"l": 8, "r": 8, "t": 84, "b": 8},
        "modebar": {"remove": list(_NO_TOOLS), "bgcolor": _CLEAR, "color": _RULE, "activecolor": _TEXT},
        "yaxis": {
            "title": {"text": _literal(value_name), "standoff": 12, "font": {"size": 13}},
            "ticks": "outside",
            "ticklen": 6,
            "tickcolor": _CLEAR,
            "automargin": True,
            "gridcolor": _RULE,
            "zerolinecolor": _RULE,
            "separatethousands": True,
            "minexponent": 6,
        },
    }

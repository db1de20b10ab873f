"""Charts that need no script: released values in their bands, and a budget over time, as SVG within the page."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chronodp.dossier.page.html import words
from chronodp.ledger import Spending

if TYPE_CHECKING:
    import pandas

    from chronodp.dossier.published import Published

__all__ = ["budget_chart", "release_chart"]

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 760, 270, 96, 16, 32, 36
_LINES = 4  # that can be told apart by colour
_POINTS = 400  # of one line


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where a value and a place in time are drawn."""

    low: float
    high: float
    count: int

    def x(self, place: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (place / max(1, self.count - 1) if self.count > 1 else 0.5)

    def y(self, value: float) -> float:
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - share)


def release_chart(one: Published) -> str:
    """Return the chart of a release's first lines, each in its band; nothing where it has no values."""
    if one.table is None or one.parts or not one.columns or not len(one.table):
        return ""
    lines, left_out = _lines(one)
    count = max(len(frame) for _, frame in lines)
    every = -(-count // _POINTS)
    drawn = [(name, frame.iloc[::every]) for name, frame in lines]
    value, lower, upper = one.columns[-3:]
    ends = [float(edge) for _, frame in drawn for edge in (frame[lower].min(), frame[upper].max(), frame[value].min())]
    ends += [float(frame[value].max()) for _, frame in drawn]
    finite = [edge for edge in ends if math.isfinite(edge)]
    if not finite:
        return ""
    frame = _Frame(min(finite), max(finite), max(len(some) for _, some in drawn))
    starts = drawn[0][1][one.columns[0]].tolist()
    parts = _axes(frame, _edges(starts))
    for place, (name, some) in enumerate(drawn, start=1):
        parts += _band(frame, some[lower].tolist(), some[upper].tolist(), place)
        parts += _strokes(frame, some[value].tolist(), place)
        if name:
            across = _LEFT + (place - 1) * (_WIDTH - _LEFT - _RIGHT) / _LINES
            parts.append(f'<text class="name-{place}" x="{across:.0f}" y="20">{words(name[:24])}</text>')
    said = "Released values, and the band that holds the value before noise with probability 95 %"
    said += f"; one period in {every} is drawn" if every > 1 else ""
    said += f"; {left_out:,} further lines are in the file of numbers" if left_out else ""
    return _figure(parts, f"Chart of request {one.link.request}", f"{said}.")


def budget_chart(spending: Spending) -> str:
    """Return the share of a budget that was used at the end of each day with a charge, as steps."""
    if not spending.days:
        return ""
    days = [one.day.toordinal() for one in spending.days]
    first, last = days[0], max(days[-1], days[0] + 1)
    frame = _Frame(0.0, 1.0, last - first + 1)
    at, path = spending.opening, [f"M{frame.x(0):.1f} {frame.y(spending.opening):.1f}"]
    for day, one in zip(days, spending.days, strict=True):
        path += [
            f"L{frame.x(day - first):.1f} {frame.y(at):.1f}",
            f"L{frame.x(day - first):.1f} {frame.y(one.share):.1f}",
        ]
        at = one.share
    path.append(f"L{frame.x(last - first):.1f} {frame.y(at):.1f}")
    edges = [dt.date.fromordinal(first).isoformat(), dt.date.fromordinal(last).isoformat()]
    parts = [*_axes(frame, edges, percent=True), f'<path class="line line-1" d="{" ".join(path)}"/>']
    note = f"How much of the budget was used at the end of each day with a charge; {spending.share:.1%} now."
    return _figure(parts, "Chart of the budget over time", note)


def _lines(one: Published) -> tuple[list[tuple[str, pandas.DataFrame]], int]:
    """Return the first lines of a release by name, and how many there are besides."""
    groups = list(one.columns[1:-3])
    if one.table is None:
        raise AssertionError("asked where there is a table only")
    if not groups:
        return [("", one.table)], 0
    found = [(_named(key), frame) for key, frame in one.table.groupby(groups, sort=False, dropna=False, observed=True)]
    return found[:_LINES], max(0, len(found) - _LINES)


def _named(key: Any) -> str:
    parts = key if isinstance(key, tuple) else (key,)
    return ", ".join("–" if isinstance(part, float) and math.isnan(part) else str(part) for part in parts)


def _axes(frame: _Frame, edges: Sequence[str], *, percent: bool = False) -> list[str]:
    right = _WIDTH - _RIGHT
    parts = []
    for share in (0.0, 0.5, 1.0):
        value = frame.low + share * (frame.high - frame.low)
        y = frame.y(value)
        kind = "axis" if share == 0 else "grid"
        parts.append(f'<line class="{kind}" x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        label = f"{value:.0%}" if percent else f"{value:,.4g}"
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    below = _HEIGHT - 8
    parts.append(f'<text x="{_LEFT}" y="{below}">{words(edges[0])}</text>')
    if edges[-1] != edges[0]:
        parts.append(f'<text x="{right}" y="{below}" text-anchor="end">{words(edges[-1])}</text>')
    return parts


def _band(frame: _Frame, lower: Sequence[float], upper: Sequence[float], place: int) -> list[str]:
    known = [
        (number, low, high)
        for number, (low, high) in enumerate(zip(lower, upper, strict=True))
        if math.isfinite(low) and math.isfinite(high)
    ]
    if not known:
        return []
    if len(known) == 1:  # a band of one period is an upright line
        number, low, high = known[0]
        x = frame.x(number)
        return [f'<path class="line line-{place}" d="M{x:.1f} {frame.y(low):.1f}L{x:.1f} {frame.y(high):.1f}"/>']
    there = [f"{frame.x(number):.1f} {frame.y(high):.1f}" for number, _, high in known]
    back = [f"{frame.x(number):.1f} {frame.y(low):.1f}" for number, low, _ in reversed(known)]
    return [f'<path class="band band-{place}" d="M{"L".join([*there, *back])}Z"/>']


def _strokes(frame: _Frame, values: Sequence[float], place: int) -> list[str]:
    known = [(number, value) for number, value in enumerate(values) if math.isfinite(value)]
    if not known:
        return []
    if len(known) == 1:
        ((number, value),) = known
        return [f'<circle class="band-{place}" cx="{frame.x(number):.1f}" cy="{frame.y(value):.1f}" r="4"/>']
    points = " ".join(f"{frame.x(number):.1f},{frame.y(value):.1f}" for number, value in known)
    return [f'<polyline class="line line-{place}" points="{points}"/>']


def _figure(parts: Sequence[str], name: str, note: str) -> str:
    inner = "\n".join(parts)
    return (
        f'<figure><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{words(name)}">\n{inner}\n</svg>'
        f"<figcaption>{words(note)}</figcaption></figure>"
    )


def _edges(starts: Sequence[object]) -> list[str]:
    """Return the first and the last of the times or periods, no finer than they need be."""
    if not all(isinstance(one, dt.datetime) for one in starts):
        return [str(starts[0]), str(starts[-1])]
    times = [one for one in starts if isinstance(one, dt.datetime)]
    form = "%Y-%m-%d" if all(one.time() == dt.time() for one in times) else "%Y-%m-%d %H:%M"
    return [f"{times[0]:{form}}", f"{times[-1]:{form}}"]

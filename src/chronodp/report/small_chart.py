"""A line in its band, small enough to stand above a table in a notebook: no script, readable on light and dark."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from chronodp.display import amount, shown_html

__all__ = ["small_chart"]

_WIDTH, _HEIGHT, _EDGE = 480.0, 110.0, 4.0
_MOST_POINTS = 240  # two a pixel of a narrow screen; more would only be thicker


def small_chart(
    values: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64], *, name: str
) -> str:
    """Return a picture of a line, thinned; nothing where fewer than two points have a value.

    Where a line is thinned, each point drawn stands for a stretch: its mean, and the widest ends of its band.
    """
    known = np.isfinite(values)
    if known.sum() < 2:
        return ""
    edges = np.linspace(0, len(values), min(len(values), _MOST_POINTS) + 1).astype(np.int64)
    lows = np.where(np.isfinite(lower), lower, values)
    highs = np.where(np.isfinite(upper), upper, values)
    points = [
        (
            (start + end - 1) / 2,
            float(np.mean(values[start:end][some])),
            float(np.min(lows[start:end][some])),
            float(np.max(highs[start:end][some])),
        )
        for start, end in pairwise(edges.tolist())
        if (some := known[start:end]).any()
    ]
    across, line, low, high = (np.array(column) for column in zip(*points, strict=True))
    bottom, top = float(low.min()), float(high.max())
    x = _EDGE + across / max(1, len(values) - 1) * (_WIDTH - 2 * _EDGE)

    def up(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        return _HEIGHT - _EDGE - (numbers - bottom) / ((top - bottom) or 1.0) * (_HEIGHT - 2 * _EDGE)

    band = f"{_path(x, up(high))} {_path(x[::-1], up(low)[::-1])}"
    drawn = (
        f'<polygon points="{band}" fill="currentColor" fill-opacity="0.18"/>'
        f'<polyline points="{_path(x, up(line))}" fill="none" stroke="currentColor" stroke-width="1.5"/>'
    )
    if bottom < 0 < top:
        zero = float(up(np.zeros(1))[0])
        drawn += (
            f'<line x1="{_EDGE:g}" x2="{_WIDTH - _EDGE:g}" y1="{zero:.1f}" y2="{zero:.1f}" stroke="currentColor" '
            'stroke-opacity="0.4" stroke-dasharray="3 3"/>'
        )
    said = shown_html(f"{name}: from {amount(bottom)} to {amount(top)} with its band")
    return (
        f'<svg viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" aria-label="{said}" '
        f'style="max-width:{_WIDTH:g}px;width:100%;height:auto">{drawn}</svg>'
    )


def _path(x: NDArray[np.float64], y: NDArray[np.float64]) -> str:
    return " ".join(f"{left:.1f},{down:.1f}" for left, down in zip(x.tolist(), y.tolist(), strict=True))

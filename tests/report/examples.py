"""A small release to make figures and pages of."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np

from chronodp.report import Line, Page, series_figure

HOSTILE = "</script><img src=x onerror=alert(1)> & \"quoted\" 'twice'\u2028"
COLUMNS = ("time", "place", "value", "lower", "upper")


def hours(name: str, count: int = 14 * 24, level: float = 100.0) -> Line:
    """Return a made-up series of hours with a day's rhythm, below zero at night."""
    start = datetime(2026, 1, 5, tzinfo=UTC)
    values = level * np.sin(np.arange(count) * 2 * np.pi / 24) + level / 3
    return Line(name, [start + timedelta(hours=hour) for hour in range(count)], values, values - 9.5, values + 9.5)


def rows(*lines: Line) -> list[tuple[object, ...]]:
    return [
        (time, line.name, value, lower, upper)
        for line in lines
        for time, value, lower, upper in zip(line.times, line.values, line.lower, line.upper, strict=True)
    ]


def page(*lines: Line, title: str = "Visits an hour", warning: str = "", name: str = "people") -> Page:
    return Page(
        title=title,
        promise="What one person did changes the odds of any conclusion by a factor of at most 2.7.",
        facts=(("Protected unit", "everything of one person"), ("Typical error", "±9.5 people, 19 times out of 20")),
        certificate="Guarantee    1-differentially private\nMechanism    made up",
        columns=COLUMNS,
        rows=rows(*lines),
        figure=series_figure(lines, title=f"{title}, with bounds", value_name=name),
        warning=warning,
    )

"""People who were active lately: the error of every way by window and unit, and of caps on a made-up year."""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import chronodp as cdp
from benchmarks.harness import Topic, show
from benchmarks.records import KEY
from chronodp.accounting import gaussian
from chronodp.engines import DuckDB, Question, find_source
from chronodp.privacy import Calendar, Grid, most_stays
from chronodp.series import Design
from chronodp.series.shapes import White

DAYS, WINDOWS, EPSILON, DELTA = 365, (1, 7, 28, 90), 1.0, 1e-6
START, END = "2026-01-01", "2027-01-01"
PEOPLE = 20_000
CAPS_ON_DAYS = (15, 30, 60, 90, 120, 180, 240, 300)
CAPS_ON_STAYS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40, 47, 64, 96, 128)

Capped = tuple[str, float, float]
"""A cap, the error with it, and the bias alone."""


def designs(window: int, unit: Any, **caps: Any) -> tuple[Design, ...]:
    """Return the plan's design of a year of days and all that it was weighed against."""
    options: Any = {"time": "at", "user": "who", "every": "1D", "start": START, "end": END, "unit": unit}
    plan = cdp.TimeSeries("visits.parquet", **options).active(f"{window}D", **caps).plan(epsilon=EPSILON, delta=DELTA)
    return (plan.design, *plan.others)


def errors(window: int, unit: Any, *, white: bool | None, **caps: Any) -> float | None:
    """Return the least error at μ = 1 of white or of shaped noise that is Gaussian, or of what the plan takes."""
    found = designs(window, unit, **caps)
    cut = bool(caps) and white is not None
    fitting = [
        one
        for one in found
        if white is None
        or (isinstance(one.shape, White) == white and one.law == "gaussian" and bool(one.table.cap) == cut)
    ]
    least = min((one.errors.rmse_mean for one in fitting), default=None)
    return None if least is None else least * gaussian.mu_for(EPSILON, DELTA)


WAYS: dict[str, tuple[Any, bool | None, dict[str, int]]] = {
    "a person, nobody cut: white noise": (cdp.User(), True, {}),
    "a person, nobody cut: noise on comings and goings": (cdp.User(), False, {}),
    "a person, nobody cut: what the plan takes": (cdp.User(), None, {}),
    "a person, first 4 stays": (cdp.User(), False, {"max_stays": 4}),
    "a person, first stay": (cdp.User(), False, {"max_stays": 1}),
    "a person's day: white noise": (cdp.UserPeriod("1D"), True, {}),
    "a person's day: noise on comings and goings": (cdp.UserPeriod("1D"), False, {}),
    "a person's day: what the plan takes": (cdp.UserPeriod("1D"), None, {}),
}


def measure() -> Topic:
    topic = Topic(
        f"People who were active lately: standard deviation of a day at μ = 1, {DAYS} days",
        "python -m benchmarks.stays",
        ("unit and way", *map(_last, WINDOWS)),
        everywhere=True,
    )
    for name, (unit, white, caps) in WAYS.items():
        found = [errors(window, unit, white=white, **caps) for window in WINDOWS]
        topic.rows.append((name, *("–" if one is None else f"{one:.2f}" for one in found)))
    topic.notes = [
        f"the plans' own errors at ({EPSILON:g}, {DELTA:g}), times μ; noise alone, without what caps take away",
        "white noise is what counting each window anew costs. Lines are of Gaussian noise, but for what "
        "plans take: of a person's day that is Laplace noise where it errs less",
    ]
    return topic


def measure_year() -> Topic:
    topic = Topic(
        f"A made-up year of {PEOPLE:,} people, ε = {EPSILON:g}, δ = {DELTA:g}: error with what caps take away",
        "python -m benchmarks.stays --year",
        (
            "window",
            "present, mean",
            "white, nobody cut",
            "best cap on active days",
            "error",
            "bias",
            "best cap on stays",
            "error so",
            "bias so",
            "plan, nobody cut",
        ),
        everywhere=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        path = make_year(Path(folder) / "year.parquet")
        for window in WINDOWS[:3]:
            true = present(path, window)
            noise = {white: _noise(window, white=white) for white in (True, None)}
            days = [("none", noise[True], 0.0)]
            days += [_capped(path, window, true, {"max_periods": cap}) for cap in CAPS_ON_DAYS]
            caps = [cap for cap in CAPS_ON_STAYS if cap < most_stays(DAYS, window)]
            stays = [_capped(path, window, true, {"max_stays": cap}) for cap in (*caps, most_stays(DAYS, window))]
            best, other = min(days, key=_error_of), min(stays, key=_error_of)
            topic.rows.append((_last(window), round(float(true.mean())), noise[True], *best, *other, noise[None]))
    topic.notes = [
        "errors: the root of the mean square of noise and bias together, over all days; bias: what a cap takes away "
        "of a day's number, on average. Counted by the engine that a release uses",
        "the best caps are found with the data at hand, which is not private: they say what a good guess is worth. "
        f"Of days {', '.join(map(str, CAPS_ON_DAYS))} or none, of stays up to the most that anyone can have",
    ]
    return topic


def _last(window: int) -> str:
    return f"last {window} day{'s' if window > 1 else ''}"


def _error_of(row: Capped) -> float:
    return row[1]


def _noise(window: int, *, white: bool | None, **caps: int) -> float:
    found = errors(window, cdp.User(), white=white, **caps)
    if found is None:
        return math.inf
    return found / gaussian.mu_for(EPSILON, DELTA)


def _capped(path: Path, window: int, true: Any, cap: dict[str, int]) -> Capped:
    bias = true - present(path, window, **cap)
    (size,) = cap.values()
    most = "max_stays" in cap and size == most_stays(DAYS, window)
    noise = _noise(window, white=False) if most else _noise(window, white="max_periods" in cap, **cap)
    return str(size), math.sqrt(noise**2 + float((bias**2).mean())), float(bias.mean())


def make_year(path: Path) -> Path:
    """Write a row for every active day of a year and the 90 before it: daily, weekly and passing people."""
    chance = np.random.default_rng(2)
    kinds = chance.choice(3, PEOPLE, p=(0.045, 0.2, 0.755))
    days = DAYS + max(WINDOWS)
    often = np.where(kinds == 1, chance.uniform(0.01, 0.25, PEOPLE), np.array((0.85, 0.0, 0.25))[kinds])[:, None]
    first, length = chance.integers(0, days, PEOPLE), chance.geometric(1 / 25, PEOPLE)
    passing = (np.arange(days) >= first[:, None]) & (np.arange(days) < (first + length)[:, None])
    there = (chance.random((PEOPLE, days)) < often) & (passing | (kinds < 2)[:, None])
    who, day = np.nonzero(there)
    import pandas

    at = pandas.Timestamp(START) - pandas.Timedelta(days=max(WINDOWS)) + pandas.to_timedelta(day, "D")
    pandas.DataFrame({"who": who, "at": at}).to_parquet(path)
    return path


def present(path: Path, window: int, **caps: int) -> Any:
    """Return how many people count as present on each day, in floats."""
    calendar = Calendar("1D", START, END).earlier(window - 1)
    limits: Any = {"window": window, **caps}
    question = Question(calendar, "at", "who", None, Grid(1.0), (0, 1), **limits)
    found = DuckDB().totals(find_source(str(path)), question, key=KEY).people
    return np.asarray(found, np.float64).reshape(-1)[-DAYS:]


if __name__ == "__main__":
    show(measure_year if "--year" in sys.argv[1:] else measure)

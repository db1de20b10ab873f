"""Random tables and random questions about them, for comparing engines on many rows."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow

import chronodp as cdp
from chronodp.dataset import Query, Records
from chronodp.engines import Question, Scaling, Totals
from chronodp.privacy import Calendar

REGIONS = ("north", "south", "it's \\ {odd}", "7")
_GRIDS = (
    ("1h", "2026-10-20", "2026-10-30", "Europe/Berlin"), ("1D", "2026-03-20", "2026-04-05", "America/New_York"),
    ("1mo", "2026-01-01", "2027-01-01", "Europe/Berlin"), ("15min", "2026-03-29", "2026-03-31", "Australia/Lord_Howe"),
    ("1W", "2026-01-05", "2026-06-01", "Asia/Kolkata"), ("1D", "2026-01-01", "2026-02-01", "UTC"),
)  # fmt: skip
_NUMBERS = (float("nan"), float("inf"), -float("inf"), 0.0, 0.1, -1e300, 1e300)


def random_table(chance: random.Random, calendar: Calendar, rows: int) -> pyarrow.Table:
    """Return rows about the grid and beyond: half of them of one person, some without a person, a time or a number."""
    bits = np.random.default_rng(chance.randrange(2**32))
    first, last = int(calendar.edges[0]), int(calendar.edges[-1])
    slack = (last - first) // 20
    people = np.where(bits.random(rows) < 0.5, 0, bits.integers(0, max(2, rows // 50), rows))
    numbers = bits.uniform(-1.0, 6.0, rows)
    odd = bits.random(rows) < 0.05
    numbers[odd] = bits.choice(_NUMBERS, int(odd.sum()))
    columns: dict[str, Any] = {
        "who": pyarrow.array([f"m{person}" for person in people.tolist()], mask=bits.random(rows) < 0.01),
        "at": pyarrow.array(
            bits.integers(first - slack, last + slack, rows), pyarrow.int64(), mask=bits.random(rows) < 0.01
        ).cast(pyarrow.timestamp("us", tz=chance.choice(["UTC", None]))),
        "kwh": pyarrow.array(numbers, mask=bits.random(rows) < 0.01, from_pandas=False),
        "region": pyarrow.array(np.array([*REGIONS, "lost"])[bits.integers(0, 5, rows)].tolist()),
        "floor": pyarrow.array(bits.integers(0, 3, rows)),
    }
    return pyarrow.table(columns)


def random_question(chance: random.Random) -> Question:
    """Return what the engine is asked for a random measure, unit, grid and split."""
    every, start, end, timezone = chance.choice(_GRIDS)
    unit: Any = chance.choice([cdp.User(), cdp.User(), cdp.UserPeriod("1D"), cdp.Window(3), cdp.Event()])
    alone = isinstance(unit, cdp.Event) and chance.random() < 0.5
    limit = chance.randrange(1, 6) if isinstance(unit, cdp.User) else None
    series = cdp.TimeSeries(
        "", time="at", user=None if alone else "who", every=every, start=start, end=end, timezone=timezone, unit=unit,
        max_periods=limit,
    )  # fmt: skip
    weight = 1 if isinstance(unit, cdp.Event) else chance.randrange(1, 4)
    measures: list[Callable[[], Query[cdp.Plan]]] = [
        lambda: series.count(at_most=1 if alone else 2),
        lambda: series.sum("kwh", clip=(-1.0, 5.0)),
        lambda: series.mean("kwh", clip=(0.0, 5.0), of="totals"),
        lambda: series.mean("kwh", clip=(-1.0, 5.0), at_most=weight, of="rows"),
        lambda: series.histogram("kwh", edges=(-1.0, 0.0, 0.1, 3.0), of="rows", at_most=weight),
        lambda: series.variance("kwh", clip=(-1.0, 5.0)),
        lambda: series.histogram("kwh", edges=(-1.0, 0.0, 0.1, 3.0), at_most=1 if alone else 2),
    ]
    query = chance.choice(measures)()
    split: dict[str, Any] = chance.choice([{}, {"region": REGIONS}, {"region": REGIONS[:2], "floor": [0, 2]}])
    if split:
        query = query.by(**split, max_groups=1 if alone else chance.choice([1, 2]))
    plan = query.plan(epsilon=1.0)
    if not isinstance(plan.origin, Records):
        raise TypeError(plan.origin)
    question = plan.origin.question(plan.design)
    if question.value is None or question.edges or not split or chance.random() < 0.5:
        return question
    scales = tuple(chance.choice((1.0, 0.3, 1 / 7, 0.01)) for _ in question.groupings[0].keys)
    return replace(question, scaling=Scaling(0, scales))


def digest(totals: Totals) -> str:
    """Return a short text that tells totals apart."""
    return hashlib.sha256(totals.sums.tobytes() + totals.people.tobytes() + totals.squares.tobytes()).hexdigest()

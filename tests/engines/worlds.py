"""Many small tables in one run of an engine: each is a group of its own, its people named apart.

A person is in one world only, so that worlds do not touch each other's limits and one run stands for thousands."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pyarrow
from numpy.typing import NDArray

import chronodp as cdp
from chronodp.dataset import Query, Records
from chronodp.dataset.records import numbers_of
from chronodp.engines import (
    DuckDB,
    Grouping,
    Question,
    Record,
    Scaling,
    Totals,
    find_source,
    reference_totals,
    statement,
)
from chronodp.engines.attach import attached
from chronodp.engines.expressions import Cell, Value
from chronodp.engines.reading import Part, Reading, read_number
from chronodp.privacy import Calendar, Grid
from chronodp.series import Design

_AS_WRITTEN = Reading()
World = Sequence[Record]
Run = Callable[[Sequence[World], Question, str], Totals]


def to_arrow(records: Sequence[Record], groupings: Sequence[str] = ()) -> pyarrow.Table:
    """Return records as a table with who, at, number and a column for each grouping."""
    columns: dict[str, Any] = {
        "who": pyarrow.array([record.person for record in records], pyarrow.string()),
        "at": pyarrow.array([record.instant for record in records], pyarrow.int64()).cast(
            pyarrow.timestamp("us", tz="UTC")
        ),
        "number": pyarrow.array([record.number for record in records], pyarrow.float64(), from_pandas=False),
    }
    for index, name in enumerate(groupings):
        columns[name] = pyarrow.array([record.keys[index] for record in records], pyarrow.string())
    return pyarrow.table(columns)


def run_reference(worlds: Sequence[World], question: Question, key: str) -> Totals:
    return reference_totals(
        _joined(worlds, cells=bool(question.expressions.cells)), widened(question, len(worlds)), key=key
    )


def widened_table(worlds: Sequence[World], question: Question) -> tuple[Question, pyarrow.Table]:
    """Return a question about all worlds, and their table."""
    wide = widened(question, len(worlds))
    return wide, to_arrow(_joined(worlds), [grouping.column for grouping in wide.groupings])


def run_duckdb(worlds: Sequence[World], question: Question, key: str) -> Totals:
    wide, table = widened_table(worlds, question)
    return DuckDB(threads=2).totals(find_source(table), wide, key=key)


def run_statement(worlds: Sequence[World], question: Question, key: str, *, sparse: bool = False) -> Totals:
    wide, table = widened_table(worlds, question)
    with attached(find_source(table), wide.wanted, wide.reading, memory=2**30, threads=2) as session:
        session.add_keys(wide.groupings)  # which a text names where they are too many to be listed
        rows = session.columns(_text(wide, key, sparse, session.parts))
    return Totals.of_cells(wide, rows)


@lru_cache(maxsize=2)  # neighbours are asked the same, one after the other, and a text takes longer than its answer
def _text(question: Question, key: str, sparse: bool, parts: tuple[Part, ...]) -> str:
    return statement(question, parts, key=key, sparse=sparse)


ENGINES: dict[str, Run] = {
    "reference": run_reference, "duckdb": run_duckdb, "statement": run_statement,
    "sparse statement": partial(run_statement, sparse=True),
}  # fmt: skip


def numbers(design: Design, question: Question, totals: Totals) -> list[NDArray[np.float64]]:
    """Return the released numbers before noise, by kind: worlds × (periods and places), in units of the data."""
    horizon, places = len(question.calendar), design.table.places
    parts = numbers_of(totals, question, design)
    return [
        Grid(noise.step).to_values(part.reshape(horizon, -1, places).transpose(1, 0, 2).reshape(-1, horizon * places))
        for part, noise in zip(parts, design.noises, strict=True)
    ]


def _joined(worlds: Sequence[World], *, cells: bool = False) -> list[Record]:
    return [
        Record(
            None if record.person is None else f"{number}:{record.person}", record.instant, record.number,
            (str(number), *record.keys), _cells(record) if cells else {},
        )
        for number, world in enumerate(worlds)
        for record in world
    ]  # fmt: skip


def _cells(record: Record) -> dict[Cell, Value]:
    """Return the cells of a record that expressions may read, as they are read."""
    number = None if record.number is None else read_number(record.number, _AS_WRITTEN)
    return {Cell("number", "number"): number, Cell("name", "region"): record.keys[0] if record.keys else None}


def widened(question: Question, worlds: int) -> Question:
    """Return the same question about so many worlds."""
    names = tuple(str(number) for number in range(worlds))
    scaling = question.scaling and replace(question.scaling, grouping=question.scaling.grouping + 1)
    return replace(question, groupings=(Grouping("world", names), *question.groupings), scaling=scaling)


# Random tables and random questions about them, for comparing engines on many rows.


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

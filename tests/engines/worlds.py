"""Many small tables in one run of an engine: each is a group of its own, its people named apart.

A person is in one world only, so that worlds do not touch each other's limits and one run stands for thousands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pyarrow
from numpy.typing import NDArray

from chronodp.dataset.records import numbers_of
from chronodp.engines import (
    DuckDB,
    Grouping,
    Question,
    Record,
    Totals,
    find_source,
    reference_totals,
    statement,
)
from chronodp.engines.attach import attached
from chronodp.engines.expressions import Cell, Value
from chronodp.engines.reading import Part, Reading, read_number
from chronodp.privacy import Grid
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
    "reference": run_reference,
    "duckdb": run_duckdb,
    "statement": run_statement,
    "sparse statement": partial(run_statement, sparse=True),
}


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

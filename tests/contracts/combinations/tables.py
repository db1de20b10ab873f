"""A table of a few people, as each engine reads it, and ledgers with the same secrets for all of them."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow
from tests.contracts.combinations.features import UNITS

import chronodp as cdp
from chronodp.engines import (
    Booked,
    HeldKeys,
    KeysQuestion,
    LifeQuestion,
    LossesQuestion,
    MissingQuestion,
    Question,
    Record,
    Reference,
    Sizes,
    SizesQuestion,
    Tally,
    Totals,
)
from chronodp.engines.reading import Reading, read_name, read_number
from chronodp.privacy.units import RecordUnit

__all__ = ["PEOPLE", "InMemory", "dataset_of", "ledger_in", "rows", "table"]

PEOPLE, DAYS = 12, 4
Row = dict[str, Any]


def rows() -> list[Row]:
    """Return two rows a day of every person; half of them read two pages, and live in two towns."""
    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    return [
        {
            "who": f"p{who}",
            "at": start + dt.timedelta(days=day, hours=1 + 8 * half),
            "kwh": ((who * 7 + day * 3 + half) % 16 + 1) / 8,
            "region": ("north", "south")[(who + half) % 2],
            "town": ("Ayr", "Bath")[who * half % 2],
            "page": ("/", "/news")[who * half % 2],
        }
        for who in range(PEOPLE)
        for day in range(DAYS)
        for half in range(2)
    ]


def table() -> pyarrow.Table:
    """Return the rows as DuckDB and files have them."""
    return pyarrow.Table.from_pylist(rows())


class InMemory(Reference):
    """The plain engine over rows as they are: each question gets the records that it asks for."""

    def totals(self, source: Any, question: Question, *, key: str, progress: Any = lambda _: None) -> Totals:
        return super().totals(_records(source, question), question, key=key, progress=progress)

    def book(
        self, source: Any, asked: LifeQuestion, tally: Tally, *, key: str, progress: Any = lambda _: None
    ) -> Booked:
        return super().book(_records(source, asked.question), asked, tally, key=key, progress=progress)

    def sizes(self, source: Any, asked: SizesQuestion) -> Sizes:
        return super().sizes(_records(source, asked.question), asked)

    def losses(self, source: Any, asked: LossesQuestion) -> tuple[int, ...]:
        return super().losses(_records(source, asked.question), asked)

    def missing(self, source: Any, asked: MissingQuestion, *, key: str) -> tuple[int, ...]:
        return super().missing(_records(source, asked.question), asked, key=key)

    def held_keys(self, source: Any, asked: KeysQuestion, *, key: str) -> HeldKeys:
        return super().held_keys(_records(source, asked.reading), asked, key=key)


def _records(source: Sequence[Row], question: Question) -> list[Record]:
    """Return rows as records with the number, keys and cells of a question; the last read those derived."""
    cells = tuple(question.expression_cells)
    groupings = [grouping.column for grouping in question.groupings]
    return [
        Record(
            row["who"],
            round(row["at"].timestamp() * 1e6),
            None if question.value is None else row.get(question.value),
            tuple(row.get(column) for column in groupings),
            {
                cell: read_name(row[cell.column]) if cell.role == "name" else read_number(row[cell.column], Reading())
                for cell in cells
            },
        )
        for row in source
    ]


def dataset_of(unit: RecordUnit) -> str:
    """Return the name of the budget of a unit."""
    return f"{type(unit).__name__} {unit.relation}"


def ledger_in(folder: Path) -> cdp.Ledger:
    """Return a ledger with a large budget for every unit."""
    ledger = cdp.Ledger(folder / "budget.db")
    for unit in UNITS:
        said = replace(unit, every="1D") if isinstance(unit, cdp.Window) else unit
        ledger.open(dataset_of(unit), unit=said, epsilon=1e7, delta=0.1, reserve=0.05)
    return ledger


def same_ledger(folder: Path, other: Path) -> AbstractContextManager[cdp.Ledger]:
    """Return a ledger with the same secrets as one that nobody has used yet, so that both choose and draw alike."""
    shutil.copytree(folder, other)
    return cdp.Ledger(other / "budget.db")

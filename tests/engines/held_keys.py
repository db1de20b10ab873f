"""Tables with a column of keys that nobody declared, questions about them, and the answers in a form to compare."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow

from chronodp.engines import Derived, Grouping, HeldKeys, KeysQuestion, Question, Record
from chronodp.privacy import Calendar, Grid

CALENDAR = Calendar("6h", "2026-01-01", "2026-01-05")
PLAIN = Question(CALENDAR, "at", "who", None, Grid(1.0), (0, 1))
BESIDE = replace(PLAIN, groupings=(Grouping("region", ("north", "south")),), where="number >= 0")
DERIVED = replace(PLAIN, columns=(Derived("route", "CASE WHEN number > 1 THEN region ELSE page END"),))
_DAYS = tuple(period // 4 for period in range(len(CALENDAR)))
_EACH = tuple(range(len(CALENDAR)))

ASKED = {
    "user": KeysQuestion(PLAIN, "page", 3),
    "one key": KeysQuestion(PLAIN, "page", 1),
    "short keys": KeysQuestion(PLAIN, "page", 2, longest=6),
    "beside public keys": KeysQuestion(BESIDE, "page", 2),
    "user, by period": KeysQuestion(PLAIN, "page", 1, choose_by_period=True),
    "user-period": KeysQuestion(PLAIN, "page", 2, choose_by_period=True, blocks=_DAYS),
    "window": KeysQuestion(BESIDE, "page", 2, choose_by_period=True, blocks=_EACH),
    "event": KeysQuestion(PLAIN, "page", None, rows_apart=True),
    "rows alone": KeysQuestion(replace(BESIDE, user=None), "page", None, rows_apart=True),
    "derived": KeysQuestion(DERIVED, "route", 2),
    "derived, user-period": KeysQuestion(DERIVED, "route", 1, choose_by_period=True, blocks=_DAYS),
}

_PAGES = (
    "a", "A", "b", "it's \\ {odd}", "é", "e\u0301", "ﬀ", "𝔞", "Z", "x" * 256, "x" * 257, "ä" * 128 + "b", " a", "7",
)  # fmt: skip


def random_records(chance: random.Random, rows: int, *, people: int = 12, pages: int = 0) -> list[Record]:
    """Return rows of a few people, some without a person, a time or a key, some beyond the grid."""
    first, last = int(CALENDAR.edges[0]), int(CALENDAR.edges[-1])
    listed = [*_PAGES, *(f"/{number}.html" for number in range(pages))]
    return [
        Record(
            None if chance.random() < 0.02 else f"m{chance.randrange(people)}",
            None if chance.random() < 0.02 else chance.randrange(first - 10**9, last + 10**9),
            chance.choice((-1.0, 0.0, 1.0, 2.0)),
            (chance.choice(("north", "south", "lost")), None if chance.random() < 0.05 else chance.choice(listed)),
        )
        for _ in range(rows)
    ]


def keyed(records: Sequence[Record], asked: KeysQuestion) -> list[Record]:
    """Return records with the keys that a question reads, and the cells of its expressions."""
    found = []
    for record in records:
        region, page = record.keys
        held: dict[str, float | str | None] = {"number": record.number, "region": region, "page": page}
        cells = {cell: held[cell.column] for cell in asked.reading.expression_cells}
        texts = {"region": region, "page": page}
        keys = tuple(texts.get(grouping.column) for grouping in asked.reading.groupings)
        found.append(replace(record, keys=keys, cells=cells))
    return found


def keyed_table(records: Sequence[Record]) -> pyarrow.Table:
    """Return records as a table with who, at, number, region and page."""
    at = pyarrow.array([record.instant for record in records], pyarrow.int64())
    return pyarrow.table(
        {
            "who": pyarrow.array([record.person for record in records], pyarrow.string()),
            "at": at.cast(pyarrow.timestamp("us", tz="UTC")),
            "number": pyarrow.array([record.number for record in records], pyarrow.float64()),
            "region": pyarrow.array([record.keys[0] for record in records], pyarrow.string()),
            "page": pyarrow.array([record.keys[1] for record in records], pyarrow.string()),
        }
    )


def weights_for(asked: KeysQuestion) -> tuple[int, ...]:
    """Return 1/√d in steps of 2^-16, rounded down: d squares are at most 2^32."""
    return tuple(math.isqrt(2**32 // d) for d in range(1, asked.most + 1))


def digest(held: HeldKeys, asked: KeysQuestion, *, undropped: bool = True) -> str:
    """Return one text for all of an answer: keys, people, and the weights with a third and with nothing dropped."""
    weights = weights_for(asked)
    third = np.array([hashlib.md5(key.encode()).digest()[0] % 3 == 0 for key in held.keys], dtype=bool)
    found = hashlib.sha256()
    for part in (held.people, held.weigh(weights, third), *([held.weigh(weights)] if undropped else ())):
        assert part.dtype == np.int64
        found.update(part.tobytes())
    for key in held.keys:
        found.update(key.encode() + b"\xff")
    return found.hexdigest()

"""Lives in a Spark frame: the tally stays with the driver, kept cells are written, and all that is told is read there.

Spark may compute a part of a query more than once. Whoever is counted must be booked and no one else, so what is kept
is written to a table of the session once, by its own way of committing what tasks wrote, and totals and payments are
read from it. "Tasks that run again" of ``docs/explanation/proofs/bounding.md``.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from chronodp.engines.entries import words_of
from chronodp.engines.lives import Booked, LifeQuestion, Payers, Tally
from chronodp.engines.lives_statement import booked_totals_statement, entries_statement, kept_statement, paid_statement
from chronodp.engines.reading import Part
from chronodp.engines.totals import Totals
from chronodp.errors import UnreadableSource

__all__ = ["book_frame"]

Ask = Callable[[str, Mapping[str, Any]], Any]
"""Runs a text beside named frames, and returns the frame of its answer."""


def book_frame(session: Any, ask: Ask, part: Part, asked: LifeQuestion, tally: Tally, *, key: str) -> Booked:
    """Return totals and what each one paid; ``ask`` runs a text about the frame.

    The driver holds the entry of everyone in the frame, which is read twice: for entries, and for cells.
    """
    salts = session.createDataFrame([(asked.salt,)], "salt string")
    entries = columns_of(ask(entries_statement(asked, [part], dialect="spark"), {"salts_": salts}))["entry"]
    rooms = _rooms(session, entries, asked, tally)
    kept = ask(kept_statement(asked, [part], key=key, dialect="spark"), {"rooms_": rooms, "salts_": salts})
    with _written(session, kept) as written:
        added = columns_of(ask(booked_totals_statement(asked, dialect="spark"), {"kept_": written}))
        paid = columns_of(ask(paid_statement(dialect="spark"), {"kept_": written}))
    if any(column.null_count for column in added.values()):
        raise UnreadableSource("a sum is beyond 64 bits: clip lower, or release fewer rows at a time")
    totals = Totals.of_cells(asked.question, {name: column.to_numpy() for name, column in added.items()})
    words, spent = words_of(paid["entry"]), paid["paid"].to_numpy()
    payers = Payers()
    payers.add(words[:, 0], words[:, 1], asked.price.of(spent).astype(np.int64))
    return payers.booked(totals)


def columns_of(answer: Any) -> dict[str, Any]:
    """Return an answer by column, as Arrow."""
    import pyarrow

    if hasattr(answer, "toArrow"):
        table = answer.toArrow()
        return {name: table[name].combine_chunks() for name in table.column_names}
    columns = list(zip(*answer.collect(), strict=True)) or [()] * len(answer.columns)
    types = {"string": pyarrow.string(), "bigint": pyarrow.int64()}
    return {
        name: pyarrow.array(column, types.get(kind, pyarrow.int64()))
        for (name, kind), column in zip(answer.dtypes, columns, strict=True)
    }


def _rooms(session: Any, entries: Any, asked: LifeQuestion, tally: Tally) -> Any:
    """Return the frame of those who have room: for how many periods."""
    words = words_of(entries)
    room = asked.price.most(asked.room(tally, words[:, 0], words[:, 1]))
    left = np.flatnonzero(room > 0)  # where nothing is left nothing but zeros would be added
    pairs = zip(entries.take(left).to_pylist(), room[left].tolist(), strict=True)
    return session.createDataFrame(list(pairs), "entry string, room bigint")


@contextlib.contextmanager
def _written(session: Any, kept: Any) -> Iterator[Any]:
    """Write a frame to a table of the session's own catalog for as long as it is read."""
    name = f"chronodp_kept_{secrets.token_hex(16)}"
    try:
        kept.write.saveAsTable(name)
        yield session.table(name)
    finally:
        try:
            session.sql(f"DROP TABLE IF EXISTS {name} PURGE")
        except Exception:  # a catalogue that cannot delete at once
            session.sql(f"DROP TABLE IF EXISTS {name}")

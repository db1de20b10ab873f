"""The query: messages to arrivals on every machine, arrivals and ticks to shares, shares to what closed windows total.

Functions here run in Spark's tasks: whatever they import must be there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from chronodp.errors import StreamConflict
from chronodp.live.structured_streaming.shares import (
    Arrival,
    Figures,
    Share,
    Terms,
    Tick,
    Yield,
    advance,
    read_arrivals,
)
from chronodp.live.structured_streaming.stored_share import STORED, load, store

__all__ = ["Told", "collect", "windows_of"]

_ARRIVALS = "share INT, window BIGINT, content BINARY, records BINARY"
_TOLD = "share INT, first BIGINT, due BIGINT, records BINARY, window BIGINT, content BINARY, people BINARY"


@dataclass(frozen=True, slots=True)
class Told:
    """What a batch tells the driver.

    Attributes:
        first: the first window that it closes.
        due: the one after the last.
        yields: what shares put into the closed windows, in the order of windows and shares.
        figures: what became of its records. For the owner.
    """

    first: int
    due: int
    yields: tuple[Yield, ...]
    figures: Figures


def windows_of(messages: Any, ticks: Any, terms: Terms) -> Any:
    """Return the frame whose batches are what closed windows total, from one of messages and one of ticks."""
    from pyspark.sql.functions import explode, lit, sequence

    arrivals = messages.select(messages[messages.columns[0]].cast("binary")).mapInArrow(_reading(terms), _ARRIVALS)
    everyone = explode(sequence(lit(0), lit(terms.shares - 1))).alias("share")
    both = ticks.select(everyone, "*").unionByName(arrivals, allowMissingColumns=True)
    return both.groupBy("share").applyInPandasWithState(_advancing(terms), _TOLD, STORED, "append", "NoTimeout")


def collect(batch: Any) -> Told | None:
    """Compute a batch, once; None if nothing came in it."""
    rows = batch.collect()
    if not rows:
        return None
    if len({(row.first, row.due) for row in rows}) > 1:
        raise StreamConflict("parts of Spark's checkpoint are older than others: put the newest one back")
    closed = sorted((row for row in rows if row.window is not None), key=lambda row: (row.window, row.share))
    return Told(
        first=rows[0].first,
        due=rows[0].due,
        yields=tuple(Yield(row.window, bytes(row.content), bytes(row.people)) for row in closed),
        figures=sum((_numbers(row.records) for row in rows if row.records is not None), start=np.zeros(5, np.int64)),
    )


def _reading(terms: Terms) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def read(pieces: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        for piece in pieces:
            messages = (message for message in piece.column(0).to_pylist() if message is not None)
            found = list(read_arrivals(terms, messages))
            columns: list[Any] = [
                pyarrow.array([one.share for one in found], pyarrow.int32()),
                pyarrow.array([one.window for one in found], pyarrow.int64()),
                pyarrow.array([one.content for one in found], pyarrow.binary()),
                pyarrow.array([one.records.tobytes() for one in found], pyarrow.binary()),
            ]
            yield pyarrow.record_batch(columns, names=["share", "window", "content", "records"])

    return read


def _advancing(terms: Terms) -> Callable[[Any, Iterable[Any], Any], Iterator[Any]]:
    def run(group: Any, pieces: Iterable[Any], state: Any) -> Iterator[Any]:
        import pandas

        number = int(group[0])
        share = load(state.get, key=terms.key, number=number) if state.exists else Share()
        rows = [row for piece in pieces for row in piece.itertuples(index=False)]
        ticks = [(int(row.number), int(row.due), int(row.doubted)) for row in rows if row.content is None]
        tick = Tick(*max(ticks)[1:]) if ticks else None  # the newest look
        came = [
            Arrival(number, int(row.window), bytes(row.content), _numbers(row.records))
            for row in rows
            if row.content is not None
        ]
        after, yields, figures = advance(terms, share, tick=tick, arrivals=came)
        if after != share or not state.exists:
            state.update(store(after, key=terms.key, number=number))
        # One row always: whoever collects must learn which windows are closed, also where nobody is in them.
        span = (number, share.tick.due, after.tick.due)
        told: list[tuple[Any, ...]] = [(*span, figures.tobytes(), None, None, None)]
        told += [(*span, None, one.window, one.content, one.people) for one in yields]
        frame = pandas.DataFrame(told, columns=[column.split()[0] for column in _TOLD.split(", ")])
        yield frame.astype({"window": "Int64"})  # a column of whole numbers, some of them missing

    return run


def _numbers(content: bytes) -> Figures:
    return np.frombuffer(content, dtype="<i8")

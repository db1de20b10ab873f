"""Where time is cut into blocks: at the same instants for every table and every person.

Blocks are counted from 1970-01-01 UTC, or from time 0 where times are plain numbers. Two releases of the same rows then
cut time alike, and their costs add up, as long as each holds every block whole.

*Several releases* and *Borders* of ``docs/explanation/proofs/temporal.md``.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.temporal.grids import PeopleTable

__all__ = ["Cut", "Moment", "cover", "find_cut", "segments"]

Moment: TypeAlias = str | int | dt.datetime
"""A time as people give it: ISO 8601 or a datetime, UTC unless it says otherwise; a whole number where times are."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What a release covers.

    Attributes:
        block: periods of a block.
        start, end: the first instant and the first one after the last, on borders of blocks; None as far as rows go.
        clock: whether times are clock times.
    """

    block: int
    start: int | None
    end: int | None
    clock: bool

    def __str__(self) -> str:
        origin = "1970-01-01 UTC" if self.clock else "time 0"
        told = f"blocks of {self.block} periods counted from {origin}"
        edges = [
            f"{word} {_shown(edge, clock=self.clock)}"
            for word, edge in (("from", self.start), ("to", self.end))
            if edge is not None
        ]
        if len(edges) == 2:
            return f"{told}, {' '.join(edges)}; composes with releases that hold each of these blocks whole and alike"
        covered = {0: "first and last block", 1: "last block" if self.end is None else "first block"}[len(edges)]
        return f"{' '.join([told, *edges])}, {covered} as covered; stands alone: no other release of these values"


def find_cut(table: PeopleTable, block: int, start: Moment | None, end: Moment | None) -> Cut:
    """Return the cut, or refuse an edge that lies inside a block, with the borders on both sides of it."""
    first, stop = (_border(name, edge, table, block) for name, edge in (("start", start), ("end", end)))
    if first is not None and stop is not None and first >= stop:
        raise InvalidArgument("end", str(end), "after start")
    return Cut(block, first, stop, table.clock)


def cover(table: PeopleTable, cut: Cut) -> PeopleTable:
    """Return the rows inside a cut."""
    inside = np.ones(len(table.frame), dtype=bool)
    if cut.start is not None:
        inside &= table.instants >= cut.start
    if cut.end is not None:
        inside &= table.instants < cut.end
    if inside.all():
        return table
    person = np.repeat(np.arange(len(table.starts)), table.lengths)[inside]
    starts = np.flatnonzero(np.diff(person, prepend=-1))
    return replace(
        table, frame=table.frame[inside].reset_index(drop=True), instants=table.instants[inside], starts=starts
    )


def segments(table: PeopleTable, block: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return begins and lengths of people's rows, split where a person's first whole block begins."""
    border = table.starts + -table.periods[table.starts] % block
    begins = np.union1d(table.starts, border[border < table.starts + table.lengths])
    return begins, np.diff(np.append(begins, len(table.frame)))


def _border(name: str, edge: Moment | None, table: PeopleTable, block: int) -> int | None:
    if edge is None:
        return None
    instant = _clock_instant(name, edge) if table.clock else _number(name, edge)
    if table.step is None:
        raise InvalidArgument(
            name, str(edge), "left out: nobody has two rows, so there is no period to count blocks in"
        )
    size = block * table.step
    if instant % size:
        before = instant // size * size
        shown = " or ".join(_shown(border, clock=table.clock) for border in (before, before + size))
        raise InvalidArgument(name, str(edge), f"on the border of a block of {block} periods; the nearest are {shown}")
    return instant


def _clock_instant(name: str, edge: Moment) -> int:
    import pandas

    allowed = "a time such as 2026-01-31T12:00"
    if not isinstance(edge, str | dt.datetime) or str(edge).strip().isdigit():
        raise InvalidArgument(name, edge, allowed)
    try:
        moment = pandas.Timestamp(edge)
        if pandas.isna(moment):
            raise ValueError
        aware = moment.tz_localize("UTC") if moment.tzinfo is None else moment
        return int(aware.as_unit("ns").value)
    except (ValueError, TypeError, OverflowError):
        raise InvalidArgument(name, str(edge), allowed) from None


def _number(name: str, edge: Moment) -> int:
    try:
        if isinstance(edge, bool | float | dt.datetime) or abs(number := int(edge)) > 2**62:
            raise ValueError
    except (ValueError, TypeError):
        raise InvalidArgument(name, str(edge)[:60], "a whole number, as times are") from None
    return number


def _shown(instant: int, *, clock: bool) -> str:
    import pandas

    return pandas.Timestamp(instant).isoformat() if clock else str(instant)

"""Buffers that were tuned beforehand: `python -m chronodp.series.shapes.optimise` made the table.

Each row names what it was tuned for. Its parameters are good near that and valid everywhere: error and sensitivity are
always computed for the case at hand.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Literal, NamedTuple, TypeAlias

from chronodp.series.shapes.buffered import BufferedLinear

__all__ = ["TABLE", "Aim", "Row", "buffers_near", "endless_buffers", "read_table"]

TABLE = "buffered_table.json"
Aim: TypeAlias = Literal["mean", "max"]


class Row(NamedTuple):
    """What buffers were tuned for: a series or a stream without end, its length, the error, a person's periods."""

    kind: Literal["series", "endless"]
    horizon: int
    aim: Aim
    periods: int
    buffers: int


@cache
def read_table() -> dict[Row, BufferedLinear]:
    """Return every shape of the table by what it was tuned for."""
    text = (resources.files(__package__) / TABLE).read_text(encoding="utf-8")
    rows = json.loads(text)
    return {
        Row(*(row[field] for field in Row._fields)): BufferedLinear(tuple(row["theta"]), tuple(row["omega"]))
        for row in rows
    }


def buffers_near(horizon: int, periods: int) -> dict[Row, BufferedLinear]:
    """Return the shapes tuned for lengths and periods of one person next to these, below and above.

    >>> sorted({(row.horizon, row.periods) for row in buffers_near(3000, 1)})
    [(2048, 1), (4096, 1)]
    """
    series = {row: shape for row, shape in read_table().items() if row.kind == "series"}
    counts = _around(periods, {row.periods for row in series})
    chosen: dict[Row, BufferedLinear] = {}
    for count in counts:
        lengths = _around(horizon, {row.horizon for row in series if row.periods == count})
        chosen |= {row: shape for row, shape in series.items() if row.periods == count and row.horizon in lengths}
    return chosen


def endless_buffers() -> dict[Row, BufferedLinear]:
    """Return the shapes for streams whose end is not known."""
    return {row: shape for row, shape in read_table().items() if row.kind == "endless"}


def _around(wanted: int, known: set[int]) -> set[int]:
    below = {max(number for number in known if number <= wanted)} if min(known) <= wanted else set()
    above = {min(number for number in known if number >= wanted)} if max(known) >= wanted else set()
    return below | above

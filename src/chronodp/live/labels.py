"""Released rows with their labels: which window, when, and which group."""

from __future__ import annotations

from collections.abc import Sequence

from chronodp.live.contribution import Limits
from chronodp.live.key_limits import KeyLimits
from chronodp.live.streams import TotalsStream
from chronodp.series import Row

__all__ = ["columns_of", "label_rows"]


def columns_of(limits: Limits | KeyLimits, streams: Sequence[TotalsStream]) -> tuple[str, ...]:
    """Return the columns of a released row."""
    group = ("group",) if limits.groups else ()
    return ("window", "time", *group, *(name for stream in streams for name in stream.columns))


def label_rows(limits: Limits | KeyLimits, begin: int, parts: Sequence[list[list[Row]]]) -> list[list[Row]]:
    """Return rows by window, from ``begin`` on, with their labels and what each stream released."""
    made = []
    for at, tables in enumerate(zip(*parts, strict=True)):
        window = begin + at
        label = {"window": window, "time": limits.windows.label(window)}
        if isinstance(limits, KeyLimits):  # rows name their key, and up to which window they count
            labels = limits.windows.label
            made.append([label | row | {"until": labels(row["until"])} for row in tables[0]])
            continue
        keys: list[Row] = [{"group": key} for key in limits.groups] or [{}]
        made.append([dict(label, **key, **_joined(rows)) for key, *rows in zip(keys, *tables, strict=True)])
    return made


def _joined(rows: Sequence[Row]) -> Row:
    joined: Row = {}
    for row in rows:
        joined |= row
    return joined

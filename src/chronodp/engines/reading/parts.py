"""A table as an engine finds it: parts in which each column has one type, and whether they can serve at all.

*Files* under "Why it holds" in ``docs/explanation/proofs/reading.md``: each part is read by its own types.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from chronodp.engines.reading.declared import Reading
from chronodp.engines.reading.stored import NOTHING, Role, Stored, can_hold
from chronodp.errors import UnknownColumn, UnsuitableColumn

__all__ = ["Part", "Wanted", "check_parts", "match_column"]

_NEEDED: dict[Role, str] = {
    "time": "a timestamp, a date or a text such as 2026-01-31T12:00",
    "order": "a time or a number",
    "name": "a text or a whole number",
    "number": "a number",
}
_NUMBERED = (
    "; if it counts from 1970, declare it: Reading(time_format='s'), 'ms', 'us' or 'ns'; "
    "if its digits are dates, how they are written, such as Reading(time_format='%Y%m%d')"
)
_SHOWN = 30  # names of columns in a message


class Wanted(NamedTuple):
    """A column that is to be read: which argument named it, as what it is read, its name."""

    argument: str
    role: Role
    column: str


@dataclass(frozen=True, slots=True)
class Part:
    """Rows whose columns have one type each: a table, a frame, or the files of a glob that are stored alike.

    Attributes:
        table: its name in SQL.
        columns: name in SQL and type of every column that is wanted and there, by role and name.
        names: all names of columns.
        listed: whether a message may list them: in a CSV file without a header they are somebody's values.
    """

    table: str
    columns: Mapping[tuple[Role, str], tuple[str, Stored]] = field(hash=False)
    names: Collection[str] = field(default=(), hash=False)
    listed: bool = True

    def find(self, role: Role, column: str) -> tuple[str, Stored]:
        """Return the name in SQL and the type of a column; one that this part lacks has nothing in every row."""
        return self.columns.get((role, column), ("", NOTHING))


def match_column(names: Sequence[str], column: str, *, place: str) -> str | None:
    """Return how a column is spelled in a place, capitals aside; refuse if two are spelled so."""
    alike = [name for name in names if name.lower() == column.lower()]
    if len(alike) > 1:
        raise UnsuitableColumn(f"{place} has more than one column {column!r}: rename them")
    return alike[0] if alike else None


def check_parts(parts: Sequence[Part], wanted: Iterable[Wanted], reading: Reading) -> None:
    """Raise unless every column is in some part with a type of which some cell could be read.

    One part alone is no reason: a file, which may be one person's, would refuse everybody's.
    """
    for argument, role, column in wanted:
        found = [part.columns[role, column][1] for part in parts if (role, column) in part.columns]
        if not found:
            names = list(dict.fromkeys(name for part in parts for name in part.names))
            raise UnknownColumn(_unknown(argument, column, names, listed=all(part.listed for part in parts)))
        if not any(can_hold(stored, role, numbered=reading.numbered) for stored in found):
            numbers = role == "time" and all(stored.kind in ("whole", "decimal", "real") for stored in found)
            mend = _NUMBERED if numbers else ""
            raise UnsuitableColumn(
                f"{argument}: column {column!r} holds {found[0].words}; {_NEEDED[role]} is needed{mend}"
            )


def _unknown(argument: str, column: str, names: Sequence[str], *, listed: bool) -> str:
    some = ", ".join(names[:_SHOWN]) + (" ..." if len(names) > _SHOWN else "")
    shown = f"; it has {some}" if listed and names else "" if names else "; it has no columns"
    near = difflib.get_close_matches(column.lower(), [name.lower() for name in names], n=1)
    hint = next((f"; did you mean {name}?" for name in names if near and name.lower() == near[0]), "")
    return f"{argument}: the table has no column {column!r}{shown}{hint}"

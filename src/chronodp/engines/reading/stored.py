"""How a column is stored: the few kinds of types that the rule tells apart, whatever engine holds the table.

The rows of the table in ``docs/explanation/proofs/reading.md``, "The rule".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["NOTHING", "TEXT", "Kind", "Role", "Stored", "can_hold", "stored_in_duckdb", "stored_in_spark"]

Kind: TypeAlias = Literal[
    "text", "whole", "decimal", "real", "truth", "day", "clock", "instant", "moment", "nothing", "unreadable"
]
Role: TypeAlias = Literal["time", "order", "name", "number"]
"""What a cell is wanted for; of an order only that, so that a plain number serves as well as a time."""


_NUMBERS: frozenset[Kind] = frozenset(("whole", "decimal", "real"))
_TIMES: frozenset[Kind] = frozenset(("text", "day", "clock", "instant", "moment", "nothing"))
_HOLDS: dict[Role, frozenset[Kind]] = {
    "time": _TIMES,
    "order": _TIMES | _NUMBERS,
    "name": frozenset(("text", "truth", "nothing", *_NUMBERS)),
    "number": frozenset(("text", "truth", "nothing", *_NUMBERS)),
}

_DUCKDB: dict[str, Kind] = {
    "VARCHAR": "text",
    "UUID": "text",
    "ENUM": "text",
    "TINYINT": "whole",
    "SMALLINT": "whole",
    "INTEGER": "whole",
    "BIGINT": "whole",
    "HUGEINT": "whole",
    "UTINYINT": "whole",
    "USMALLINT": "whole",
    "UINTEGER": "whole",
    "UBIGINT": "whole",
    "UHUGEINT": "whole",
    "DECIMAL": "decimal",
    "FLOAT": "real",
    "DOUBLE": "real",
    "BOOLEAN": "truth",
    "DATE": "day",
    "TIMESTAMP": "clock",
    "TIMESTAMP_S": "clock",
    "TIMESTAMP_MS": "clock",
    "TIMESTAMP_NS": "clock",
    "TIMESTAMP WITH TIME ZONE": "instant",
    "TIMESTAMPTZ_NS": "instant",
    '"NULL"': "nothing",
}
_SPARK: dict[str, Kind] = {
    "string": "text",
    "char": "text",
    "varchar": "text",
    "tinyint": "whole",
    "smallint": "whole",
    "int": "whole",
    "bigint": "whole",
    "decimal": "decimal",
    "float": "real",
    "double": "real",
    "boolean": "truth",
    "date": "day",
    "timestamp": "instant",
    "timestamp_ntz": "clock",
    "void": "nothing",
}


@dataclass(frozen=True, slots=True)
class Stored:
    """The type of a column, in a file, a table or a frame.

    Attributes:
        kind: what the rule makes of its cells.
        words: the type in its holder's words, for messages.
        digits: of a decimal number.
        fraction: how many of these stand after the point.
        ticks: nanoseconds of one unit where times can be had as whole numbers counted from 1970; None if only as the
            engine's own type.
        ticks_by: the function in SQL that gives these numbers; None if the column holds them.
        flag: of moments, the column that says which of them are instants.
        present: the column that says which cells held anything, where the cells alone do not.
    """

    kind: Kind
    words: str
    digits: int = 0
    fraction: int = 0
    ticks: int | None = None
    ticks_by: str | None = None
    flag: str = ""
    present: str = ""


_NO_OFFSET = {"UTC", "Etc/UTC", "GMT", "Z", "+00:00"}  # zones in which no clock was ever put forward
TEXT = Stored("text", "text")
NOTHING = Stored("nothing", "no cells")


def can_hold(stored: Stored, role: Role, *, numbered: bool) -> bool:
    """Return whether any cell of such a column could ever be read, ``numbered``: where times may be numbers."""
    return stored.kind in _HOLDS[role] or (role == "time" and numbered and stored.kind in _NUMBERS)


def stored_in_duckdb(words: str) -> Stored:
    """Return how DuckDB stores a column of a type."""
    base = words.partition("(")[0]
    kind: Kind = "unreadable" if words.endswith("]") else _DUCKDB.get(base, "unreadable")
    if base in ("TIMESTAMP_NS", "TIMESTAMPTZ_NS"):
        return Stored(kind, words, ticks=1, ticks_by="EPOCH_NS")
    digits, fraction = _digits(words)
    return Stored(kind, words, digits, fraction)


def stored_in_spark(words: str, *, zone: str = "") -> Stored:
    """Return how Spark stores a column of a type, in a session of a zone."""
    base = words.partition("(")[0].partition(" collate")[0]
    kind = _SPARK.get(base, "unreadable")
    if kind == "clock" and zone in _NO_OFFSET:
        # There what a clock shows is the instant: Spark has its microseconds, which elsewhere are counted from days.
        return Stored(kind, words, ticks=1000, ticks_by="UNIX_MICROS")
    digits, fraction = _digits(words)
    return Stored(kind, words, digits, fraction)


def _digits(words: str) -> tuple[int, int]:
    """Return how many digits a decimal number has, and how many of them after the point."""
    found = re.match(r"decimal\((\d+), ?(\d+)", words, re.IGNORECASE)
    return (int(found[1]), int(found[2])) if found else (0, 0)

"""Whether a table's columns can serve: checked before anything is read or spent."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from chronodp.engines.question import Question
from chronodp.errors import UnknownColumn, UnsuitableColumn

__all__ = ["Schema", "check_columns", "check_series_columns"]

_WHOLE = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "UHUGEINT",
)
_NUMBERS = (*_WHOLE, "FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN")
_NAMES = (*_WHOLE, "VARCHAR", "UUID", "ENUM", "BOOLEAN")
_TIMES = ("TIMESTAMP", "DATE")


@dataclass(frozen=True, slots=True)
class Schema:
    """The names and types of a table's columns, in DuckDB's words.

    Attributes:
        types: type by column.
        text: whether everything is text that is still to be read as times and numbers, as in CSV files.
    """

    types: Mapping[str, str]
    text: bool = False

    def has_offset(self, column: str) -> bool:
        """Return whether times in the column say their own offset from UTC."""
        return "WITH TIME ZONE" in self.types[column] or self.types[column].startswith("TIMESTAMPTZ")


def check_columns(schema: Schema, question: Question) -> None:
    """Raise unless the table has the columns that the question names, each of a type that can serve."""
    check_series_columns(schema, time=question.time, user=question.user, value=question.value)
    for grouping in question.groupings:
        _check(schema, "by", grouping.column, _NAMES, "a text or a whole number")


def check_series_columns(schema: Schema, *, time: str, user: str | None, value: str | None) -> None:
    """Raise unless the table has these columns, each of a type that can serve."""
    _check(schema, "time", time, _TIMES, "a timestamp or a date")
    if user is not None:
        _check(schema, "user", user, _NAMES, "a text or a whole number")
    if value is not None:
        _check(schema, "value", value, _NUMBERS, "a number")


def _check(schema: Schema, argument: str, column: str, types: tuple[str, ...], wanted: str) -> None:
    if column not in schema.types:
        names = list(schema.types)
        # In a CSV file without a header, or with a damaged one, what stands for the names is somebody's row.
        listed = ", ".join(names[:30]) + (" ..." if len(names) > 30 else "")
        shown = "" if schema.text else f"; it has {listed}"
        near = difflib.get_close_matches(column.lower(), [name.lower() for name in names], n=1)
        hint = next((f"; did you mean {name}?" for name in names if near and name.lower() == near[0]), "")
        raise UnknownColumn(f"{argument}: the table has no column {column!r}{shown}{hint}")
    kind = schema.types[column]
    # A column of nothing but nulls has no type of its own: every row is left out.
    if not schema.text and kind != '"NULL"' and not kind.startswith(types):
        raise UnsuitableColumn(f"{argument}: column {column!r} holds {kind}; {wanted} is needed")

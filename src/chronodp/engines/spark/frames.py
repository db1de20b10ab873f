"""Whether a Spark frame can serve, found out from its schema and its plan before anything is read."""

from __future__ import annotations

from collections import Counter
from typing import Any

from chronodp.engines.question import Question
from chronodp.engines.schema import Schema
from chronodp.errors import UnsuitableColumn

__all__ = ["check_frame", "needed_columns", "schema_of"]

_WORDS = {
    "bigint": "BIGINT",
    "binary": "BLOB",
    "boolean": "BOOLEAN",
    "char": "VARCHAR",
    "date": "DATE",
    "decimal": "DECIMAL",
    "double": "DOUBLE",
    "float": "FLOAT",
    "int": "INTEGER",
    "smallint": "SMALLINT",
    "string": "VARCHAR",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "timestamp_ntz": "TIMESTAMP",
    "tinyint": "TINYINT",
    "varchar": "VARCHAR",
    "void": '"NULL"',
}
"""Spark's types in the words of `Schema`."""

_UTC = ("UTC", "Etc/UTC", "Z", "GMT", "Etc/GMT", "+00:00", "UTC+00:00", "GMT+00:00")


def schema_of(frame: Any) -> Schema:
    """Return the names and types of a frame's columns."""
    types = {}
    for column in frame.schema.fields:
        name = column.dataType.simpleString()
        word = name.partition("(")[0].partition(" collate")[0]
        types[column.name] = _WORDS.get(word, name.upper())
    return Schema(types)


def needed_columns(frame: Any, question: Question) -> Any:
    """Return a frame without the columns that a question does not name."""
    names = Counter(name.lower() for name in frame.columns)
    for column in question.columns:
        if names[column.lower()] > 1:
            raise UnsuitableColumn(f"the frame has more than one column {column!r}: rename them")
    return frame.select(*(f"`{column.replace('`', '``')}`" for column in question.columns))


def check_frame(frame: Any, schema: Schema, question: Question) -> None:
    """Raise unless a frame can answer a question: no stream, one meaning of its times, the same rows each time.

    Instants are the same in every time zone. Days and clock times without an offset are turned into numbers by the
    session, and changed by it unless it is in UTC.
    """
    if frame.isStreaming:
        raise UnsuitableColumn(
            "the frame is a stream: release each of its batches with chronodp.live.structured_streaming"
        )
    zone = frame.sparkSession.conf.get("spark.sql.session.timeZone")
    if schema.types[question.time] in ("TIMESTAMP", "DATE") and zone not in _UTC:
        raise UnsuitableColumn(
            f"time: column {question.time!r} holds days or clocks without an offset, and the session is in {zone}: set "
            "spark.conf.set('spark.sql.session.timeZone', 'UTC'); they are read in the series' own time zone as before"
        )
    if not _is_deterministic(frame):
        raise UnsuitableColumn(
            "the frame holds something that changes each time it is computed, such as rand() or uuid(); a task that "
            "runs again would count people twice: write the frame to a table and read that"
        )


def _is_deterministic(frame: Any) -> bool:
    """Whether the plan says that it gives the same rows each time. Over Connect plans cannot be asked."""
    plan = getattr(frame, "_jdf", None)
    return plan is None or bool(plan.queryExecution().optimizedPlan().deterministic())

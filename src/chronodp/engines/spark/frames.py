"""Whether a Spark frame can serve, found out from its schema and its plan before anything is read."""

from __future__ import annotations

from typing import Any

from chronodp.engines.chosen import LISTED
from chronodp.engines.question import Question
from chronodp.engines.reading import Part, Role, Stored, match_column, stored_in_spark
from chronodp.errors import UnsuitableColumn

__all__ = ["check_frame", "decoded", "key_frames", "needed_columns", "part_of"]


def part_of(frame: Any, question: Question) -> Part:
    """Return a frame as the table ``records``, with the types of the columns that are wanted."""
    zone = frame.sparkSession.conf.get("spark.sql.session.timeZone")
    types = {one.name: stored_in_spark(one.dataType.simpleString(), zone=zone) for one in frame.schema.fields}
    columns: dict[tuple[Role, str], tuple[str, Stored]] = {}
    for _, role, column in question.wanted:
        name = match_column(frame.columns, column, place="the frame")
        if name is not None:
            columns[role, column] = name, types[name]
    return Part("records", columns, frame.columns)


def needed_columns(frame: Any, part: Part) -> Any:
    """Return a frame without the columns that are not wanted; what is no UTF-8 is left out of texts."""
    version = frame.sparkSession.version
    cells = []
    for name, stored in dict(part.columns.values()).items():
        quoted = f"`{name.replace('`', '``')}`"
        cells.append(f"{decoded(quoted, version)} AS {quoted}" if stored.kind == "text" else quoted)
    return frame.selectExpr(*cells)


def decoded(text: str, version: str) -> str:
    """Return the SQL of a text without the bytes that are not UTF-8, as DuckDB and Python leave them out.

    Spark puts a sign in their place, which a text may have had before; there it is written as two letters meanwhile.
    """
    sign = "decode(unhex('EFBFBD'), 'UTF-8')"
    spelled = f"replace(replace({text}, 'a', 'ab'), {sign}, 'ac')"
    if int(version.partition(".")[0]) >= 4:
        valid, mended = f"is_valid_utf8({text})", f"make_valid_utf8({spelled})"
    else:
        valid = f"{text} = decode(encode({text}, 'UTF-8'), 'UTF-8')"
        mended = f"decode(encode({spelled}, 'UTF-8'), 'UTF-8')"
    left = f"replace(replace(replace({mended}, {sign}, ''), 'ac', {sign}), 'ab', 'a')"
    return f"CASE WHEN {valid} THEN {text} ELSE {left} END"


def key_frames(session: Any, question: Question, text: str) -> dict[str, Any]:
    """Return frames with the public keys that a text joins and does not list; they are sent to every task."""
    return {
        f"keys_{index}": session.createDataFrame(
            [(key, code) for code, key in enumerate(grouping.keys)], "key string, code bigint"
        )
        for index, grouping in enumerate(question.groupings)
        if len(grouping.keys) > LISTED and f"keys_{index}" in text
    }


def check_frame(frame: Any) -> None:
    """Raise unless a frame gives the same rows each time it is read."""
    if frame.isStreaming:
        raise UnsuitableColumn(
            "the frame is a stream: release its windows with LiveOnSpark of chronodp.live.structured_streaming"
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

"""Whether a stream of Spark may feed windows, found out from its plan before anything is read or spent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chronodp.engines import is_spark_frame
from chronodp.errors import InvalidArgument, UnsuitableColumn

__all__ = ["check_messages"]

_ROW_BY_ROW = ("Project", "Filter", "SubqueryAlias", "Union")
_SOURCES = ("StreamingRelation", "StreamingRelationV2")
_MESSAGES = ("binary", "string")


def check_messages(frame: Any) -> None:
    """Raise unless a frame is a stream of messages in which no row decides over another.

    A limit on what one batch reads would let one person's rows move everybody else's into later batches, after their
    windows have closed; whatever joins rows, drops repeats or has a watermark would let one decide over others.
    """
    if not is_spark_frame(frame) or not hasattr(frame, "_jdf"):
        raise InvalidArgument("messages", frame, "a stream of Spark, of a classic session", private=True)
    if not frame.isStreaming:
        raise InvalidArgument("messages", "a table", "a stream, such as spark.readStream returns")
    if len(frame.columns) != 1 or frame.schema.fields[0].dataType.simpleString() not in _MESSAGES:
        allowed = "one column of JSON messages, such as select('value') of Kafka, or select(to_json(struct('*')))"
        raise UnsuitableColumn(f"the stream has the columns {', '.join(frame.columns)}; it must have {allowed}")
    plan = frame._jdf.queryExecution().analyzed()
    if not plan.deterministic():
        raise UnsuitableColumn("the stream holds something that changes each time it is computed, such as rand()")
    for node in _nodes(plan):
        name = node.nodeName()
        if name in _SOURCES:
            _check_source(node)
        elif name not in _ROW_BY_ROW:
            raise UnsuitableColumn(f"the stream has a step {name}: it may select and filter, row by row, and no more")


def _nodes(plan: Any) -> Iterator[Any]:
    yield plan
    children = plan.children()
    for at in range(children.size()):
        yield from _nodes(children.apply(at))


def _check_source(node: Any) -> None:
    told = node.dataSource().options() if node.nodeName() == "StreamingRelation" else node.extraOptions()
    names = told.keySet().mkString("\n") if hasattr(told.keySet(), "mkString") else "\n".join(told.keySet())
    for name in names.split("\n"):
        if "pertrigger" in name.lower():
            allowed = "left out: whose records come in a batch would depend on others'"
            raise InvalidArgument("messages", f"option {name}", allowed)

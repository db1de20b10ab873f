"""A query written down as the JSON that a curator reads."""

from __future__ import annotations

from typing import Any

from chronodp.errors import InvalidArgument
from chronodp.privacy import to_document
from chronodp.series import Table, Workload

__all__ = ["write_question"]


def write_question(table: Table, *, epsilon: float, delta: float, tuned_for: Workload) -> dict[str, Any]:
    """Return the JSON of the question that a table and its price stand for."""
    periods = table.periods
    calendar = periods.calendar
    if calendar is None or table.calendar is None:
        raise InvalidArgument("table", "periods without dates", "about records with dates")
    content: dict[str, Any] = {
        "measure": periods.measure.to_question(),
        "by": {grouping.column: list(grouping.keys) for grouping in table.groupings},
        "max_groups": table.max_groups,
        "every": calendar.every,
        "start": calendar.start,
        "end": calendar.end,
        "tuned_for": to_document(tuned_for),
        "epsilon": epsilon,
        "delta": delta,
    }
    if table.where is not None:
        content["where"] = table.where
    if table.columns is not None:
        content["columns"] = {one.name: one.expression for one in table.columns}
    if table.max_periods is not None:
        content["max_periods"] = table.max_periods
    if table.measure.block is not None:
        content["block"] = {"statistic": table.measure.block.statistic, "every": table.calendar.every}
    return content

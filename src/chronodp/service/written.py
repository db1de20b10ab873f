"""A query written down as the JSON that a curator reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from chronodp.errors import InvalidArgument
from chronodp.privacy import to_document
from chronodp.series import Discover, Find, Table, Terms

__all__ = ["write_question"]


def write_question(
    table: Table, finds: Mapping[str, Find] | None = None, discover: Discover | None = None, **terms: Unpack[Terms]
) -> dict[str, Any]:
    """Return the JSON of the question that a table, what is found of its bounds or keys, and its terms stand for."""
    periods = table.periods
    calendar = periods.calendar
    if calendar is None or table.calendar is None:
        raise InvalidArgument("table", "periods without dates", "about records with dates")
    content: dict[str, Any] = {
        "measure": periods.measure.to_question(),
        "by": {
            grouping.column: _found(discover) if discover is not None and grouping.found else list(grouping.keys)
            for grouping in table.groupings
        },
        "max_groups": table.max_groups,
        "every": calendar.every,
        "start": calendar.start,
        "end": calendar.end,
        "tuned_for": to_document(terms["tuned_for"]),
        "epsilon": terms["epsilon"],
        "delta": terms["delta"],
    }
    if periods.measure.norm is not None:
        del content["max_groups"]  # all groups of a person count
    if table.levels is not None:
        content["places"] = {name: part for name, part in to_document(table.levels).items() if name != "kind"}
    if table.where is not None:
        content["where"] = table.where
    if table.columns is not None:
        content["columns"] = {one.name: one.expression for one in table.columns}
    if table.max_periods is not None:
        content["max_periods"] = table.max_periods
    if table.measure.block is not None:
        content["block"] = {"statistic": table.measure.block.statistic, "every": table.calendar.every}
    missing = terms.get("missing")
    if missing is not None:
        content["missing"] = {"share": missing.share, "assume": missing.assume}
    if finds:
        _leave_out(content, finds)
    return content


def _found(discover: Discover) -> dict[str, Any]:
    """Say how keys are found; of what is as the library has it nothing, so that the curator's policy says it."""
    usual = to_document(Discover())
    return {name: value for name, value in to_document(discover).items() if value != usual[name]}


def _leave_out(content: dict[str, Any], finds: Mapping[str, Find]) -> None:
    """Say what is found, in place of the references that a table holds there."""
    sizes = [find for name, find in finds.items() if name in ("clip", "at_most", "bound", "edges")]
    names = ["norm" if name == "bound" else name for name in finds]
    content["find"] = {
        "bounds": names,
        "share": max(find.share for find in finds.values()),
        "between": next((list(find.between) for find in sizes if find.between is not None), None),
        "from_zero": any(name in finds and content["measure"][name][0] == 0 for name in ("clip", "edges")),
    }
    for name in names:
        (content if name in content else content["measure"]).pop(name)

"""What of a question is still to be found, by a private step, when its plan is released."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chronodp.dataset.groups import check_keys
from chronodp.engines import Grouping
from chronodp.errors import InvalidArgument
from chronodp.series import Discover, Found, Table

__all__ = ["KNOWN", "NOT_BOTH", "bounds_of", "grouping_of", "the_one"]

KNOWN = "known bounds and keys with Places: find them in a release without first, and use release.found"
NOT_BOTH = "given where keys are found: find keys first, and bounds by(...=release.keys)"


def grouping_of(column: str, keys: object) -> Grouping:
    """Return a column that splits, with its public keys or such as are found."""
    if isinstance(keys, Discover):
        return Grouping(column, (), found=True)
    return Grouping(column, check_keys(column, keys))


def the_one(asked: Sequence[Discover | None]) -> Discover | None:
    """Return how keys are found, if they are; of one column only."""
    found = [one for one in asked if one is not None]
    if len(found) > 1:
        allowed = (
            "given for one column; where pairs are meant, make one of both: "
            "columns={'route': \"concat(origin, ' to ', dest)\"} and by(route=Discover(...))"
        )
        raise InvalidArgument("by", "Discover() twice", allowed)
    return found[0] if found else None


def bounds_of(table: Table, found: Found) -> dict[str, Any]:
    """Return found bounds by their arguments; no more periods or groups count than there are."""
    shorter = table.periods  # people are bounded in the periods that blocks are made of
    return {
        shorter.measure.size_name: found.sized(shorter.measure.size_name),
        "max_periods": found.max_periods and min(found.max_periods, shorter.horizon),
        "max_groups": found.max_groups and min(found.max_groups, table.groups),
    }

"""What of a question is still to be found, by a private step, when its plan is released."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chronodp.dataset.groups import check_keys
from chronodp.engines import Grouping
from chronodp.errors import InvalidArgument
from chronodp.series import Discover, Find, Found, Table
from chronodp.series.finding import edges_shape

__all__ = [
    "CLIP_FOUND",
    "EDGES_FOUND",
    "KNOWN",
    "NOT_BOTH",
    "ROWS_FOUND",
    "bounds_of",
    "check_given",
    "clip_to_find",
    "edges_to_find",
    "grouping_of",
    "the_one",
]

KNOWN = "known bounds and keys with Places: find them in a release without first, and use release.found"
NOT_BOTH = "given where keys are found: find keys first, and bounds by(...=release.keys)"
ROWS_FOUND = "a private step finds it for count(at_most=Find()) alone"
EDGES_FOUND = "a private step finds them for histograms; use their release.quantile(...), or release.found.edges"
CLIP_FOUND = "a private step finds a clip for sums and means; find it with sum(...), and use release.found"


def check_given(name: str, given: object, allowed: str, found: str) -> None:
    """Refuse a bound that is to be found where no private step finds it."""
    if any(isinstance(one, Find) for one in (given if isinstance(given, tuple | list) else (given,))):
        raise InvalidArgument(name, "Find()", f"{allowed}: {found}")


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


def clip_to_find(clip: object) -> tuple[Find | None, tuple[float, float]]:
    """Return what is to be found of a clip, and the clip of which it is a multiple."""
    find, from_zero = _to_find("clip", clip, "a pair of numbers")
    return find, (0.0 if from_zero else -1.0, 1.0)


def edges_to_find(edges: object) -> tuple[Find | None, tuple[float, ...]]:
    """Return what is to be found of edges, and the edges of which they are a multiple."""
    find, from_zero = _to_find("edges", edges, "a list of ascending numbers")
    return find, edges_shape(from_zero=from_zero)


def _to_find(name: str, given: object, numbers: str) -> tuple[Find | None, bool]:
    """Return what is to be found, if it is, and whether from 0 on."""
    if isinstance(given, Find):
        return given, False
    if isinstance(given, tuple | list) and len(given) == 2 and isinstance(given[1], Find):
        if given[0] != 0:
            raise InvalidArgument(name, given, f"(0, Find()), Find() for both sides, or {numbers}")
        return given[1], True
    return None, False

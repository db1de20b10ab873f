"""What stands in a question for a bound that is to be found, and of what the bound is then a multiple."""

from __future__ import annotations

from chronodp.errors import InvalidArgument
from chronodp.series.finding import edges_shape
from chronodp.series.found import Find

__all__ = ["CLIP_FOUND", "EDGES_FOUND", "ROWS_FOUND", "check_given", "clip_to_find", "edges_to_find"]

ROWS_FOUND = "a private step finds it for count(at_most=Find()) alone"
EDGES_FOUND = "a private step finds them for histograms; use their release.quantile(...), or release.found.edges"
CLIP_FOUND = "a private step finds a clip for sums and means; find it with sum(...), and use release.found"


def check_given(name: str, given: object, allowed: str, found: str) -> None:
    """Refuse a bound that is to be found where no private step finds it."""
    if any(isinstance(one, Find) for one in (given if isinstance(given, tuple | list) else (given,))):
        raise InvalidArgument(name, "Find()", f"{allowed}: {found}")


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

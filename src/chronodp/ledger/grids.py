"""The public grids of what was released, read from its stored text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chronodp.errors import ChronodpError
from chronodp.privacy import Calendar, load
from chronodp.reading import parse_json

__all__ = ["grids_of"]


def grids_of(text: str | None, *, records: bool = False) -> tuple[Calendar, ...]:
    """Return the grid of every table in the text of a release; of blocks, of the periods that they are made of.

    Args:
        text: as it is stored; None or of another kind has no grids.
        records: whether only tables count that were computed from people's records, not from finished totals.
    """
    try:
        return tuple(_grids(parse_json(text), records)) if text else ()
    except ChronodpError:  # a release of another kind, or in a zone that this machine does not know
        return ()


def _grids(part: Any, records: bool) -> Iterator[Calendar]:
    if isinstance(part, list):
        for one in part:
            yield from _grids(one, records)
    if not isinstance(part, dict):
        return
    if part.get("kind") == "table":
        measure = part.get("measure", {})
        grid = measure.get("calendar") or part.get("calendar")
        if grid and not (records and measure.get("kind") == "total"):
            yield load(grid, Calendar)
        return
    for one in part.values():
        yield from _grids(one, records)

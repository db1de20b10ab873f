"""Levels of a tree of places among columns: which there are, one of them alone, and the uppermost that fit."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from chronodp.engines import Grouping
from chronodp.errors import InvalidArgument
from chronodp.series.places import PLACE_COLUMNS
from chronodp.series.readings.axes import Columns
from chronodp.series.readings.weights import Wholes

__all__ = ["PLACE", "level_sizes", "one_level", "top_levels"]

PLACE = PLACE_COLUMNS[-1]


def level_sizes(columns: Columns) -> dict[str, int]:
    """Return how many places each level has, root first; nothing where columns are no places."""
    return dict(Counter(level for level, _ in columns.nodes))


def one_level(columns: Columns, name: object) -> tuple[Columns, Wholes]:
    """Return the places of one level as groups called by it, and which columns these are."""
    sizes = level_sizes(columns)
    if not isinstance(name, str) or name not in sizes:
        raise InvalidArgument("level", name, f"one of {', '.join(sizes) or 'no levels here: no places were released'}")
    chosen = [index for index, (level, _) in enumerate(columns.nodes) if level == name]
    # Beside a grouping of the same name they are called places.
    called = PLACE if name in columns.names else name
    keys = Grouping(called, tuple(columns.nodes[index][1] for index in chosen))
    groupings = tuple(keys if one.column == PLACE else one for one in columns.groupings)
    return replace(columns, groupings=groupings, nodes=()), _chosen(columns, chosen)


def top_levels(columns: Columns, most: int) -> tuple[Columns, Wholes] | None:
    """Return the uppermost levels with ``most`` columns at most, and which these are; None where not one fits."""
    if not columns.nodes:
        return None
    each, count = len(columns) // len(columns.nodes), 0
    for size in level_sizes(columns).values():
        if (count + size) * each > most:
            break
        count += size
    if not count:
        return None
    keys = next(grouping.keys for grouping in columns.groupings if grouping.column == PLACE)
    groupings = tuple(Grouping(PLACE, keys[:count]) if one.column == PLACE else one for one in columns.groupings)
    return replace(columns, groupings=groupings, nodes=columns.nodes[:count]), _chosen(columns, range(count))


def _chosen(columns: Columns, nodes: range | list[int]) -> Wholes:
    every = np.arange(len(columns)).reshape(columns.sizes)
    return every.take(list(nodes), axis=columns.names.index(PLACE)).ravel()

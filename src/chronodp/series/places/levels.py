"""The levels of a table's places, as its plan holds them: names, keys above the leaves, and who is under whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from chronodp.errors import InvalidArgument
from chronodp.postprocess.hierarchy import PlaceTree
from chronodp.privacy import check_positive, document
from chronodp.series.places.split import LevelShape, largest_least

__all__ = ["PLACE_COLUMNS", "PlaceLevels", "weights_of"]

PLACE_COLUMNS = ("level", "place")
"""The columns of a released table that say which place of which level a number is of."""


@document("place_levels")
@dataclass(frozen=True)
class PlaceLevels:
    """A public tree over the keys of one grouping, in the order of these keys: they are the leaves.

    Attributes:
        column: the column of the data, whose grouping has the leaves' keys.
        names: of the levels, root first.
        keys: of the levels above the leaves, root first.
        children: of the same levels, how many children each node has; those of one node stand side by side.
        weights: what the mean squared error of each level counts, root first.
    """

    column: str
    names: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    children: tuple[tuple[int, ...], ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        above = len(self.names) - 1
        if above < 0 or {len(self.keys), len(self.children), len(self.weights) - 1} != {above}:
            raise InvalidArgument("names", self.names, "as many as there are levels of keys and weights")
        for keys, children in zip(self.keys, self.children, strict=True):
            if len(keys) != len(children) or len(set(keys)) != len(keys):
                raise InvalidArgument("keys", f"{len(keys)} of {len(children)} nodes", "one of its own for each node")
        for weight in self.weights:
            check_positive("focus", weight)
        _ = self.tree

    @cached_property
    def tree(self) -> PlaceTree:
        """The shape of the tree."""
        return PlaceTree([np.array(level, dtype=np.int64) for level in self.children])

    def labels(self, leaves: tuple[str, ...]) -> tuple[list[str], list[str]]:
        """Return the level and the key of every node, level by level from the root on."""
        keys = [*self.keys, leaves]
        return (
            [name for name, of in zip(self.names, keys, strict=True) for _ in of],
            [key for of in keys for key in of],
        )

    def __str__(self) -> str:
        counts = (f"{count:,} of {name}" for name, count in zip(self.names, self.tree.counts, strict=True))
        return ", ".join(counts)


def weights_of(levels: PlaceLevels, focus: object, changes: tuple[int, ...]) -> tuple[float, ...]:
    """Return the weights that a focus means: 1 for levels not named; 'nodes' or 'largest' for what these say."""
    names, counts = levels.names, levels.tree.counts
    if focus is None:
        return (1.0,) * len(names)
    if focus == "nodes":
        return tuple(float(count) for count in counts)
    if focus == "largest":
        return largest_least(LevelShape(counts, changes))
    allowed = f"weights above 0 of {', '.join(names)}, such as {{{names[-1]!r}: 2.0}}; or 'nodes' or 'largest'"
    if not isinstance(focus, Mapping) or not focus.keys() <= set(names):
        raise InvalidArgument("focus", focus, allowed)
    return tuple(check_positive("focus", focus.get(name, 1.0)) for name in names)

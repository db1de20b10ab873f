"""What the rows and columns of a reading are: stretches of periods, and groups with their keys."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise, product
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.engines import Grouping
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_whole
from chronodp.series.places import PLACE_COLUMNS
from chronodp.series.readings.weights import Wholes
from chronodp.series.table import Table
from chronodp.series.windows import Windows, coarser, rolling, running

__all__ = ["BINS", "Columns", "RowKind", "Rows", "columns_of"]

RowKind: TypeAlias = Literal[
    "single", "coarser", "running", "rolling", "filtered", "quantile", "ratio", "change", "mixed"
]

BINS = ("bin_low", "bin_high")
_PLACE = PLACE_COLUMNS[-1]


@dataclass(frozen=True, eq=False)
class Rows:
    """The stretch of periods that each row is made of.

    Attributes:
        table: whose periods they are.
        windows: first and last of each row, and the period that dates it.
        kind: how rows are made.
    """

    table: Table
    windows: Windows
    kind: RowKind

    @property
    def abut(self) -> bool:
        """Whether rows follow each other and share no period."""
        return self.kind in ("single", "coarser")

    @property
    def dates(self) -> NDArray[np.int64]:
        """When each row is dated: in microseconds since 1970, UTC, or the number of its period."""
        calendar = self.table.calendar
        return self.windows.labels if calendar is None else calendar.edges[self.windows.labels]

    def resampled(self, every: str) -> tuple[Rows, Wholes, Wholes]:
        """Return longer rows, and from which row to which each goes, the last one left out."""
        calendar = self.table.calendar
        if calendar is None:
            raise InvalidArgument("every", every, "used only where periods have dates; rolling(n) needs none")
        if not self.abut:
            raise InvalidArgument("every", every, "asked first: resample, then rolling means or running totals")
        outer = coarser(calendar, every)
        starts = np.searchsorted(self.windows.starts, outer.starts)
        stops = np.searchsorted(self.windows.stops, outer.stops) + 1
        whole = stops <= len(self.windows.stops)  # a last one that rows do not fill is left out
        starts, stops = starts[whole], stops[whole]
        fits = np.array_equal(self.windows.starts[starts], outer.starts[whole]) and np.array_equal(
            self.windows.stops[stops - 1], outer.stops[whole]
        )
        if not fits or not len(starts):
            raise InvalidArgument("every", every, "a period that the rows here fill without rest")
        windows = Windows(outer.starts[whole], outer.stops[whole], outer.labels[whole])
        return Rows(self.table, windows, "coarser"), starts, stops

    def rolled(self, n: int) -> tuple[Rows, Wholes, Wholes]:
        """Return each row with the ones before it, ``n`` in all."""
        check_whole("n", n, most=len(self.windows.starts))
        return self._gathered(rolling(len(self.windows.starts), n), "rolling")

    def totalled(self) -> tuple[Rows, Wholes, Wholes]:
        """Return all rows up to each one."""
        if not self.abut:
            allowed = "of rows that share no period: running_total() first, then rolling means or ratios"
            raise InvalidArgument("view", self.kind, allowed)
        return self._gathered(running(len(self.windows.starts)), "running")

    def _gathered(self, over: Windows, kind: RowKind) -> tuple[Rows, Wholes, Wholes]:
        own = self.windows
        windows = Windows(own.starts[over.starts], own.stops[over.stops - 1], own.labels[over.stops - 1])
        return Rows(self.table, windows, kind), over.starts, over.stops


@dataclass(frozen=True)
class Columns:
    """The groups that columns stand for, and the bins within them.

    Attributes:
        groupings: columns of the table that split it, with their keys.
        edges: of bins; empty if there are none.
        nodes: of a tree of places, the level and the key of every node, root first: the keys of the grouping called
            'place'; empty if there are none.
    """

    groupings: tuple[Grouping, ...]
    edges: tuple[float, ...] = ()
    nodes: tuple[tuple[str, str], ...] = ()

    @property
    def bins(self) -> int:
        """How many columns a group has."""
        return max(1, len(self.edges) - 1)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the table that are left."""
        return tuple(grouping.column for grouping in self.groupings)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many keys each of them has, and how many bins there are."""
        return (*(len(grouping.keys) for grouping in self.groupings), self.bins)

    def __len__(self) -> int:
        return math.prod(self.sizes)

    def labels(self) -> dict[str, list[Any]]:
        """Return the label of every column, by name."""
        names: list[str] = []
        choices: list[Sequence[tuple[str, ...]]] = []
        for grouping in self.groupings:
            of_places = grouping.column == _PLACE and self.nodes
            names += PLACE_COLUMNS if of_places else (grouping.column,)
            choices.append(self.nodes if of_places else [(key,) for key in grouping.keys])
        rows: list[tuple[Any, ...]] = [tuple(chain.from_iterable(parts)) for parts in product(*choices)]
        if self.edges:
            rows = [(*row, low, high) for row in rows for low, high in pairwise(self.edges)]
            names += BINS
        return {name: [row[index] for row in rows] for index, name in enumerate(names)}

    def summed(self, names: tuple[str, ...], *, bins: bool = False) -> tuple[Columns, Wholes]:
        """Return the columns with groupings (none named: all) added up, and which belong together."""
        chosen = set(map(self._named, names) if names else self.names)
        self._check_names(tuple(chosen))
        axes = [axis for axis, name in enumerate(self.names) if name in chosen]
        if bins:
            axes.append(len(self.groupings))
        kept = [axis for axis in range(len(self.sizes)) if axis not in axes]
        every = np.arange(len(self)).reshape(self.sizes)
        if self.nodes and _PLACE in chosen:  # all places together are the root, which is the sum of the leaves
            every = every.take([0], axis=self.names.index(_PLACE))
        groups = every.transpose(*kept, *axes).reshape(math.prod(self.sizes[axis] for axis in kept), -1)
        left = tuple(grouping for grouping in self.groupings if grouping.column not in chosen)
        return Columns(left, () if bins else self.edges, () if _PLACE in chosen else self.nodes), groups

    def chosen(self, keys: dict[str, object]) -> tuple[Columns, Wholes]:
        """Return the columns with these keys; a place may be named by its level, state='Ohio'."""
        keys = self._of_nodes(keys)
        self._check_names(tuple(keys))
        if not keys:
            raise InvalidArgument("key", None, f"one or more of {', '.join(self.names) or 'no groupings here'}")
        index: list[int | slice] = []
        for grouping in self.groupings:
            if grouping.column not in keys:
                index.append(slice(None))
                continue
            text = keys[grouping.column]
            written = str(text) if isinstance(text, str | int) and not isinstance(text, bool) else None
            if written not in grouping.keys:
                some = ", ".join(grouping.keys[:5]) + (", …" if len(grouping.keys) > 5 else "")
                raise InvalidArgument(grouping.column, text, f"one of its keys: {some or 'none was found'}")
            index.append(grouping.keys.index(written))
        left = tuple(grouping for grouping in self.groupings if grouping.column not in keys)
        every = np.arange(len(self)).reshape(self.sizes)[(*index, slice(None))]
        nodes = () if _PLACE in keys else self.nodes
        return replace(self, groupings=left, nodes=nodes), every.ravel()

    def spread(self, wide: Columns, name: str) -> Wholes:
        """Return for every column of a wider reading the one here that goes with it."""
        unknown = [column for column in self.names if column not in wide.names]
        if unknown:
            allowed = f"of the same groups or fewer: {unknown[0]} is summed out by over({unknown[0]!r})"
            raise InvalidArgument(name, f"by {', '.join(self.names)}", allowed)
        if self.edges not in ((), wide.edges):
            raise InvalidArgument(name, "other bins", "a histogram with the same edges, or no histogram")
        places = []
        for grouping in self.groupings:
            there = next(one for one in wide.groupings if one.column == grouping.column)
            known = {key: index for index, key in enumerate(grouping.keys)}
            missing = [key for key in there.keys if key not in known]
            if missing:
                allowed = f"of all keys of {grouping.column}: it lacks {missing[0]!r}"
                raise InvalidArgument(name, f"{len(known)} keys", allowed)
            places.append([known[key] for key in there.keys])
        sizes = [len(grouping.keys) for grouping in wide.groupings]
        axes = np.indices((*sizes, wide.bins))
        found = np.zeros((*sizes, wide.bins), np.int64)
        for grouping, lookup in zip(self.groupings, places, strict=True):
            axis = wide.names.index(grouping.column)
            found = found * len(grouping.keys) + np.array(lookup, np.int64)[axes[axis]]
        if self.edges:
            found = found * self.bins + axes[-1]
        return found.ravel()

    def _named(self, name: str) -> str:
        """Return the grouping that a name means: that of places also by the name of a level."""
        return _PLACE if any(level == name for level, _ in self.nodes) and name not in self.names else name

    def _of_nodes(self, keys: dict[str, object]) -> dict[str, object]:
        """Return keys with a place that is named by its level as the key of its node."""
        found = dict(keys)
        for name, key in keys.items():
            if self._named(name) == name:
                continue
            if _PLACE in found:
                raise InvalidArgument(name, key, "one place: it lies in those above it")
            places = next(grouping.keys for grouping in self.groupings if grouping.column == _PLACE)
            node = (name, str(found.pop(name)))
            if node not in self.nodes:
                raise InvalidArgument(name, key, f"one of the keys of level {name}")
            found[_PLACE] = places[self.nodes.index(node)]
        return found

    def _check_names(self, names: tuple[str, ...]) -> None:
        for name in names:
            if name not in self.names:
                raise InvalidArgument("grouping", name, f"one of {', '.join(self.names) or 'no groupings here'}")


def columns_of(table: Table) -> Columns:
    """Return the columns of a table as it is released; of a tree of places, those of all its nodes."""
    edges = tuple(table.measure.bin_edges)
    if table.levels is None:
        return Columns(table.groupings, edges)
    leaves = next(grouping.keys for grouping in table.groupings if grouping.column == table.levels.column)
    nodes = tuple(zip(*table.levels.labels(leaves), strict=True))
    often = Counter(key for _, key in nodes)
    # A key that several levels have is told apart by its level.
    keys = tuple(key if often[key] == 1 else f"{level} {key}" for level, key in nodes)
    split = tuple(Grouping(_PLACE, keys) if one.column == table.levels.column else one for one in table.groupings)
    return Columns(split, edges, nodes)

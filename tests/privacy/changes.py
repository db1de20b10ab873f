"""Every change that a person or a row can make to the cells of a small table."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from chronodp.privacy import Bounds, Relation, Unit, User, Window

__all__ = ["RELATIONS", "Cells", "changes", "row_changes"]

RELATIONS: tuple[Relation, ...] = ("add_remove", "replace")
Cells = NDArray[np.float64]  # one number a (period, group), NaN where the person is absent


def changes(unit: Unit, bounds: Bounds, low: float, high: float) -> Iterator[Cells]:
    """Every change of the released numbers that one unit can make."""
    everything = list(_holdings(bounds.horizon, bounds.groups, bounds, low, high, unit))
    if isinstance(unit, User):
        stretches = [range(bounds.horizon)]
    else:
        length = unit.periods if isinstance(unit, Window) else bounds.max_periods or 0
        step = 1 if isinstance(unit, Window) else length
        stretches = [range(start, start + length) for start in range(0, bounds.horizon - length + 1, step)]
    for stretch in stretches:
        outside = [period for period in range(bounds.horizon) if period not in stretch]
        inside = [np.nan_to_num(cells) for cells in everything if np.isnan(cells[outside]).all()]
        others = inside if unit.relation == "replace" else [np.zeros((bounds.horizon, bounds.groups))]
        for one in inside:
            for other in others:
                yield one - other


def row_changes(bounds: Bounds, relation: Relation, clip: tuple[float, float]) -> Iterator[Cells]:
    """Every change that one row can make to clipped totals, for cells of at most two rows."""
    values = (-20.0, -10.0, 10.0, 20.0)
    contents = [(), *((value,) for value in values), *product(values, repeat=2)]
    number = bounds.horizon * bounds.groups

    def totals(cells: tuple[tuple[float, ...], ...]) -> Cells:
        numbers = [min(max(sum(rows), clip[0]), clip[1]) if rows else 0.0 for rows in cells]
        return np.array(numbers).reshape(bounds.horizon, bounds.groups)

    for cells in product(contents, repeat=number):
        before = totals(cells)
        for place in range(number):
            if not cells[place]:
                continue
            removed = (*cells[:place], cells[place][1:], *cells[place + 1 :])
            if relation == "add_remove":
                yield before - totals(removed)
                continue
            for target, value in product(range(number), values):
                moved = (*removed[:target], (*removed[target], value), *removed[target + 1 :])
                yield before - totals(moved)


def _holdings(periods: int, groups: int, bounds: Bounds, low: float, high: float, unit: Unit) -> Iterator[Cells]:
    """Every way in which one person can fill the cells within the bounds, at the ends of the clip."""
    for values in product((math.nan, low, high), repeat=periods * groups):
        cells = np.array(values).reshape(periods, groups)
        present = ~np.isnan(cells)
        if present.sum(axis=1).max() > bounds.max_groups:
            continue
        if isinstance(unit, User) and present.any(axis=1).sum() > (bounds.max_periods or 0):
            continue
        yield cells

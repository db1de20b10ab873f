"""What one unit changes on each level: never more than is priced, over every choice; and the price at m is too low."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from chronodp.postprocess.hierarchy import PlaceTree
from chronodp.privacy import Contribution
from chronodp.series.places import level_changes, level_sensitivity
from chronodp.series.shapes.reach import FilterReach

REGULAR = [[[2], [2, 2]], [[3], [2, 2, 2]], [[2], [3, 3]], [[4]], [[2], [1, 1], [3, 3]]]
IRREGULAR = [[[3], [1, 4, 2]], [[2], [5, 1]], [[2], [2, 1], [1, 3, 1]]]


def regular(fanouts: list[int]) -> PlaceTree:
    children: list[list[int]] = []
    nodes = 1
    for fanout in fanouts:
        children.append([fanout] * nodes)
        nodes *= fanout
    return PlaceTree(children)


def squares(tree: PlaceTree, cells: NDArray[np.int64]) -> list[int]:
    """Of each level, the squares of how many of these cells each node holds; copies of the tree are rows."""
    return [int((level**2).sum()) for level in tree.sums(cells)]


def test_the_change_of_a_level_is_the_worst_of_all_choices(subtests: pytest.Subtests) -> None:
    for children, copies in itertools.product((REGULAR + IRREGULAR), [1, 2]):
        with subtests.test(children=children, copies=copies):
            tree = PlaceTree(children)
            places = tree.leaves * copies
            for most in range(1, min(places, 5) + 1):
                worst = [0] * tree.levels
                together = 0
                for held in itertools.combinations(range(places), most):
                    cells = np.zeros(places, np.int64)
                    cells[list(held)] = 1
                    found = squares(tree, cells.reshape(copies, tree.leaves))
                    worst = [max(pair) for pair in zip(worst, found, strict=True)]
                    together = max(together, sum(found))
                assert level_changes(tree, most, copies=copies) == tuple(worst)
                assert together <= sum(worst)
                if children in REGULAR:  # one choice attains all levels at once
                    assert together == sum(worst)


def test_levels_priced_at_the_number_of_leaves_are_too_cheap() -> None:
    """The mutant "each level changes by m": 4 claimed, 12 true, for equal precisions of a third."""
    tree = regular([6, 10])
    cells = np.zeros((1, 60), np.int64)
    cells[0, :4] = 1
    attained = sum(Fraction(change, 3) for change in squares(tree, cells))
    priced_at_m = sum(Fraction(4, 3) for _ in range(tree.levels))
    priced = sum(Fraction(change, 3) for change in level_changes(tree, 4))
    assert (priced_at_m, attained, priced) == (4, 12, 12)


def test_more_cells_than_there_are_change_no_more() -> None:
    tree = regular([2, 2])
    assert level_changes(tree, 100) == level_changes(tree, 4) == (16, 8, 4)


COLUMNS = {"white": [1.0, 0.0, 0.0], "square root": [1.0, 0.5, 0.375], "of both signs": [1.0, -0.8, 0.3]}


def tables(ends: tuple[float, ...], periods: int, cells: int, *, moves: bool) -> list[NDArray[np.float64]]:
    """Everything that one person may hold in 3 periods × 3 leaves: so many periods, so many cells in each."""
    row = [
        np.array(values)
        for values in itertools.product((0.0, *ends), repeat=3)
        if sum(value != 0 for value in values) <= cells
    ]
    stretches = itertools.combinations(range(3), periods) if moves else [tuple(range(periods))]
    found = []
    for where in stretches:
        for rows in itertools.product(row, repeat=periods):
            table = np.zeros((3, 3))
            table[list(where)] = rows
            found.append(table)
    return found


def test_no_two_neighbours_differ_by_more_than_the_stated_length(subtests: pytest.Subtests) -> None:
    for column, (low, high), (periods, cells, moves), children in itertools.product(
        COLUMNS.values(),
        [(0.0, 1.0), (-1.0, 1.0), (-0.5, 1.0)],
        [(1, 2, True), (2, 1, True), (2, 1, False), (1, 3, False)],
        [[[2], [2, 1]], [[3]]],
    ):
        with subtests.test(
            column=column, low=low, high=high, periods=periods, cells=cells, moves=moves, children=children
        ):
            tree, reach = PlaceTree(children), FilterReach(np.array(column))
            matrix = np.array([[column[s - t] if s >= t else 0.0 for t in range(3)] for s in range(3)])
            part = Contribution.total(clip=(low, high))
            held = np.array(tables(tuple({low, high} - {0.0}), periods, cells, moves=moves))
            for level, change in enumerate(level_changes(tree, cells)):
                seen = np.array([(matrix @ tree.sums(one)[level]).ravel() for one in held])
                lengths = (seen**2).sum(axis=1)
                apart = np.sqrt((lengths[:, None] + lengths[None] - 2 * seen @ seen.T).max())
                stated = {
                    replaced: level_sensitivity(
                        reach,
                        change,
                        periods=periods,
                        contribution=part,
                        opposite=part.exchange - part.presence,
                        of_rows=False,
                        together=not moves,
                        replace=replaced,
                    )
                    for replaced in (False, True)
                }
                alone = math.sqrt(lengths.max())
                assert alone <= stated[False] * (1 + 1e-12)
                assert apart <= stated[True] * (1 + 1e-12)
                if reach.falling or periods == 1:
                    assert alone == pytest.approx(stated[False])  # attained
                if low == -high and reach.falling:
                    assert apart == pytest.approx(stated[True])

"""What one unit changes on each level, over every choice, and the best split of a budget over levels, as published."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from tests.conftest import GOLDEN

from chronodp.errors import InvalidArgument
from chronodp.postprocess.hierarchy import PlaceTree, TreeCovariance
from chronodp.privacy import Contribution
from chronodp.series.places import LevelShape, level_changes, level_sensitivity, split_levels
from chronodp.series.places.split import best_precisions, largest_least
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
    assert level_changes(regular([2, 2]), 100) == level_changes(regular([2, 2]), 4) == (16, 8, 4)  # no more than all
    assert (priced_at_m, attained, priced) == (4, 12, 12)


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
        with subtests.test(column=column, clip=(low, high), held=(periods, cells, moves), children=children):
            tree, reach = PlaceTree(children), FilterReach(np.array(column))
            matrix = np.array([[column[s - t] if s >= t else 0.0 for t in range(3)] for s in range(3)])
            part = Contribution.total(clip=(low, high))
            terms: Any = {"periods": periods, "contribution": part, "of_rows": False}
            terms["opposite"] = part.exchange - part.presence
            held = np.array(tables(tuple({low, high} - {0.0}), periods, cells, moves=moves))
            for level, change in enumerate(level_changes(tree, cells)):
                seen = np.array([(matrix @ tree.sums(one)[level]).ravel() for one in held])
                lengths = (seen**2).sum(axis=1)
                apart = np.sqrt((lengths[:, None] + lengths[None] - 2 * seen @ seen.T).max())
                stated = {
                    replaced: level_sensitivity(reach, change, **terms, together=not moves, replace=replaced)
                    for replaced in (False, True)
                }
                alone = math.sqrt(lengths.max())
                assert alone <= stated[False] * (1 + 1e-12)
                assert apart <= stated[True] * (1 + 1e-12)
                if reach.falling or periods == 1:
                    assert alone == pytest.approx(stated[False])  # attained
                if low == -high and reach.falling:
                    assert apart == pytest.approx(stated[True])


SPLITS = json.loads((GOLDEN / "published/tree_split.json").read_text())
CHECKS = json.loads((GOLDEN / "published/tree_checks.json").read_text())
ROWS: list[dict[str, Any]] = SPLITS["table"]


def shape_of(tree: PlaceTree, cells: int = 1) -> LevelShape:
    return LevelShape(tree.counts, level_changes(tree, cells))


def named(name: str) -> PlaceTree:
    return regular([int(part) for part in name.split("x")])


def weights_for(row: dict[str, Any], shape: LevelShape) -> tuple[float, ...] | None:
    if "every node" in row["split"]:
        return tuple(float(count) for count in shape.counts)
    if "every level" in row["split"]:
        return (1.0,) * len(shape.counts)
    return largest_least(shape) if "largest" in row["split"] else None


def test_published_splits(subtests: pytest.Subtests) -> None:
    for row in ROWS:
        with subtests.test(row=row):
            tree = named(row["tree"])
            shape = shape_of(tree)
            weights = weights_for(row, shape)
            precisions = np.array(row["precisions"], dtype=float)
            if weights is not None:
                found = best_precisions(shape, weights)
                assert found == pytest.approx(precisions, abs=1e-5)
                shares = split_levels(shape, weights, "gaussian")
                assert sum(shares) == 1
                assert [float(share) for share in shares] == pytest.approx(precisions, abs=1e-5)
                precisions = found
            with np.errstate(divide="ignore"):
                variances = shape.variances(precisions) if row["consistent"] else 1 / precisions
            # Deviations are printed with two digits, precisions with five: what those leave open of the least of them.
            open_digits = 0.0 if weights is not None else 0.5e-5 / min(p for p in row["precisions"] if p) / 2
            assert np.sqrt(variances) * SPLITS["sigma_alone"] == pytest.approx(row["rmse"], rel=open_digits, abs=0.0051)


def test_no_linear_gaussian_mechanism_errs_less(subtests: pytest.Subtests) -> None:
    for row in SPLITS["optimal_vs_any_linear_gaussian"]:
        with subtests.test(row=row):
            tree = regular(row["fanouts"])
            shape = shape_of(tree)
            # Published weights are of one node; here they are of a level's mean.
            weights = [weight * count for weight, count in zip(row["weights"], tree.counts, strict=True)]
            found = best_precisions(shape, weights)
            assert found == pytest.approx(row["p"], abs=1e-5)
            assert shape.error(found, weights) == pytest.approx(row["numerical_search_over_all_strategies"], abs=1e-5)
            dense = TreeCovariance(tree, found.tolist())
            assert [float(of[0]) for of in dense.variances] == pytest.approx(shape.variances(found))


def test_several_leaves_a_person(subtests: pytest.Subtests) -> None:
    for row in CHECKS["optimal_several_leaves"]:
        with subtests.test(row=row):
            shape = shape_of(named(row["tree"]), row["leaves_of_a_person"])
            assert list(shape.changes) == row["change2_by_level"]
            found = best_precisions(shape, (1.0, 1.0, 1.0))
            assert found == pytest.approx(row["precisions"], abs=1e-5)
            assert shape.error(found, (1.0, 1.0, 1.0)) == pytest.approx(row["numerical"], abs=1e-5)
            assert np.sqrt(shape.variances(found)) == pytest.approx(row["sd_by_level_at_mu1"], abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fanouts", "cells"),
    # Leaves under a node that divide m, or all of them: prices of 0 between levels.
    [([6, 10], 10), ([6, 10], 20), ([4, 5, 3], 3), ([4, 5, 3], 15), ([4, 5, 3], 7), ([4, 1, 3], 4), ([3, 2], 6)],
)
def test_levels_are_pooled_where_a_precision_would_be_negative(fanouts: list[int], cells: int) -> None:
    shape = shape_of(regular(fanouts), cells)
    weights = (1.0,) * len(shape.counts)
    found = best_precisions(shape, weights)
    changes = np.array(shape.changes)
    assert (found >= -1e-15).all()
    assert float(found @ changes) == pytest.approx(1)

    def error(logs: NDArray[np.float64]) -> float:
        precisions = np.exp(logs)
        return shape.error(precisions / float(precisions @ changes), weights)

    starts = np.random.default_rng(5).normal(size=(3, len(weights)))
    options: Any = {"maxiter": 6000, "xatol": 1e-9, "fatol": 1e-12}
    least = min(minimize(error, start, method="Nelder-Mead", options=options).fun for start in starts)
    assert shape.error(found, weights) <= least * (1 + 1e-6)


def test_published_laplace_splits(subtests: pytest.Subtests) -> None:
    for row in CHECKS["laplace"]:
        with subtests.test(row=row):
            tree = regular(row["tree"])
            shape = shape_of(tree)
            weights = tuple(float(n) for n in tree.counts) if row["objective"] == "every_node" else (1.0,) * tree.levels
            shares = np.array([float(share) for share in split_levels(shape, weights, "laplace")])
            assert shares == pytest.approx(row["eps_shares"], abs=1e-4)
            assert np.sqrt(shape.variances(shares**2 / 2)) == pytest.approx(row["sd"], abs=2e-3)


@pytest.mark.parametrize("row", CHECKS["us_counties"]["rows"], ids=lambda row: str(row["objective"]))
def test_states_of_unequal_size_cost_few_parts_in_a_hundred(row: dict[str, Any]) -> None:
    sizes = CHECKS["us_counties"]["counties_by_state"]
    tree = PlaceTree([[len(sizes)], sizes])
    weights = [float(n) for n in tree.counts] if row["objective"] == "every_node" else [1.0] * 3
    found = best_precisions(shape_of(tree), weights)
    assert found == pytest.approx(row["closed_form_average_sizes"], abs=1e-5)

    def error(precisions: Any) -> float:
        means = [float(of.mean()) for of in TreeCovariance(tree, precisions).variances]
        return math.fsum(weight * mean for weight, mean in zip(weights, means, strict=True))

    # The published optimum with a precision for every node, by the deviations that it prints.
    best = math.fsum(weight * sd**2 for weight, sd in zip(weights, row["sd_per_node"], strict=True))
    assert error(found.tolist()) <= 1.03 * best
    assert error(found.tolist()) / error(row["level_optimum"]) == pytest.approx(
        row["ratio_closed"] / row["ratio_levels"], abs=1e-4
    )


def test_bad_weights_are_refused() -> None:
    shape = LevelShape((1, 4), (1, 1))
    for weights in ((1.0,), (0.0, 1.0), (-1.0, 1.0)):
        with pytest.raises(InvalidArgument, match="weights"):
            split_levels(shape, weights, "gaussian")

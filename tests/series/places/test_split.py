"""The best split of a budget over levels: the published optima, whatever a person's number of leaves."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from tests.conftest import GOLDEN
from tests.series.places.test_change import regular

from chronodp.errors import InvalidArgument
from chronodp.postprocess.hierarchy import PlaceTree, TreeCovariance
from chronodp.series.places import LevelShape, level_changes, split_levels
from chronodp.series.places.split import best_precisions, largest_least

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

"""Trees of places: the same as generalised least squares written out, and whole numbers whose sums add up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.postprocess.hierarchy import PlaceTree, TreeCovariance, add_up_leaves, add_up_tree, round_leaves

Floats = NDArray[np.float64]


def summing(tree: PlaceTree) -> Floats:
    """The matrix that adds leaves up to every node."""
    return np.vstack([level.T for level in tree.sums(np.eye(tree.leaves))])


def split(tree: PlaceTree, nodes: NDArray[Any]) -> list[NDArray[Any]]:
    return np.split(nodes, np.cumsum(tree.counts)[:-1], axis=1)


@st.composite
def trees(draw: st.DrawFn) -> tuple[PlaceTree, list[Floats], np.random.Generator]:
    """Trees of up to four levels with a precision for every node, some levels not measured."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    children, nodes = [], 1
    for _ in range(draw(st.integers(0, 3))):
        children.append(random.integers(1, 5, size=nodes))
        nodes = int(children[-1].sum())
    tree = PlaceTree(children)
    measured = [random.random() > 0.3 for _ in children] + [True]
    precisions = [random.uniform(0.1, 3, size=n) * kept for n, kept in zip(tree.counts, measured, strict=True)]
    return tree, precisions, random


@given(trees())
def test_covariances_are_those_of_least_squares(
    given_tree: tuple[PlaceTree, list[Floats], np.random.Generator],
) -> None:
    tree, precisions, random = given_tree
    found, matrix = TreeCovariance(tree, precisions), summing(tree)
    dense = matrix @ np.linalg.inv(matrix.T @ (np.concatenate(precisions)[:, None] * matrix)) @ matrix.T
    pairs = [[found.covariance(one, other) for other in range(tree.nodes)] for one in range(tree.nodes)]
    assert np.allclose(pairs, dense, atol=1e-12)
    every = np.arange(tree.nodes)
    both = np.repeat(every, tree.nodes), np.tile(every, tree.nodes)
    assert np.allclose(found.covariances(*both).reshape(dense.shape), dense, atol=1e-12)
    assert np.allclose(found.variance_of_all, np.diag(dense), atol=1e-12)
    one, other = random.normal(size=(2, tree.nodes))
    assert found.between(one, other) == pytest.approx(one @ dense @ other)
    assert np.allclose(found.product(one), dense @ one)
    node = int(random.integers(tree.nodes))
    assert found.variance(node) == pytest.approx(dense[node, node])


@given(trees())
def test_estimates_are_those_of_least_squares(given_tree: tuple[PlaceTree, list[Floats], np.random.Generator]) -> None:
    tree, precisions, random = given_tree
    covariance, matrix = TreeCovariance(tree, precisions), summing(tree)
    weights = np.concatenate(precisions)
    noisy = random.normal(scale=100, size=(3, tree.nodes))
    solved = np.linalg.solve(matrix.T @ (weights[:, None] * matrix), matrix.T @ (weights * noisy).T)
    found = np.concatenate(add_up_tree(covariance, split(tree, noisy)), axis=1)
    assert np.allclose(found, (matrix @ solved).T, atol=1e-9)


@given(trees())
def test_whole_numbers_add_up_and_are_less_than_a_step_away(
    given_tree: tuple[PlaceTree, list[Floats], np.random.Generator],
) -> None:
    tree, precisions, random = given_tree
    covariance = TreeCovariance(tree, precisions)
    leaves = random.integers(-(2**59), 2**59, size=tree.leaves)  # beyond what floats tell apart
    noise = random.integers(-(2**26), 2**26, size=(4, tree.nodes))
    noisy = [level + exact for level, exact in zip(split(tree, noise), tree.sums(leaves[None]), strict=True)]
    found = add_up_leaves(covariance, noisy)
    best = add_up_tree(covariance, [level.astype(np.float64) for level in split(tree, noise)])
    for whole, exact, estimate in zip(tree.sums(found), tree.sums(leaves[None]), best, strict=True):
        # 2^-15: floats of 2^34 and sums of a few of them.
        assert np.abs((whole - exact) - estimate).max() < 1 + 2.0**-15


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40))
def test_every_run_of_neighbours_is_rounded_by_less_than_one(values: Sequence[float]) -> None:
    # In fractions that 2^-32 holds, so that nothing but the claim itself is tested.
    exact = np.rint(np.array(values) * 2.0**20)
    rounded = round_leaves((exact / 2.0**20)[None])[0]
    ends, wholes = np.concatenate(([0.0], np.cumsum(exact))), np.concatenate(([0], np.cumsum(rounded)))
    for begin in range(len(values)):
        off = wholes[begin + 1 :] - wholes[begin] - (ends[begin + 1 :] - ends[begin]) / 2.0**20
        assert np.abs(off).max() < 1


def test_a_level_nobody_measured_says_nothing() -> None:
    tree = PlaceTree([[2], [2, 2]])
    covariance = TreeCovariance(tree, [0.0, 1.0, 1.0])
    noisy = [None, np.array([[9, 1]]), np.array([[2, 3, 4, 5]])]
    strange = [np.array([[1000]]), *noisy[1:]]
    assert np.array_equal(add_up_leaves(covariance, noisy), add_up_leaves(covariance, strange))


def test_what_is_no_tree_is_refused(subtests: pytest.Subtests) -> None:
    wrong: list[tuple[Any, str]] = [
        ([[2], [1]], "1 nodes under 2"),
        ([[0]], "children"),
        ([[1.5]], "children"),
        ([[]], "children"),
    ]
    for children, said in wrong:
        with subtests.test(children=children, said=said), pytest.raises(InvalidArgument, match=said):
            PlaceTree(children)
    tree = PlaceTree([[2]])
    for precisions in ([1.0], [1.0, 0.0], [-1.0, 1.0], [np.inf, 1.0]):
        with pytest.raises(InvalidArgument, match="precisions"):
            TreeCovariance(tree, precisions)
    covariance = TreeCovariance(tree, [1.0, 1.0])
    with pytest.raises(InvalidArgument, match="weights"):
        covariance.between([1.0], [1.0])
    with pytest.raises(InvalidArgument, match="node"):
        covariance.variance(3)
    for add_up in (add_up_leaves, add_up_tree):
        with pytest.raises(InvalidArgument, match="noisy"):
            add_up(covariance, [np.zeros((1, 1), np.int64), None])

"""Noise shaped along values: sensitivity by brute force, variances by dense matrices, intervals by counting."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.linalg import toeplitz

from chronodp.postprocess import Floats
from chronodp.privacy import User
from chronodp.randomness import seeded
from chronodp.series.measures import quantiles_of
from chronodp.series.noise import Noise
from chronodp.series.quantile_reading import read_quantiles
from chronodp.series.quantiles.block_sums import BlockSums
from chronodp.series.quantiles.histograms import Along, ByHistogram
from chronodp.series.quantiles.moves import moves_of
from chronodp.series.shapes.toeplitz import SquareRoot, White
from chronodp.series.table import Table
from chronodp.series.workloads import RunningTotal

ROOT = SquareRoot(RunningTotal())


def matrix(bins: int) -> Floats:
    return np.asarray(toeplitz(ROOT.coefficients(bins), np.zeros(bins)))


def test_no_unit_moves_shaped_counts_farther(subtests: pytest.Subtests) -> None:
    every_relation: list[Any] = ["add_remove", "replace"]
    every_of: list[tuple[str, int]] = [("people", 1), ("people", 2), ("people", 3), ("rows", 1), ("rows", 2)]
    for relation, (of, at_most) in itertools.product(every_relation, every_of):
        with subtests.test(relation=relation, of=of, at_most=at_most):
            bins, shape = 4, matrix(4)
            measure = quantiles_of("v", (0.5,), tuple(map(float, range(bins + 1))), of=of, at_most=at_most)
            moves = moves_of(Table(measure, User(relation=relation), 1, max_periods=1))
            most = 1 if of == "people" else at_most
            held = [one for one in itertools.product(range(most + 1), repeat=bins) if sum(one) <= at_most]
            before = held if relation == "replace" else [(0,) * bins]
            far = max(float(np.linalg.norm(shape @ (np.array(one) - two))) for one in held for two in before)
            bound = moves.through(ROOT, bins)
            assert far <= bound
            if relation == "add_remove":
                assert far == pytest.approx(bound, rel=1e-9)
            else:
                assert bound <= math.sqrt(2) * moves_of(Table(measure, User(), 1, max_periods=1)).through(
                    ROOT, bins
                ) * (1 + 1e-9)


@pytest.mark.parametrize(("branches", "bins"), [(3, 9), (3, 7), (4, 30), (2, 5), (5, 5)])
def test_block_sums_are_least_squares(branches: int, bins: int) -> None:
    shape = BlockSums(branches)
    height = shape.levels(bins)
    whole = branches**height
    blocks = [np.kron(np.eye(branches**level), np.ones(branches ** (height - level))) for level in range(1, height + 1)]
    design = np.vstack(blocks)
    inverse = np.linalg.inv(design.T @ design)
    for q in (0.1, 0.5, 0.9):
        for edge, found in enumerate(shape.variances(q, bins).tolist(), 1):
            reading = np.concatenate((np.full(bins, -q), np.zeros(whole - bins)))
            reading[:edge] += 1
            assert found == pytest.approx(float(reading @ inverse @ reading), abs=1e-9)
    noisy = np.random.default_rng(1).normal(size=(2, len(design)))
    parts = np.split(noisy, np.cumsum([len(block) for block in blocks])[:-1], axis=1)
    fit = np.linalg.lstsq(design, noisy.T, rcond=None)[0].T[:, :bins]
    assert np.allclose(shape.reconcile(parts, bins), fit)
    counts = np.arange(2 * bins).reshape(2, bins)
    assert [part.sum() for part in shape.sums(counts)] == [counts.sum()] * height


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_the_square_root_has_the_stated_variances(q: float) -> None:
    shape = matrix(12)
    exact = [float(((row - q * shape[-1]) ** 2).sum()) for row in shape]
    way = ByHistogram(ROOT, Noise("gaussian", 1.0, 1.0, 2.0**-20))
    assert np.allclose(way.variances(q, 12), exact)


SHAPES: list[tuple[Along, Any]] = [
    (White(), "laplace"), (White(), "gaussian"), (ROOT, "gaussian"), (BlockSums(4), "laplace"),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "law"), SHAPES, ids=str)
@pytest.mark.parametrize("q", [0.5, 5 / 12])  # at an edge, where it is hardest
@pytest.mark.slow
def test_intervals_cover(shape: Along, law: Any, q: float, trials: Any) -> None:
    replicas, level, bins = trials(20_000, least=2_000), 0.95, 16
    way = ByHistogram(shape, Noise(law, 4.0, 4.0, 2.0**-10))
    # Half of all people in the last bin: a value on the last edge belongs there, or all are too few.
    truth = np.array([5, 0, 0, 10, 5, 0, 0, 30, 0, 10, 0, 0, 0, 0, 0, 60])
    below = np.cumsum(truth) - q * truth.sum()
    place = int(np.argmax(below >= 0))
    exact = np.tile(truth * 2**10, (replicas, 1))
    edges = np.arange(bins + 1.0)

    def missed(noisy: Floats) -> float:
        found = read_quantiles(
            noisy[:, None, :] / 2**10, edges, (q,), [np.tile(way.half_widths(q, bins, 1, level), (replicas, 1))]
        )
        return float(((found.lower > edges[place]) | (found.upper < edges[place + 1])).mean())

    noisy = way.draw(exact, seeded(f"{shape} {law} {q}"))
    slack = 6.2 * math.sqrt(level * (1 - level) / replicas)
    assert missed(noisy.astype(np.float64)) <= 1 - level + slack
    wild = exact + 4 * (noisy - exact)  # noise four times as wide as it is said to be
    assert missed(wild.astype(np.float64)) > 1 - level + slack


def test_noise_is_drawn_with_the_stated_variance() -> None:
    bins, replicas, q = 16, 4_000, 0.5
    for shape, law in SHAPES:
        way = ByHistogram(shape, Noise(law, 4.0, 4.0, 2.0**-10))
        noise = way.draw(np.zeros((replicas, bins), np.int64), seeded(str(shape))) / 2**10
        running = np.cumsum(noise, axis=1)
        apart = running - q * running[:, -1:]
        stated = way.variances(q, bins) * way.noise.deviation**2
        # Four thousand squares, of kurtosis at most 6: within a third by more than 8 deviations.
        assert np.allclose(apart.var(axis=0)[:-1], stated[:-1], rtol=0.33)


def test_quantiles_of_one_histogram_never_cross() -> None:
    rng = np.random.default_rng(3)
    counts = 20 + 60 * rng.normal(size=(200, 1, 40))
    fractions = tuple(round(0.05 * one, 2) for one in range(1, 20))
    half = [np.ones((200, 39)) for _ in fractions]
    kept = counts[..., :].sum(axis=-1) > 0
    found = read_quantiles(counts, np.arange(41.0), fractions, half)
    assert np.all(np.diff(found.value[kept], axis=-1) >= 0)
    assert np.all((found.lower <= found.value) & (found.value <= found.upper))


def test_the_value_is_not_drawn_down_the_axis() -> None:
    rng = np.random.default_rng(4)
    truth, q, replicas = np.full(50, 20.0), 0.5, 20_000
    counts = truth + rng.normal(scale=30.0, size=(replicas, 1, 50))
    found = read_quantiles(counts, np.arange(51.0), (q,), [np.zeros((replicas, 49))])
    running = np.cumsum(counts[:, 0], axis=1) - q * counts[:, 0].sum(axis=1, keepdims=True)
    first = np.argmax(np.maximum.accumulate(running, axis=1) >= 0, axis=1)
    spread = float(found.value.std()) / math.sqrt(replicas)
    assert abs(float(found.value.mean()) - 25.0) < 6 * spread
    assert float(first.mean()) + 0.5 < 25.0 - 10 * spread  # what a running maximum makes of it


def test_exact_counts_are_read_in_proportion() -> None:
    counts = np.array([[[10.0, 0.0, 0.0, 10.0]]])
    nothing = np.zeros((1, 3))
    found = read_quantiles(counts, np.array([0.0, 1.0, 2.0, 3.0, 4.0]), (0.25, 0.5, 0.75), [nothing] * 3)
    assert found.value[0, 0].tolist() == pytest.approx([0.5, 2.0, 3.5])

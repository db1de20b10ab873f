"""Errors of workloads: against written-out matrices, published tables, a lower bound and simulated noise."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from tests.conftest import SCALE, Trials
from tests.series.shapes.matrices import lower, matrix_of, tree_matrices, workload_matrix

from chronodp.errors import InvalidArgument
from chronodp.postprocess.tails import Law
from chronodp.randomness import Entropy, seeded
from chronodp.series.noise import Noise
from chronodp.series.ongoing import OngoingShape
from chronodp.series.shapes import BufferedLinear, CausalShape, Differenced, FilterReach, Shape, Tree, buffers_near
from chronodp.series.shapes.errors import answer_variances, errors_of, filter_variances, lower_bound, window_variances
from chronodp.series.shapes.toeplitz import Banded, SquareRoot, White
from chronodp.series.shaping import ReleasedShape, draw_noise
from chronodp.series.workloads import CausalFilter, EachPeriod, Ewm, Filter, Hierarchy, Rolling, RunningTotal

FALSE_ALARM = 1e-9
BUFFERS = BufferedLinear((0.99, 0.9, 0.4), (0.05, 0.2, 0.3))
CAUSAL: tuple[CausalShape, ...] = (
    White(), SquareRoot(RunningTotal()), SquareRoot(Rolling(4)), SquareRoot(Filter((0.5, 0.3, 0.2))), BUFFERS,
    Banded.of(RunningTotal(), 3),
)  # fmt: skip
FILTERS: tuple[CausalFilter, ...] = (
    EachPeriod(), RunningTotal(), Rolling(4), Rolling(50), Ewm(0.3), Filter((0.5, 0.3, 0.2)), Filter((0.0, 1.0)),
)  # fmt: skip
TABLE = ["1024", "16384", "131072", "1048576"]


def running_noise(shape: Shape, horizon: int) -> NDArray[np.float64]:
    """The matrix from released noise to the running totals that a shape gives."""
    if isinstance(shape, Tree):
        return tree_matrices(shape, horizon)[1]
    return np.cumsum(shape.undo(np.eye(horizon)), axis=0)


def test_errors_are_those_of_the_matrices(subtests: pytest.Subtests) -> None:
    for horizon, workload, shape in itertools.product([1, 2, 13, 40], FILTERS, CAUSAL):
        with subtests.test(horizon=horizon, workload=workload, shape=shape):
            noise = workload_matrix(workload, horizon) @ np.linalg.inv(lower(shape.coefficients(horizon)))
            variances = (noise**2).sum(axis=1)
            assert answer_variances(workload, shape, horizon) == pytest.approx(variances, rel=1e-9, abs=1e-15)
            assert filter_variances(workload, shape.inverse(horizon)) == pytest.approx(variances, rel=1e-9, abs=1e-15)
            errors = errors_of(workload, shape, horizon)
            assert errors.rmse_mean == pytest.approx(math.sqrt(variances.mean()), rel=1e-9)
            assert errors.rmse_max == pytest.approx(math.sqrt(variances.max()), rel=1e-9)


def test_totals_windows_and_blocks_are_those_of_the_matrices(subtests: pytest.Subtests) -> None:
    for horizon, shape in itertools.product([1, 2, 5, 13, 40], [*CAUSAL, Tree(3), Tree(7)]):
        with subtests.test(horizon=horizon, shape=shape):
            noise = running_noise(shape, horizon)
            released = tree_matrices(shape, horizon)[0] if isinstance(shape, Tree) else matrix_of(shape, horizon)
            assert noise @ released == pytest.approx(np.tri(horizon), abs=1e-9)
            errors = errors_of(RunningTotal(), shape, horizon)
            assert errors.rmse_mean == pytest.approx(math.sqrt((noise**2).sum() / horizon), rel=1e-9)
            assert errors.rmse_max == pytest.approx(math.sqrt((noise**2).sum(axis=1).max()), rel=1e-9)
            before = np.concatenate((np.zeros((1, noise.shape[1])), noise))
            starts, stops = (part.astype(np.int64) for part in np.triu_indices(horizon + 1, 1))
            wanted = ((before[stops] - before[starts]) ** 2).sum(axis=1)
            assert window_variances(shape, starts, stops, horizon) == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def test_levels_of_a_hierarchy_count_alike(subtests: pytest.Subtests) -> None:
    for horizon, shape in itertools.product([1, 7, 40], CAUSAL):
        with subtests.test(horizon=horizon, shape=shape):
            noise = np.linalg.inv(lower(shape.coefficients(horizon)))
            means, worst = [], 0.0
            for level in (1, 7, 12):
                blocks = np.add.reduceat(noise, np.arange(0, horizon, level), axis=0)
                means.append((blocks**2).sum(axis=1).mean())
                worst = max(worst, (blocks**2).sum(axis=1).max())
            errors = errors_of(Hierarchy((7, 12)), shape, horizon)
            assert errors.rmse_mean == pytest.approx(math.sqrt(np.mean(means)), rel=1e-9)
            assert errors.rmse_max == pytest.approx(math.sqrt(worst), rel=1e-9)


@pytest.mark.parametrize("horizon", TABLE)
def test_the_table_of_running_totals(golden: Any, horizon: str) -> None:
    periods, published = int(horizon), golden("continual/counting_errors.json")[horizon]
    root = SquareRoot(RunningTotal())
    length = FilterReach(root.coefficients(periods)).l2(1, together=True)
    assert length == pytest.approx(published["sqrt_toeplitz"]["sens"], rel=1e-9)
    found: dict[str, tuple[float, Shape]] = {"sqrt_toeplitz": (length, root), "input_noise_accumulated": (1.0, White())}
    for bands in (4, 16, 64):
        banded = Banded.of(RunningTotal(), bands)
        found[f"BSR_p{bands}"] = (float(np.linalg.norm(banded.bands)), banded)
    best = published["kary_sub_gauss_best"]
    found["kary_sub_gauss_best"] = (math.sqrt(best["h"]), Tree(best["k"]))
    for name in ("kary_sub_laplace_eps1_best", "kary_sub_k19_laplace_eps1"):
        arity, levels = published[name].get("k", 19), published[name]["h"]
        assert Tree(arity).levels(periods) == levels
        found[name] = (math.sqrt(2) * levels, Tree(arity))
    for name, (scale, shape) in found.items():
        errors = errors_of(RunningTotal(), shape, periods)
        assert scale * errors.rmse_mean == pytest.approx(published[name]["mean"], rel=1e-9), name
        assert scale * errors.rmse_max == pytest.approx(published[name]["max"], rel=1e-9), name
    assert lower_bound(periods) == pytest.approx(published["lower_bound"]["mean"], rel=1e-12)


def test_nothing_is_below_the_lower_bound() -> None:
    for horizon in (1, 2, 10, 1000, 2**14):
        bound = lower_bound(horizon)
        shapes: list[CausalShape] = [White(), SquareRoot(RunningTotal()), *buffers_near(horizon, 1).values()]
        for shape in shapes:
            length = FilterReach(shape.coefficients(horizon)).l2(1, together=True)
            assert length * errors_of(RunningTotal(), shape, horizon).rmse_mean >= bound * (1 - 1e-12)


def test_the_table_of_many_periods(golden: Any, subtests: pytest.Subtests) -> None:
    for count in [1, 4, 7, 16, 32, 1024]:
        with subtests.test(count=count):
            horizon = 1024
            apart = 1 if count in {7, 1024} else horizon // count
            published = golden("continual/unbounded_multi.json")["multi_participation_n1024"][f"k{count}_b{apart}"]
            shapes: dict[str, CausalShape] = {"sqrt": SquareRoot(RunningTotal()), "input_noise_identity": White()}
            if "banded_sqrt_best_p<=b" in published:
                shapes["banded_sqrt_best_p<=b"] = Banded.of(RunningTotal(), published["banded_sqrt_best_p<=b"]["p"])
            for name, shape in shapes.items():
                column = shape.coefficients(horizon)
                moved = np.zeros(horizon)
                for index in range(count):
                    moved[index * apart :] += column[: horizon - index * apart]
                reach = float(np.linalg.norm(moved))
                if apart == 1:
                    assert FilterReach(column).l2(count, together=False) == pytest.approx(reach, rel=1e-9)
                errors = errors_of(RunningTotal(), shape, horizon)
                assert reach == pytest.approx(published[name]["sens"], rel=1e-9), name
                assert reach * errors.rmse_mean == pytest.approx(published[name]["mean"], rel=1e-9), name
                assert reach * errors.rmse_max == pytest.approx(published[name]["max"], rel=1e-9), name


def test_the_table_of_filters(golden: Any, subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, CausalFilter]] = [
        ("MA7", Rolling(7)), ("MA30", Rolling(30)), ("MA100", Rolling(100)), ("MA365", Rolling(365)),
        ("EMA0.3", Ewm(0.3)), ("EMA0.1", Ewm(0.1)), ("EMA0.02", Ewm(0.02)), ("prefix", RunningTotal()),
    ]  # fmt: skip
    for name, workload in cases:
        with subtests.test(name=name, workload=workload):
            horizon, published = 4096, golden("continual/filters.json")[name]
            shapes: dict[str, CausalShape] = {
                "input": White(),
                "sqrt": SquareRoot(workload),
                "prefix_sqrt_diff": SquareRoot(RunningTotal()),
            }
            for case, count in (("k1_b4096", 1), ("k7_b1", 7), ("k30_b1", 30), ("k4096_b1", 4096)):
                for kind, shape in shapes.items():
                    if kind not in published[case]:
                        continue
                    reach = FilterReach(shape.coefficients(horizon))
                    variance = (reach.l2(count, together=False) * errors_of(workload, shape, horizon).rmse_max) ** 2
                    if reach.falling or count == 1:
                        assert variance == pytest.approx(published[case][kind], rel=1e-8), (case, kind)
                    else:  # the published bound is the majorant's, which ours is never above
                        assert variance <= published[case][kind], (case, kind)
            l1 = float(FilterReach(SquareRoot(workload).coefficients(horizon)).l1(1)[0])
            laplace = 2 * (l1 * errors_of(workload, SquareRoot(workload), horizon).rmse_max) ** 2
            assert laplace == pytest.approx(published["pure_laplace_eps1_event"]["sqrt"], rel=1e-8)


SHIPPED = [(2**14, shape) for row, shape in buffers_near(2**14, 1).items() if (row.horizon, row.buffers) == (2**14, 4)]
FEW: tuple[tuple[int, Shape], ...] = (
    (2**10, SquareRoot(RunningTotal())),
    (2**10, BufferedLinear((0.9972657895924125, 0.96, 0.6), (0.07, 0.14, 0.28))),
    (2**10, Banded.of(RunningTotal(), 64)),
    (2**10, Tree(13)),
)
MANY: tuple[tuple[int, Shape], ...] = ((2**14, SquareRoot(RunningTotal())), *SHIPPED, (2**14, Tree(33)))
# Buffers are carried from one block of steps to the next: four blocks show it as sixteen do.
SIMULATED = (*FEW, *MANY) if SCALE >= 1 else (*FEW, (2**12, SHIPPED[0][1]))


def simulated_totals(
    shape: Shape, horizon: int, width: int, entropy: Entropy, chance: np.random.Generator
) -> NDArray[np.float64]:
    """Noise of variance 1 on running totals, as it is released wherever it is."""
    if isinstance(shape, OngoingShape):
        law: Law = "laplace" if isinstance(shape, Tree) else "gaussian"
        noise = Noise(law, 1.0, 2.0**20, 1.0)
        return np.cumsum(draw_noise(shape, noise, horizon, width, entropy), axis=0) / noise.deviation
    return np.cumsum(shape.undo(chance.normal(size=(horizon, width))), axis=0)


@pytest.mark.parametrize(("horizon", "shape"), SIMULATED, ids=str)
@pytest.mark.slow
def test_simulated_noise_has_the_stated_error(shape: Shape, horizon: int, trials: Trials) -> None:
    runs = trials(40_000, least=5_000) if horizon == 2**10 else trials(10_000, least=3_000)
    entropy, chance = seeded(7), np.random.default_rng(20_240_607)
    squares, last = np.zeros(horizon), []
    for start in range(0, runs, 50):  # as many as stay in the processor's cache
        width = min(50, runs - start)
        noise = simulated_totals(shape, horizon, width, entropy, chance)
        squares += (noise**2).sum(axis=1)
        last.append(noise[-1])
    errors = errors_of(RunningTotal(), shape, horizon)
    assert math.sqrt(squares.mean() / runs) == pytest.approx(errors.rmse_mean, rel=0.02)
    if isinstance(shape, Tree):  # its last total is no Gaussian
        return
    end = np.concatenate(last) / math.sqrt(window_variances(shape, np.array([0]), np.array([horizon]), horizon)[0])

    def p_value(numbers: NDArray[np.float64]) -> float:
        tail = float(stats.chi2.cdf(np.square(numbers).sum(), runs))
        return 2 * min(tail, 1 - tail)

    assert p_value(end) > FALSE_ALARM
    assert p_value(0.9 * end) < FALSE_ALARM


def test_refuses_what_a_shape_is_not_for() -> None:
    with pytest.raises(InvalidArgument, match="running totals"):
        errors_of(Rolling(3), Tree(3), 10)
    with pytest.raises(InvalidArgument, match="starts"):
        window_variances(White(), np.array([3]), np.array([3]), 10)
    with pytest.raises(InvalidArgument, match="stops must be at most the horizon"):
        window_variances(White(), np.array([3]), np.array([11]), 10)
    with pytest.raises(InvalidArgument, match="horizon"):
        lower_bound(0)


def test_a_release_without_a_key_has_noise_of_no_numbers(subtests: pytest.Subtests) -> None:
    every_shape: list[ReleasedShape] = [*CAUSAL, Tree(3), Differenced(BUFFERS)]
    every_horizon: list[int] = [1, 7, 300]
    for shape, horizon in itertools.product(every_shape, every_horizon):
        with subtests.test(shape=shape, horizon=horizon):
            drawn = draw_noise(shape, Noise("gaussian", 1.0, 2.0**20, 1.0), horizon, 0, seeded(1))
            assert drawn.shape == (horizon, 0)

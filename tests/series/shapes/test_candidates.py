"""Workloads and the shapes for them: complete, honest, the known winners, and the planner takes the least error."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.conftest import Trials
from tests.series.shapes.matrices import lower, tree_matrices, workload_matrix

from chronodp.errors import InvalidArgument
from chronodp.postprocess.tails import Law
from chronodp.privacy import Bounds, Contribution, Event, RecordUnit, User, Window, dump, load
from chronodp.series import Count, EachPeriod, Ewm, Filter, Measure, Rolling, RunningTotal, Sum, Total
from chronodp.series.design import Design
from chronodp.series.planner import design_release
from chronodp.series.shapes import BufferedLinear, Shape, Tree, errors_of, lower_bound, shape_sensitivity
from chronodp.series.shapes.candidates import Candidate, reach_of, shape_candidates
from chronodp.series.shapes.toeplitz import Banded, SquareRoot, White
from chronodp.series.table import Table
from chronodp.series.workloads import CausalFilter, Hierarchy, Workload, check_workload

EVERY_WORKLOAD: tuple[Workload, ...] = (
    EachPeriod(), RunningTotal(), Rolling(3), Ewm(0.25), Filter((0.5, -0.25, 0.125)), Hierarchy((4, 12)),
)  # fmt: skip


def test_weights_of_the_last_periods() -> None:
    series = np.random.default_rng(3).normal(size=20)

    def answers(workload: CausalFilter) -> NDArray[np.float64]:
        return np.convolve(workload.response(20), series)[:20]

    assert answers(EachPeriod()) == pytest.approx(series)
    assert answers(RunningTotal()) == pytest.approx(np.cumsum(series))
    assert answers(Rolling(3))[2:] == pytest.approx((series[2:] + series[1:-1] + series[:-2]) / 3)
    assert answers(Rolling(3))[0] == pytest.approx(series[0] / 3)
    smooth = [0.0]
    for value in series:
        smooth.append(0.25 * value + 0.75 * smooth[-1])
    assert answers(Ewm(0.25)) == pytest.approx(smooth[1:])
    assert answers(Filter((2.0, -1.0)))[1:] == pytest.approx(2 * series[1:] - series[:-1])
    assert len(Rolling(100).response(7)) == len(Filter((1.0,) * 9).response(7)) == 7


def test_a_hierarchy_always_has_single_periods() -> None:
    assert Hierarchy((7,)).levels == (1, 7)
    assert Hierarchy((28, 1, 7)) == Hierarchy((7, 28))
    assert str(Hierarchy((1,))) == "sums over blocks of 1 period"


def test_refuses_what_is_no_workload(subtests: pytest.Subtests) -> None:
    cases: list[tuple[object, str]] = [
        (lambda: Rolling(0), "periods must be a whole number of at least 1"),
        (lambda: Ewm(0.0), "alpha must be a number above 0 and at most 1"),
        (lambda: Ewm(1.5), "alpha must be"),
        (lambda: Ewm(float("nan")), "alpha must be"),
        (lambda: Filter(()), "weights must be 1 to 4096 finite numbers"),
        (lambda: Filter((0.0, 0.0)), "not all 0"),
        (lambda: Filter((1.0, float("inf"))), "weights must be"),
        (lambda: Filter([1.0]), "weights must be"),  # type: ignore[arg-type]
        (lambda: Hierarchy(()), "levels must be one or more different whole numbers"),
        (lambda: Hierarchy((7, 7)), "levels must be one or more different whole numbers"),
        (lambda: Hierarchy((0,)), "levels must be a whole number"),
        (lambda: check_workload("rolling"), "tuned_for must be a workload"),
    ]
    for make, words in cases:
        with subtests.test(make=make, words=words):
            assert callable(make)
            with pytest.raises(InvalidArgument, match=words):
                make()


COUNT = Contribution.count()


def candidates(
    workload: Workload, horizon: int, law: Law = "gaussian", unit: RecordUnit | None = None, periods: int | None = None
) -> tuple[Candidate, ...]:
    bounds, kind = Bounds(horizon, max_periods=periods), unit or Event()
    return shape_candidates(workload, unit=kind, bounds=bounds, contribution=COUNT, law=law, opposite=0)


def best(found: tuple[Candidate, ...]) -> Candidate:
    return min(found, key=lambda candidate: candidate.rmse_mean)


def white(found: tuple[Candidate, ...]) -> Candidate:
    return next(candidate for candidate in found if isinstance(candidate.shape, White))


@pytest.mark.slow
def test_every_candidate_is_what_it_says(subtests: pytest.Subtests) -> None:
    every_law: list[Law] = ["laplace", "gaussian"]
    every_horizon: list[int] = [1, 2, 365]
    every_workload: list[Workload] = [*EVERY_WORKLOAD]
    every_unit: list[RecordUnit] = [Event("replace"), User(), Window(2)]
    for law, horizon, workload, unit in itertools.product(every_law, every_horizon, every_workload, every_unit):
        with subtests.test(law=law, horizon=horizon, workload=workload, unit=unit):
            if isinstance(unit, Window) and horizon == 1:
                continue
            periods = min(7, horizon) if isinstance(unit, User) else None
            found = candidates(workload, horizon, law, unit, periods)
            assert len({dump(candidate.shape) for candidate in found}) == len(found)
            for candidate in found:
                shape = load(dump(candidate.shape), Shape)
                bounds = Bounds(horizon, max_periods=periods)
                cost = shape_sensitivity(reach_of(shape, horizon), unit, bounds, COUNT, opposite=0)
                assert candidate.sensitivity == (cost.l1 if law == "laplace" else cost.l2)
                errors = errors_of(workload, shape, horizon)
                scale = candidate.sensitivity * (2**0.5 if law == "laplace" else 1.0)
                assert candidate.rmse_mean == pytest.approx(scale * errors.rmse_mean, rel=1e-12)
                assert candidate.rmse_max == pytest.approx(scale * errors.rmse_max, rel=1e-12)
            assert white(found).rmse_mean > 0


def test_the_winners_that_are_known() -> None:
    assert best(candidates(EachPeriod(), 1000)).shape == White()
    totals = best(candidates(RunningTotal(), 1024))
    assert isinstance(totals.shape, BufferedLinear)
    assert lower_bound(1024) < totals.rmse_mean < 3.0574
    assert best(candidates(RunningTotal(), 1024, "laplace")).shape == Tree(13)
    assert best(candidates(RunningTotal(), 2**14, "laplace")).shape == Tree(33)
    assert best(candidates(RunningTotal(), 2**20, "laplace")).shape == Tree(19)
    assert best(candidates(Rolling(30), 1000)).shape == SquareRoot(Rolling(30))
    assert best(candidates(Rolling(30), 1000, "laplace")).shape == White()
    assert best(candidates(Ewm(0.02), 1000)).shape == SquareRoot(Ewm(0.02))


def test_the_winner_turns_with_the_unit() -> None:
    seven = candidates(Rolling(30), 1000, unit=User(), periods=7)
    assert isinstance(best(seven).shape, Banded)
    assert best(seven).rmse_mean < 0.81 * white(seven).rmse_mean
    always = candidates(Rolling(30), 1000, unit=User(), periods=1000)
    assert best(always).rmse_mean >= 0.999 * white(always).rmse_mean
    totals = candidates(RunningTotal(), 1024, unit=User(), periods=7)
    assert best(totals).rmse_mean == pytest.approx(17.17, abs=0.01)
    blocks = candidates(Hierarchy((24, 168)), 1000, unit=User(), periods=7)
    assert best(blocks).rmse_mean < 0.7 * white(blocks).rmse_mean


def test_filters_without_a_bounded_root_still_have_white_noise() -> None:
    for weights in ((0.0, 1.0), (1.0, 3.0)):
        roots = {c.shape for c in candidates(Filter(weights), 2000) if isinstance(c.shape, SquareRoot)}
        assert roots == {SquareRoot(RunningTotal())}


@pytest.mark.slow
def test_longer_series_than_the_table_have_endless_buffers() -> None:
    found = candidates(RunningTotal(), 2**20 + 1)
    assert sum(isinstance(candidate.shape, BufferedLinear) for candidate in found) > 10


def squares(design: Design) -> list[NDArray[np.float64]]:
    """Squared errors of all answers for noise of variance 1, level by level."""
    horizon, workload, shape = design.table.horizon, design.tuned_for, design.shape
    if isinstance(shape, Tree):
        return [(tree_matrices(shape, horizon)[1] ** 2).sum(axis=1)]
    inverse = np.linalg.inv(lower(shape.coefficients(horizon)))
    if isinstance(workload, Hierarchy):
        return [(np.add.reduceat(inverse, np.arange(0, horizon, level)) ** 2).sum(axis=1) for level in workload.levels]
    return [((workload_matrix(workload, horizon) @ inverse) ** 2).sum(axis=1)]


def error(design: Design) -> float:
    """Root of the mean square over levels, each the mean over its answers."""
    return math.sqrt(float(np.mean([part.mean() for part in squares(design)]))) * design.noises[0].deviation


def random_task(chance: np.random.Generator) -> tuple[Table, Workload, float, float]:
    horizon = int(chance.integers(1, 60))
    relation = chance.choice(["add_remove", "replace"])
    periods = int(chance.integers(1, horizon + 1))
    units: list[RecordUnit] = [Event(relation), User(relation), Window(periods, relation)]
    unit = units[int(chance.integers(3))]
    workloads: list[Workload] = [
        EachPeriod(),
        RunningTotal(),
        Rolling(int(chance.integers(1, horizon + 1))),
        Ewm(float(chance.uniform(0.02, 1.0))),
        Filter(tuple(np.cumprod([1.0, *chance.uniform(0.2, 1.0, 4)]).tolist())),
        Hierarchy((1, int(chance.integers(2, horizon + 2)))),
    ]
    measures: list[Measure] = [Total(float(chance.uniform(0.1, 10))), Count(), Sum("kwh", (-1.0, 2.0))]
    limit = periods if unit == User(relation) else None
    table = Table(measures[int(chance.integers(3))], unit, horizon, max_periods=limit)
    delta = float(chance.choice([0.0, 1e-9, 1e-6, 1e-3]))
    return table, workloads[int(chance.integers(6))], float(10 ** chance.uniform(-1, 1)), delta


@pytest.mark.slow
def test_the_choice_is_the_least_of_all_candidates(trials: Trials) -> None:
    chance = np.random.default_rng(12)
    chosen = set()
    for _ in range(trials(2_000, least=80)):
        table, workload, epsilon, delta = random_task(chance)
        designs = design_release(table, epsilon=epsilon, delta=delta, tuned_for=workload)
        found = [error(design) for design in designs]
        stated = [design.errors.rmse_mean for design in designs]
        assert np.allclose(found, stated, rtol=1e-7)
        assert found[0] <= min(found) * (1 + 1e-7)
        assert any(isinstance(design.shape, White) for design in designs)
        assert all(design.epsilon_of(1, delta) <= design.epsilon * (1 + 1e-9) for design in designs)
        chosen.add(type(designs[0].shape).__name__)
    assert len(chosen) >= 3  # no shape is always the best

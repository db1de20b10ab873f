"""Candidates: complete, honest, and the winners that are known."""

from __future__ import annotations

import itertools

import pytest
from tests.series.shapes.test_workloads import EVERY_WORKLOAD

from chronodp.postprocess.tails import Law
from chronodp.privacy import Bounds, Contribution, Event, RecordUnit, User, Window, dump, load
from chronodp.series.shapes import (
    Banded,
    BufferedLinear,
    Candidate,
    Shape,
    SquareRoot,
    Tree,
    White,
    errors_of,
    lower_bound,
    reach_of,
    shape_candidates,
    shape_sensitivity,
)
from chronodp.series.workloads import EachPeriod, Ewm, Filter, Hierarchy, Rolling, RunningTotal, Workload

COUNT = Contribution.count()


def candidates(
    workload: Workload, horizon: int, law: Law = "gaussian", unit: RecordUnit | None = None, periods: int | None = None
) -> tuple[Candidate, ...]:
    return shape_candidates(
        workload,
        unit=unit or Event(),
        bounds=Bounds(horizon, max_periods=periods),
        contribution=COUNT,
        law=law,
        opposite=0,
    )


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

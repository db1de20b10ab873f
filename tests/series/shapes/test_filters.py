"""Coefficients and inverses of causal shapes, and the table of buffers."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tests.series.shapes.matrices import lower

from chronodp.errors import InvalidArgument
from chronodp.series.shapes import BufferedLinear, CausalShape, FilterReach, Tree, errors_of, product, reciprocal
from chronodp.series.shapes.buffered_table import buffers_near, endless_buffers, read_table
from chronodp.series.shapes.optimise import tune_bands, tune_buffers
from chronodp.series.shapes.toeplitz import Banded, SquareRoot, White
from chronodp.series.workloads import CausalFilter, EachPeriod, Ewm, Filter, Rolling, RunningTotal

ROOTS: tuple[CausalFilter, ...] = (
    EachPeriod(), RunningTotal(), Rolling(2), Rolling(30), Ewm(0.02), Ewm(1.0), Filter((0.5, 0.3, 0.2)),
    Filter((-2.0, 1.0)),
)  # fmt: skip
BUFFERS = BufferedLinear((0.999, 0.95, 0.4), (0.05, 0.2, 0.3))
CAUSAL: tuple[CausalShape, ...] = (
    White(), *map(SquareRoot, ROOTS), BUFFERS, Banded.of(RunningTotal(), 5), Banded.of(RunningTotal(), 100),
    Banded((1.0, -0.5)),
)  # fmt: skip


def test_the_inverse_undoes_the_shape(subtests: pytest.Subtests) -> None:
    for horizon, shape in itertools.product([1, 2, 7, 64, 1000], CAUSAL):
        with subtests.test(horizon=horizon, shape=shape):
            column, inverse = shape.coefficients(horizon), shape.inverse(horizon)
            assert len(column) == len(inverse) == horizon
            assert column[0] == 1
            series = np.random.default_rng(5).normal(size=(horizon, 2))
            shaped = lower(column) @ series
            assert shape.undo(shaped) == pytest.approx(series, abs=1e-11)
            assert lower(inverse) @ shaped == pytest.approx(series, abs=1e-11)


def test_the_square_of_a_root_is_the_workload(subtests: pytest.Subtests) -> None:
    for horizon, workload in itertools.product([5, 4096], ROOTS):
        with subtests.test(horizon=horizon, workload=workload):
            root = SquareRoot(workload).coefficients(horizon)
            response = workload.response(horizon)
            assert product(root, root, horizon) == pytest.approx(response / response[0], abs=1e-11)


def test_refuses_filters_without_a_bounded_root() -> None:
    with pytest.raises(InvalidArgument, match="weight on the present period"):
        SquareRoot(Filter((0.0, 1.0)))
    with pytest.raises(InvalidArgument, match="does not grow without bound"):
        SquareRoot(Filter((1.0, 3.0))).coefficients(2000)
    with pytest.raises(InvalidArgument, match="does not grow without bound"):
        Banded((1.0, 3.0)).inverse(2000)


@given(st.lists(st.floats(-0.3, 0.3), min_size=1, max_size=40), st.integers(1, 200))
def test_reciprocals_of_power_series(tail: list[float], terms: int) -> None:
    series = np.array([1.0, *(value / len(tail) for value in tail)])
    inverse = reciprocal(series, terms)
    unit = np.zeros(terms)
    unit[0] = 1.0
    assert product(series, inverse, terms) == pytest.approx(unit, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("horizon", ["1024", "16384", "131072", "1048576"])
def test_buffers_have_the_published_error(golden: Any, horizon: str) -> None:
    for name, row in golden("continual/blt.json")[horizon].items():
        shape = BufferedLinear(tuple(row["theta"]), tuple(row["omega"]))
        decays, weights = shape.inverse_parameters()
        assert decays == pytest.approx(row["theta_hat"], rel=1e-9), name
        assert weights == pytest.approx(row["omega_hat"], rel=1e-6), name
        errors = errors_of(RunningTotal(), shape, int(horizon))
        length = FilterReach(shape.coefficients(int(horizon))).l2(1, together=True)
        assert length == pytest.approx(row["sens"], rel=1e-9)
        assert length * errors.rmse_mean == pytest.approx(row["mean"], rel=1e-9)
        assert length * errors.rmse_max == pytest.approx(row["max"], rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("horizon", ["1024", "16384", "131072", "1048576"])
def test_the_shipped_buffers_are_no_worse_than_the_published(golden: Any, horizon: str) -> None:
    published = golden("continual/blt.json")[horizon]
    rows = {row: shape for row, shape in buffers_near(int(horizon), 1).items() if row.periods == 1}
    assert {row.buffers for row in rows} == {2, 3, 4, 5, 6}
    for row, shape in rows.items():
        name = f"{row.aim}_d{row.buffers}"
        if name not in published:
            continue
        errors = errors_of(RunningTotal(), shape, int(horizon))
        length = FilterReach(shape.coefficients(int(horizon))).l2(1, together=True)
        found = errors.rmse_mean if row.aim == "mean" else errors.rmse_max
        assert length * found <= published[name][row.aim] * (1 + 1e-6), name


@pytest.mark.slow
def test_every_row_of_the_table_falls_and_is_good_where_it_was_tuned() -> None:
    for row, shape in read_table().items():
        if row.kind == "endless":
            continue
        horizon = min(row.horizon, 2**14)
        column = FilterReach(shape.coefficients(horizon))
        assert column.falling
        if row.horizon > 2**14:
            continue
        errors = errors_of(RunningTotal(), shape, row.horizon)
        reach = column.l2(row.periods, together=False)
        root = SquareRoot(RunningTotal())
        same = errors_of(RunningTotal(), root, row.horizon)
        other = FilterReach(root.coefficients(row.horizon)).l2(row.periods, together=False)
        assert reach * errors.rmse_mean <= 1.07 * other * same.rmse_mean, row


def test_endless_buffers_have_the_stated_variance(golden: Any) -> None:
    streams = {row.horizon: shape for row, shape in endless_buffers().items()}
    short = golden("continual/unbounded_extra.json")["BLT_n1048576_max_d4_infinite_sens"]["var"]
    long = golden("continual/blt_unbounded.json")["BLT_n0=2^30_d6_inf_sens"]["var"]
    for shape, published, tuned in ((streams[2**20], short, 20), (streams[2**30], long, 20)):
        horizon = 2**tuned
        squares = np.cumsum(np.cumsum(shape.inverse(horizon)) ** 2) * shape.endless_square()
        for power in (10, 14, 20):
            assert squares[2**power - 1] <= 1.07 * published[f"2^{power}"]
        if shape is streams[2**20]:
            assert squares[-1] <= published["2^20"] * (1 + 1e-9)
        finite = float(np.square(shape.coefficients(horizon)).sum())
        assert finite < shape.endless_square()


def test_the_endless_length_is_the_limit() -> None:
    assert BUFFERS.endless_square() == pytest.approx(float(np.square(BUFFERS.coefficients(40_000)).sum()), rel=1e-12)


@pytest.mark.slow
def test_tuning_reaches_the_published_error_for_many_periods(golden: Any) -> None:
    published = golden("continual/unbounded_multi.json")["multi_participation_n1024"]["k7_b1"]["BLT_opt_d<=3"]
    shape = tune_buffers(1024, 2, periods=7)
    reach = FilterReach(shape.coefficients(1024)).l2(7, together=False)
    assert reach * errors_of(RunningTotal(), shape, 1024).rmse_mean == pytest.approx(published["mean"], rel=1e-6)


def test_tuned_bands_beat_white_noise_and_the_root_for_a_person_of_seven_periods() -> None:
    workload = Rolling(30)
    found = {}
    for shape in (White(), SquareRoot(workload), tune_bands(workload, 512, 16, periods=7)):
        reach = FilterReach(shape.coefficients(512)).l2(7, together=False)
        found[type(shape)] = reach * errors_of(workload, shape, 512).rmse_mean
    assert found[Banded] < 0.95 * found[SquareRoot] < 0.95 * found[White]


def test_refuses_parameters_that_are_no_buffers(subtests: pytest.Subtests) -> None:
    cases: list[tuple[tuple[float, ...], tuple[float, ...]]] = [
        ((), ()), ((0.5, 0.9), (0.1, 0.1)), ((1.0,), (0.1,)), ((0.5,), (0.0,)), ((0.5,), (1.5,)), ((0.9, 0.5), (0.1,)),
        ((math.nan,), (0.1,)), ((0.5,) * 13, (0.01,) * 13),
    ]  # fmt: skip
    for theta, omega in cases:
        with subtests.test(theta=theta, omega=omega), pytest.raises(InvalidArgument):
            BufferedLinear(theta, omega)


def test_refuses_other_bad_shapes() -> None:
    for make in (lambda: Banded(()), lambda: Banded((0.0, 1.0)), lambda: Banded((math.inf,)), lambda: Tree(4)):
        with pytest.raises(InvalidArgument):
            make()
    with pytest.raises(InvalidArgument, match="horizon"):
        White().coefficients(0)
    with pytest.raises(InvalidArgument, match="workload must be a filter"):
        SquareRoot("running totals")  # type: ignore[arg-type]

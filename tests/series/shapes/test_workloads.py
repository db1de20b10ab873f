"""Workloads: what they weigh, how they are written, what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.series.workloads import (
    CausalFilter,
    EachPeriod,
    Ewm,
    Filter,
    Hierarchy,
    Rolling,
    RunningTotal,
    Workload,
    check_workload,
)

EVERY_WORKLOAD: tuple[Workload, ...] = (
    EachPeriod(),
    RunningTotal(),
    Rolling(3),
    Ewm(0.25),
    Filter((0.5, -0.25, 0.125)),
    Hierarchy((4, 12)),
)


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

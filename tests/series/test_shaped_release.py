"""Releases with shaped noise: the planner's choice, the noise, and every interval that is read from it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.conftest import Trials

import chronodp as cdp
from chronodp.engines import Grouping
from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar, Grid
from chronodp.randomness import seeded
from chronodp.series import Design, Mean, Sum, Table
from chronodp.series.bands import level_for_all
from chronodp.series.estimates import Estimates, estimate
from chronodp.series.planner import design_release
from chronodp.series.shapes.toeplitz import Banded, SquareRoot, White
from chronodp.series.shapes.tree import Tree
from chronodp.series.shaping import draw_noise, filter_draws, rounding_bound
from chronodp.series.windows import Windows, coarser, each, rolling, running
from chronodp.series.workloads import Workload

DAYS = Calendar("6h", "2026-03-27", "2026-04-01T01:00", "Europe/Berlin")
WORKLOADS: list[Workload] = [
    cdp.EachPeriod(), cdp.RunningTotal(), cdp.Rolling(4), cdp.Ewm(0.1), cdp.Filter((1.0, 0.5, 0.25)),
    cdp.Hierarchy((4, 12)),
]  # fmt: skip


def designs(workload: Workload, *, delta: float = 1e-6, measure: Any = None, unit: Any = None) -> tuple[Design, ...]:
    table = Table(
        Sum("kwh", (0.0, 2.0)) if measure is None else measure,
        cdp.User() if unit is None else unit,
        len(DAYS),
        DAYS,
        (Grouping("region", ("north", "south")),),
        max_periods=3 if unit is None else None,
    )
    return design_release(table, epsilon=1.0, delta=delta, tuned_for=workload)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as opened:
        opened.open("totals", unit=cdp.Event(), epsilon=1e4, delta=1e-6)
        yield opened


def test_filters_undo_the_noise_within_the_bound_and_never_look_ahead(subtests: pytest.Subtests) -> None:
    every_shape: list[Any] = [SquareRoot(cdp.RunningTotal()), SquareRoot(cdp.Rolling(7)), Banded((1.0, 0.4, 0.3))]
    every_horizon: list[int] = [1, 7, 256, 257, 1500]
    for shape, horizon in itertools.product(every_shape, every_horizon):
        with subtests.test(shape=shape, horizon=horizon):
            chance = np.random.default_rng(3)
            draws = np.rint(chance.normal(size=(horizon, 2)) * 2**27).astype(np.int64)
            noise = filter_draws(shape, draws)
            back = np.convolve(shape.coefficients(horizon), noise[:, 0].astype(np.float64))[:horizon]
            assert np.abs(back - draws[:, 0]).max() < rounding_bound(shape, horizon, 2.0**27)
            # Later draws change nothing before them, to the last bit: so draws can be told from noise.
            for at in {0, horizon // 3, horizon - 1}:
                changed = draws.copy()
                changed[at:] = -changed[at:] - 12345
                other = filter_draws(shape, changed)
                assert np.array_equal(other[:at], noise[:at])
                assert np.array_equal(other[at] - changed[at], noise[at] - draws[at])


@pytest.mark.slow
def test_intervals_of_every_shape_hold_at_their_level_on_both_sides(trials: Trials, subtests: pytest.Subtests) -> None:
    for delta, workload in itertools.product([0.0, 1e-6], WORKLOADS):
        with subtests.test(delta=delta, workload=workload):
            level, runs = 0.9, trials(20_000, least=3000)
            windows: dict[str, Windows] = {
                "each": each(len(DAYS)),
                "running": running(len(DAYS)),
                "rolling": rolling(len(DAYS), 3),
                "coarser": coarser(DAYS, "12h"),
            }
            for design in {type(found.shape): found for found in reversed(designs(workload, delta=delta))}.values():
                noise = design.noises[0]
                draws = Grid(noise.step).to_values(draw_noise(design.shape, noise, len(DAYS), runs, seeded(8)))
                for windows_of in windows.values():
                    found = estimate(design, (draws,), windows_of, average=False, level=level)
                    for tail in ((found.lower > 0).sum(axis=1), (found.upper < 0).sum(axis=1)):
                        for count in tail.tolist():
                            assert stats.binom.sf(count - 1, runs, (1 - level) / 2) > 1e-9
                            assert stats.binom.cdf(count, runs, (1 - level) / 2) > 1e-9
                narrow = estimate(
                    replace(design, noises=(replace(noise, scale=0.9 * noise.scale),)),
                    (draws,),
                    windows["each"],
                    average=False,
                    level=level,
                )
                missed = int(((narrow.lower > 0) | (narrow.upper < 0)).sum())
                assert stats.binom.sf(missed, runs * len(DAYS), 1 - level) < 1e-6


def test_bands_hold_everywhere_at_once(trials: Trials) -> None:
    runs, level = trials(20_000, least=2000), 0.9
    for design in designs(cdp.RunningTotal())[:1] + designs(cdp.RunningTotal(), delta=0.0)[:1]:
        windows = running(len(DAYS))
        single = level_for_all(design, windows, level)
        noise = design.noises[0]
        draws = Grid(noise.step).to_values(draw_noise(design.shape, noise, len(DAYS), 2 * runs, seeded(9)))
        found = estimate(design, (draws,), windows, average=False, level=single)
        kept = ((found.lower <= 0) & (found.upper >= 0)).all(axis=0).reshape(runs, 2).all(axis=1).sum()
        assert stats.binom.cdf(int(kept), runs, level) > 1e-9
        plain = estimate(design, (draws,), windows, average=False, level=level)
        few = ((plain.lower <= 0) & (plain.upper >= 0)).all(axis=0).reshape(runs, 2).all(axis=1).sum()
        assert stats.binom.cdf(int(few), runs, level) < 1e-9  # single intervals do not hold all at once


@pytest.mark.slow
def test_a_shaped_plan_beats_white_noise_and_its_release_is_read_freely(ledger: cdp.Ledger) -> None:
    totals = cdp.Aggregate(np.full(3000, 3.0), change=1.0, unit=cdp.Event())
    plan = totals.plan(epsilon=1.0, delta=1e-6, tuned_for=cdp.RunningTotal())
    table = plan.alternatives
    white = table[(table["shape"] == "white noise") & (table["noise"] == "gaussian")]
    assert table["rmse_mean"].iloc[0] < 0.25 * white["rmse_mean"].iloc[0]
    assert plan.alternatives["rmse_mean"].is_monotonic_increasing
    assert "shaped" in str(plan)
    release = plan.release(ledger, dataset="totals", request="shaped", entropy=seeded(3))
    running_total = release.running_total()
    assert running_total.estimates.value[-1, 0] == pytest.approx(9000, abs=6 * plan.design.errors.rmse_max)
    assert cdp.Release(release.text, release.signed).design == plan.design
    values = release.to_pandas()["value"].to_numpy()
    assert release.ewm(0.25).estimates.value[2, 0] == pytest.approx(
        0.25 * (values[2] + 0.75 * values[1] + 0.5625 * values[0])
    )
    filtered = release.linear([0.5, 0.5])
    assert filtered.estimates.value[5, 0] == pytest.approx((values[5] + values[4]) / 2)
    assert filtered.certificate.processing[-1] == "a filter over 2 periods"
    wide, narrow = release.running_total(simultaneous=True), running_total
    assert np.all(wide.estimates.upper > narrow.estimates.upper)


def test_filters_of_what_cannot_be_filtered_are_refused(ledger: cdp.Ledger) -> None:
    totals = cdp.Aggregate(np.ones(300), change=1.0, unit=cdp.Event())
    plan = totals.plan(epsilon=1.0, tuned_for=cdp.RunningTotal())
    assert isinstance(plan.design.shape, Tree)
    tree = plan.release(ledger, dataset="totals", request="tree")
    with pytest.raises(InvalidArgument, match="see rolling"):
        tree.ewm(0.5)
    with pytest.raises(InvalidArgument, match="alpha"):
        tree.ewm(0.0)
    with pytest.raises(InvalidArgument, match="weights"):
        tree.linear([])


def test_means_are_released_with_shaped_noise_too(trials: Trials) -> None:
    design = next(
        found
        for found in designs(cdp.RunningTotal(), measure=Mean("kwh", (0.0, 4.0)))
        if not isinstance(found.shape, White)
    )
    runs, people, level = trials(10_000, least=2000), 500, 0.9
    sums, counts = (
        Grid(noise.step).to_values(draw_noise(design.shape, noise, len(DAYS), runs, seeded(seed)))
        for seed, noise in enumerate(design.noises)
    )
    sums, counts = people * (3.0 - 2.0) + sums, people + counts
    found: Estimates = estimate(design, (sums, counts), coarser(DAYS, "24h"), average=False, level=level)
    for count in ((found.lower > 3.0) | (found.upper < 3.0)).sum(axis=1).tolist():
        assert stats.binom.sf(count - 1, runs, 1 - level) > 1e-9

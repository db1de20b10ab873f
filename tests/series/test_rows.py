"""Means and histograms of rows: what is released, what it is called, and how often intervals miss."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from tests.conftest import Trials, in_turn
from tests.series.designs import EPSILONS, UNITS, WIDE_CLIPS, feasible, table
from tests.series.misses import LAWS, WIDER, Missed, designed, missed, noisy, over_periods
from tests.series.releases import Silent, made, over

import chronodp as cdp
from chronodp.dataset import Records
from chronodp.engines.question import WIDEST_WEIGHED
from chronodp.errors import InvalidArgument
from chronodp.postprocess.tails import Law
from chronodp.privacy import RecordUnit
from chronodp.randomness import seeded
from chronodp.series import Mean, RowHistogram, RowMean, RunningTotal, Table
from chronodp.series.estimates import Floats
from chronodp.series.shapes.toeplitz import SquareRoot

CLIP = (0.0, 10.0)
FLIGHTS = [  # three short delays of a busy plane on a day, one long one of another
    ("a", "2026-01-01T08:00", 10.0, "JFK"),
    ("a", "2026-01-01T12:00", 20.0, "JFK"),
    ("a", "2026-01-01T16:00", 60.0, "LGA"),
    ("b", "2026-01-01T09:00", 5.0, "LGA"),
    ("a", "2026-01-02T08:00", 7.0, "JFK"),
    ("b", "2026-01-02T09:00", 900.0, "JFK"),
]


def flights(**changes: object) -> cdp.TimeSeries:
    rows = pd.DataFrame(FLIGHTS, columns=["plane", "at", "delay", "origin"])
    options: dict[str, Any] = {"user": "plane", "max_periods": 2} | changes
    return over(rows.assign(at=pd.to_datetime(rows["at"])), "2026-01-03", **options)


def ledger_of(folder: Path, unit: RecordUnit) -> cdp.Ledger:
    ledger = cdp.Ledger(folder / "budget.db")
    ledger.open("meters", unit=unit, epsilon=100.0, delta=1e-3)
    return ledger


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_what_is_released_without_noise(tmp_path: Path, delta: float) -> None:
    series, clip = flights(), (-20.0, 100.0)
    with ledger_of(tmp_path, cdp.User()) as ledger:

        def exact(query: object, request: str) -> list[float]:
            plan = query.plan(epsilon=1.0, delta=delta)  # type: ignore[attr-defined]
            release = made(plan, ledger, request, entropy=Silent())
            found: list[float] = release.to_pandas()["value"].tolist()
            return found

        def close(*numbers: float) -> object:
            return pytest.approx(numbers, abs=1e-4)

        # A plane's mean is 30.
        assert exact(series.mean("delay", clip=clip, of="people"), "people") == close(35 / 2, 107 / 2)
        assert exact(series.mean("delay", clip=clip, at_most=2, of="rows"), "two") == close(65 / 3, 107 / 2)
        assert exact(series.mean("delay", clip=clip, at_most=3, of="rows"), "all") == close(95 / 4, 107 / 2)
        assert exact(series.mean("delay", clip=clip, of="totals"), "totals") == close(95 / 2, 107 / 2)
        by = series.mean("delay", clip=clip, of="people").by(origin=["JFK", "LGA"], max_groups=2)
        assert exact(by, "by") == close(15, 65 / 2, 107 / 2, 40)  # nobody: the middle of the clip
        edges = [0.0, 15.0, 50.0, 1000.0]
        bins = series.histogram("delay", edges=edges, of="rows")
        assert exact(bins, "bins") == close(4 / 3, 1 / 3, 1 / 3, 1, 0, 1)
        release = made(
            series.histogram("delay", edges=edges, of="rows", at_most=3).plan(epsilon=1.0, delta=delta),
            ledger,
            "quantile",
            entropy=Silent(),
        )
        # Of 7 and 100 every number between is a median: the middle of the empty bin.
        assert release.quantile(0.5).to_pandas()["value"].tolist() == close(15.0, 65 / 2)
        assert set(release.to_pandas().columns) >= {"bin_low", "bin_high"}


@pytest.mark.parametrize("user", ["plane", None])
def test_single_rows_count_in_full(tmp_path: Path, user: str | None) -> None:
    series = flights(unit=cdp.Event(), user=user, max_periods=None)
    with ledger_of(tmp_path, cdp.Event()) as ledger:
        plan = series.mean("delay", clip=(-20.0, 100.0), of="people").plan(epsilon=1.0)
        found = made(plan, ledger, "one", entropy=Silent()).to_pandas()["value"].tolist()
        assert found == pytest.approx([95 / 4, 107 / 2], abs=1e-4)
        assert plan.design.table.released == "mean of delay over rows, each clipped to -20 … 100"
    assert [part.l1 for part in plan.design.table.sensitivities()] == [120.0]
    with pytest.raises(InvalidArgument, match="at_most must be 1 or left out for one row"):
        series.mean("delay", clip=(0.0, 1.0), at_most=2, of="rows")
    with pytest.raises(InvalidArgument, match="at_most must be 1 or left out for one row"):
        series.histogram("delay", edges=[0, 1], of="rows", at_most=2)


def test_pure_noise_has_half_the_variance_of_a_sum_and_a_count() -> None:
    series = flights()
    rows = series.mean("delay", clip=CLIP, of="people").plan(epsilon=1.0).design.noises
    totals = series.mean("delay", clip=CLIP, of="totals").plan(epsilon=1.0).design.noises
    # About the middle of the clip: (X - Y) / 2 of two Laplace variables against one.
    assert 2 * rows[0].deviation ** 2 / 4 == pytest.approx(totals[0].deviation ** 2 / 2)
    assert (rows[0].sensitivity, totals[0].sensitivity) == (20.0, 10.0)


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_what_one_unit_does(relation: str) -> None:
    """L√2 for sum and count together where a unit owns its cells, twice L where it is replaced: over √2 here."""
    for at_most in (1, 3):
        series = flights(unit=cdp.User(relation), max_periods=2)  # type: ignore[arg-type]
        (stated,) = series.mean("delay", clip=(0.0, 1.0), at_most=at_most, of="rows").table.sensitivities()
        joint = at_most * np.sqrt(2) if relation == "add_remove" else at_most * 2
        assert stated.l2 * np.sqrt(2) == pytest.approx(joint * np.sqrt(2))
        assert stated.l1 == at_most * 2 * (1 if relation == "add_remove" else 2)
        (bins,) = series.histogram("delay", edges=[0, 1, 2], of="rows", at_most=at_most).table.sensitivities()
        assert bins == stated


def test_refusals(subtests: pytest.Subtests) -> None:
    cases: list[tuple[object, str]] = [
        (lambda series: series.mean("delay", clip=(2, 2), of="people"), "low < high"),
        (lambda series: series.mean("delay", clip=(1e9, 1e9 + 1), of="people"), "wider"),
        (lambda series: series.mean("delay", clip=CLIP, at_most=0, of="rows"), "at_most"),
        (lambda series: series.mean("delay", clip=CLIP, at_most=2**21, of="rows"), "at_most"),
        (lambda series: series.mean("delay", clip=CLIP, of="planes"), "of must be"),
        (lambda series: series.mean("delay", clip=CLIP, of="people", at_most=2), "left out for a mean of people"),
        (lambda series: series.mean("delay", clip=CLIP, of="rows", people=9), "people must be left out"),
        (lambda series: series.histogram("delay", edges=[1, 0], of="rows"), "ascending"),
        (lambda series: series.mean("delay", clip=CLIP, of="people").peak(every="2D"), "count, or with a sum"),
        (lambda series: series.mean("delay", clip=CLIP, of="people").total(every="2D"), "count, or with a sum"),
        (lambda series: series.histogram("delay", edges=[0, 1], of="rows").total(every="2D"), "count, or with a sum"),
    ]
    for ask, message in cases:
        with subtests.test(ask=ask, message=message), pytest.raises(InvalidArgument, match=message):
            ask(flights())  # type: ignore[operator]


@given(WIDE_CLIPS, UNITS, EPSILONS, st.sampled_from([1, 2, 1000, 2**20]))
def test_nothing_leaves_64_bits_whatever_is_asked(
    clip: tuple[float, float], who: tuple[RecordUnit, int | None], epsilon: float, at_most: int
) -> None:
    for measure in (RowMean("kwh", clip, at_most), RowHistogram("kwh", (0.0, 1.0, 2.0), at_most)):
        if who[0].of_rows and at_most > 1:
            continue
        for design in feasible(table(measure, *who), epsilon, 1e-6):
            question = Records(None, "time", "meter").question(design)
            assert 1 <= question.row_reach * at_most <= WIDEST_WEIGHED
            assert all(abs(end) <= WIDEST_WEIGHED for end in question.clip)
            stated = measure.contributions()[0].presence
            assert question.row_reach * at_most * design.noises[0].step <= stated


def parts_of(law: Law, rows: float, mean: float, replicas: int, *, wider: float = 1.0) -> tuple[Floats, ...]:
    design = designed(RowMean("kwh", CLIP), law, periods=1)
    truth = np.tile([rows * (mean - CLIP[0]), rows * (CLIP[1] - mean)], (replicas, 1))
    return (noisy(design, truth, seeded(f"{law} {rows} {mean} {wider}"), wider=wider),)


def misses(law: Law, rows: float, mean: float, replicas: int, *, periods: int = 1, wider: float = 1.0) -> Missed:
    design = designed(RowMean("kwh", CLIP), law, periods=1)
    parts = parts_of(law, rows, mean, replicas * periods, wider=wider)
    return missed(over_periods(design, parts, periods, level=0.9, ends=CLIP), mean)


@pytest.mark.parametrize(("law", "rows"), in_turn(LAWS, [1, 5, 50]))
@pytest.mark.slow
def test_means_of_few_rows_miss_at_most_so_often(law: Law, rows: int, trials: Trials) -> None:
    for mean in (CLIP[0], 3.3, 5.0, CLIP[1]):
        assert misses(law, rows, mean, trials(200_000, least=50_000)).at_most(0.9)


@pytest.mark.slow
def test_means_of_many_rows_miss_exactly_so_often(trials: Trials, subtests: pytest.Subtests) -> None:
    for law, (rows, periods) in itertools.product(LAWS, [(500, 1), (100_000, 1), (300, 4)]):
        with subtests.test(law=law, rows=rows, periods=periods):
            replicas = trials(200_000, least=100_000)
            for mean in trials.some((3.3, 8.5), 2):
                assert misses(law, rows, mean, replicas, periods=periods).exactly(0.9)
                assert not misses(law, rows, mean, replicas, periods=periods, wider=WIDER).exactly(0.9)


def test_bands_of_all_groups_at_once_share_by_group_and_not_by_sum(tmp_path: Path) -> None:
    with ledger_of(tmp_path, cdp.User()) as ledger:
        plan = flights().mean("delay", clip=CLIP, of="people").by(origin=["JFK", "LGA"]).plan(epsilon=100.0)
        release = made(plan, ledger, "one", entropy=Silent())
    together = release.each_period(level=0.9, simultaneous=True).to_pandas()
    single = release.each_period(level=1 - 0.1 / 4).to_pandas()  # two days of two groups
    pd.testing.assert_frame_equal(together, single)


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_shaped_noise_covers_weight_that_is_spread_over_bins(relation: str) -> None:
    """A person's weight in a period lies anywhere between the bins, and its corners are the worst."""
    unit = cdp.User(relation)  # type: ignore[arg-type]
    released = Table(RowHistogram("kwh", (0.0, 1.0, 2.0, 3.0), 2), unit, 8, max_periods=2)
    shape = SquareRoot(RunningTotal())
    (stated,) = released.sensitivities(shape)
    columns = np.tril(
        [[shape.coefficients(8)[row - column] if row >= column else 0.0 for column in range(8)] for row in range(8)]
    )
    draw = np.random.default_rng(1)

    def held(corner: bool) -> Floats:
        found = np.zeros((8, 3))
        for period in draw.choice(8, 2, replace=False):
            found[period] = 2 * (np.eye(3)[draw.integers(3)] if corner else draw.dirichlet(np.ones(3)))
        return found

    def most(corner: bool) -> float:
        changes = [held(corner) - (held(corner) if relation == "replace" else 0.0) for _ in range(2000)]
        return max(float(np.linalg.norm(columns @ change)) for change in changes)

    assert most(corner=False) < most(corner=True) <= stated.l2 * (1 + 1e-12)
    assert most(corner=True) > 0.9 * stated.l2 or relation == "replace"


def test_rounding_of_shaped_noise_is_counted_in_every_bin_that_is_touched() -> None:
    for measure, touched in (
        (RowMean("kwh", CLIP, 3), 2),
        (RowHistogram("kwh", (0.0, 1.0, 2.0, 3.0)), 3),
        (Mean("kwh", CLIP), 1),
    ):
        assert Table(measure, cdp.User(), 8, max_periods=2).places_touched == touched

"""Views of real releases: smoothed, described and priced at nothing; what their own terms rule out is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.series.releases import made, over

from chronodp import Aggregate, Event, Ledger, Plan, User
from chronodp.errors import InvalidArgument
from chronodp.postprocess import Growing, NonNegative, RandomWalk, Trend, grow, kalman_smoother, project
from chronodp.series import Release, View, smooth_view
from chronodp.series.shapes import White
from chronodp.series.workloads import RunningTotal, Workload

HOURS = 96


def totals(tmp_path: Path, *, gaussian: bool, tuned_for: Workload | None = None) -> Release:
    """Four days of an hour's totals, released with either noise."""
    truth = np.round(20 + 15 * np.sin(np.arange(HOURS) / 6))
    limit = 24 if gaussian else 1
    series = Aggregate(truth, change=1.0, unit=User(), max_periods=limit, every="1h", start="2026-01-01")
    plan = series.plan(epsilon=1.0, delta=1e-6 if gaussian else 0.0, tuned_for=tuned_for)
    assert (plan.design.law == "gaussian") is gaussian
    return released(plan, tmp_path)


def released(plan: Plan, folder: Path) -> Release:
    folder.mkdir(exist_ok=True)
    with Ledger(folder / "budget.db") as ledger:
        ledger.open("totals", unit=plan.design.table.unit, epsilon=1.0, delta=plan.design.delta)
        return made(plan, ledger, "all", dataset="totals")


def records(tmp_path: Path, kind: str) -> Release:
    times = pd.date_range("2026-01-01", periods=400, freq="7min", tz="UTC")
    visits = pd.DataFrame({"at": times, "minutes": np.arange(400.0) % 50})
    ward = over(visits, "2026-01-03", every="6h", user=None, unit=Event())
    query = {
        "mean": ward.mean("minutes", clip=(0.0, 60.0), of="people"),
        "variance": ward.variance("minutes", clip=(0.0, 60.0)),
        "signed": ward.sum("minutes", clip=(-5.0, 60.0)),
        "count": ward.count(),
        "bins": ward.histogram("minutes", edges=[-1.0, 20.0, 60.0]),
    }[kind]
    return released(query.plan(epsilon=1.0), tmp_path)


def check(before: View, after: View) -> None:
    assert after.certificate.guarantee == before.certificate.guarantee
    assert after.certificate.processing[:-1] == before.certificate.processing
    assert after.title == f"{before.title}, smoothed"
    assert (after.level, after.table, after.binned) == (before.level, before.table, before.binned)
    assert np.array_equal(after.periods, before.periods)
    assert len(after.to_pandas()) == len(before.to_pandas())
    assert np.all(after.estimates.lower <= after.estimates.value)
    assert np.all(after.estimates.value <= after.estimates.upper)
    assert len(str(after.certificate)) > len(str(before.certificate))


def test_running_totals_grow(tmp_path: Path) -> None:
    release = totals(tmp_path, gaussian=True)
    before = release.running_total()
    after = smooth_view(before, method=Growing(whole=True))
    check(before, after)
    assert np.array_equal(
        after.estimates.value, grow(before.estimates.value, deviation=np.arange(1, HOURS + 1) ** 0.5, whole=True)
    )
    assert "isotonic" in after.certificate.processing[-1]


@pytest.mark.parametrize("gaussian", [True, False], ids=["gaussian", "laplace"])
def test_single_periods(gaussian: bool, tmp_path: Path) -> None:
    release = totals(tmp_path, gaussian=gaussian)
    before = release.each_period(level=0.8)
    deviation = release.design.noises[0].deviation
    for motion in (RandomWalk(1.0), Trend(0.0, 0.5)):
        after = smooth_view(before, method=motion)
        check(before, after)
        assert after.estimates.value == pytest.approx(kalman_smoother(before.estimates.value, deviation, motion).value)
    after = smooth_view(before, method=NonNegative())
    check(before, after)
    assert after.estimates.value == pytest.approx(project(before.estimates.value))
    # First what is supposed, then what is surely true.
    both = smooth_view(smooth_view(before, method=RandomWalk(1.0)), method=NonNegative(whole=True))
    assert len(both.certificate.processing) == 2


def test_coarser_periods_never_take_the_noise_for_less(tmp_path: Path) -> None:
    release = totals(tmp_path, gaussian=False)
    noise = release.design.noises[0].deviation
    for level in (0.5, 0.95):
        before = release.resample("6h", level=level)
        after = smooth_view(before, method=RandomWalk(1.0))
        check(before, after)
        exact = kalman_smoother(before.estimates.value, noise * 6**0.5, RandomWalk(1.0))
        told = smooth_view(before, method=RandomWalk(1.0), deviation=noise * 6**0.5)
        assert told.estimates.value == pytest.approx(exact.value)
        assert np.all(after.estimates.upper - after.estimates.lower >= told.estimates.upper - told.estimates.lower)


def test_counts_and_bins(tmp_path: Path) -> None:
    release = records(tmp_path / "a", "count")
    for before in (release.each_period(), release.resample("1D"), release.rolling(2)):
        check(before, smooth_view(before, method=NonNegative(keep_total=False)))
    bins = records(tmp_path / "b", "bins")
    check(bins.each_period(), smooth_view(bins.each_period(), method=NonNegative(whole=True)))
    with pytest.raises(InvalidArgument, match="quantiles are in order already"):
        smooth_view(bins.quantile(0.5), method=NonNegative())


@pytest.mark.slow
def test_means_need_their_deviation_said(tmp_path: Path) -> None:
    before = records(tmp_path, "mean").each_period()
    with pytest.raises(InvalidArgument, match="not even on both sides"):
        smooth_view(before, method=RandomWalk(1.0))
    check(before, smooth_view(before, method=RandomWalk(1.0), deviation=3.0))
    spread = records(tmp_path / "variance", "variance").each_period()
    with pytest.raises(InvalidArgument, match="RandomWalk or Trend for variances"):
        smooth_view(spread, method=NonNegative())
    with pytest.raises(InvalidArgument, match="RandomWalk or Trend for means"):
        smooth_view(before, method=NonNegative())


def test_shaped_noise_may_be_made_to_grow_and_not_filtered(tmp_path: Path) -> None:
    release = totals(tmp_path, gaussian=True, tuned_for=RunningTotal())
    assert not isinstance(release.design.shape, White)
    before = release.running_total()
    after = smooth_view(before, method=Growing())
    check(before, after)
    half = before.estimates.upper - before.estimates.value
    assert after.estimates.value == pytest.approx(grow(before.estimates.value, deviation=half))
    check(release.each_period(), smooth_view(release.each_period(), method=NonNegative()))
    for view in (release.each_period(), release.resample("1D")):
        with pytest.raises(InvalidArgument, match="rows must not share their noise"):
            smooth_view(view, method=RandomWalk())


def test_what_the_release_rules_out(tmp_path: Path) -> None:
    release = totals(tmp_path / "a", gaussian=True)
    with pytest.raises(InvalidArgument, match="method must be Growing"):
        smooth_view(release.each_period(), method="kalman")  # type: ignore[arg-type]
    for view in (release.each_period(), release.rolling(3), release.resample("1D")):
        with pytest.raises(InvalidArgument, match="other series may fall"):
            smooth_view(view, method=Growing())
    for view in (
        release.rolling(3),
        release.running_total(),
        smooth_view(release.each_period(), method=RandomWalk(1.0)),
    ):
        with pytest.raises(InvalidArgument, match="rows must not share their noise"):
            smooth_view(view, method=RandomWalk())
    for view in (release.rolling(3), release.running_total()):
        with pytest.raises(InvalidArgument, match="keep_total must be False where rows overlap"):
            smooth_view(view, method=NonNegative())
    with pytest.raises(InvalidArgument, match="means are not whole numbers"):
        smooth_view(release.rolling(3), method=NonNegative(keep_total=False, whole=True))
    signed = records(tmp_path / "b", "signed")
    for view, method in ((signed.running_total(), Growing()), (signed.each_period(), NonNegative())):
        with pytest.raises(InvalidArgument, match="may be negative"):
            smooth_view(view, method=method)
    check(signed.each_period(), smooth_view(signed.each_period(), method=RandomWalk(50.0)))
    with pytest.raises(InvalidArgument, match="not even on both sides"):
        smooth_view(smooth_view(release.each_period(), method=NonNegative()), method=NonNegative())

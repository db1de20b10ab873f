"""What is read off a release for nothing: tables, running and rolling, longer periods, quantiles."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from tests.series.releases import BERLIN, EDGES, Silent, crowd, made, night, three_days, values

import chronodp as cdp
from chronodp.errors import InvalidArgument


def test_tables_have_times_groups_and_bins(ledger: cdp.Ledger) -> None:
    plain = made(night().count().plan(epsilon=1.0), ledger).to_pandas()
    assert list(plain.columns) == ["time", "value", "lower", "upper"]
    assert str(plain["time"].dtype) == f"datetime64[us, {BERLIN}]"
    assert [time.isoformat() for time in plain["time"][2:4]] == [
        "2026-10-25T02:00:00+02:00",
        "2026-10-25T02:00:00+01:00",
    ]
    assert (plain[["value", "lower", "upper"]].dtypes == np.float64).all()
    query = night().histogram("kwh", edges=EDGES).by(region=["north", "south"], who=["ann", 7], max_groups=4)
    release = made(query.plan(epsilon=1.0), ledger, "bins")
    table = release.to_pandas()
    assert list(table.columns) == ["time", "region", "who", "bin_low", "bin_high", "value", "lower", "upper"]
    assert len(table) == 25 * 2 * 2 * 3
    assert table["region"][:12].tolist() == ["north"] * 6 + ["south"] * 6
    assert table["who"][:6].tolist() == ["ann"] * 3 + ["7"] * 3
    assert table["bin_low"][:4].tolist() == [0.0, 1.0, 2.0, 0.0]
    assert table["bin_high"][:4].tolist() == [1.0, 2.0, 4.0, 1.0]
    arrow = release.to_arrow()
    assert arrow.column_names == list(table.columns)
    assert arrow.schema.field("time").type == pyarrow.timestamp("us", tz=BERLIN)
    assert arrow.schema.field("value").type == pyarrow.float64()
    region = arrow.schema.field("region").type
    assert pyarrow.types.is_string(region) or pyarrow.types.is_large_string(region)
    assert arrow.column("value").to_pylist() == table["value"].tolist()
    median = release.quantile(0.5).to_pandas()
    assert list(median.columns) == ["time", "region", "who", "value", "lower", "upper"]
    assert len(median) == 25 * 4
    numbered = cdp.Aggregate([1.0, 2.0, 3.0], change=1.0, unit=cdp.User(), max_periods=2)
    table = made(numbered.plan(epsilon=1.0), ledger, "numbered").to_pandas()
    assert list(table.columns) == ["period", "value", "lower", "upper"]
    assert table["period"].tolist() == [0, 1, 2]
    assert (table["lower"] < table["value"]).all()
    assert (table["value"] < table["upper"]).all()


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.slow
def test_running_rolling_and_resampled_are_numpys(delta: float, ledger: cdp.Ledger) -> None:
    query = three_days().sum("kwh", clip=(0.0, 4.0)).by(region=["north", "south"])
    release = made(query.plan(epsilon=1.0, delta=delta), ledger)
    numbers = values(release, 2)
    days = np.array([0, 24, 49])  # the second day has 25 hours
    starts = release.to_pandas()["time"].to_numpy()[::2]
    views = {
        "running totals": (release.running_total(), np.cumsum(numbers, axis=0), starts),
        "rolling means over 5 periods": (
            release.rolling(5),
            sliding_window_view(numbers, 5, axis=0).mean(axis=-1),
            starts[4:],
        ),
        "added up to periods of 1D": (release.resample("1D"), np.add.reduceat(numbers, days), starts[days]),
    }
    for step, (view, expected, times) in views.items():
        assert values(view, 2) == pytest.approx(expected, rel=1e-12, abs=1e-9)
        table = view.to_pandas()
        assert np.array_equal(table["time"].to_numpy()[::2], times)
        assert (table["upper"] - table["value"]).to_numpy() == pytest.approx(
            (table["value"] - table["lower"]).to_numpy(), rel=1e-9
        )
        assert view.certificate == release.certificate.after(step)
        assert view.certificate.guarantee == release.certificate.guarantee
        assert len(view.plot().data) > 0
    assert values(release.rolling(1), 2) == pytest.approx(numbers, rel=1e-12)
    assert values(release.rolling(73), 2) == pytest.approx(numbers.mean(axis=0)[None, :], rel=1e-12)
    assert values(release.resample("3D"), 2) == pytest.approx(numbers.sum(axis=0)[None, :], rel=1e-12)
    assert len(values(release.resample("2D"), 2)) == 1  # the third day fills no two
    assert values(release.each_period(), 2) == pytest.approx(numbers)
    widths = {level: release.to_pandas(level=level) for level in (0.5, 0.95, 0.999)}
    for low, high in ((0.5, 0.95), (0.95, 0.999)):
        assert (widths[low]["upper"] < widths[high]["upper"]).all()


@pytest.mark.slow
def test_means_over_longer_periods_are_means_over_everyone(ledger: cdp.Ledger) -> None:
    table = crowd()
    totals = table.assign(day=table["at"].dt.strftime("%Y-%m-%d"))  # one reading an hour at most, on the hour
    query = three_days().mean("kwh", clip=(0.0, 4.0), of="totals")
    release = made(query.plan(epsilon=1.0), ledger, entropy=Silent())
    expected = totals.groupby("day")["kwh"].mean().to_numpy()
    assert values(release.resample("1D"))[:, 0] == pytest.approx(expected, abs=1e-6)
    per_hour = totals.groupby("at")["kwh"].agg(["sum", "count"])
    window = per_hour.rolling(4).sum().dropna()
    assert values(release.rolling(4))[:, 0] == pytest.approx((window["sum"] / window["count"]).to_numpy(), abs=1e-6)
    panel = three_days(unit=cdp.User("replace")).mean("kwh", clip=(0.0, 4.0), people=30, of="totals")
    over_all = made(panel.plan(epsilon=1.0), ledger, "panel", dataset="panel", entropy=Silent())
    daily = totals.groupby("day")["kwh"].sum() / 30 / np.array([24, 25, 24])
    assert values(over_all.resample("1D"))[:, 0] == pytest.approx(daily.to_numpy(), abs=1e-6)


@pytest.mark.slow
def test_variances_over_longer_periods_are_of_everyones_totals_together(ledger: cdp.Ledger) -> None:
    table = crowd()
    totals = table.assign(day=table["at"].dt.strftime("%Y-%m-%d"))
    release = made(three_days().variance("kwh", clip=(0.0, 4.0)).plan(epsilon=1.0), ledger, entropy=Silent())
    expected = totals.groupby("day")["kwh"].var(ddof=0).to_numpy()
    assert values(release.resample("1D"))[:, 0] == pytest.approx(expected, abs=1e-5)
    hours = sorted(totals["at"].unique())
    window = totals[totals["at"].isin(hours[-4:])]["kwh"].var(ddof=0)
    assert values(release.rolling(4))[-1, 0] == pytest.approx(window, abs=1e-5)
    assert release.rolling(4).title.startswith("over 4 periods taken together, the variance of kwh over the people")


@pytest.mark.slow
def test_quantiles_of_a_histogram(ledger: cdp.Ledger) -> None:
    edges = np.linspace(0.0, 4.0, 41)
    query = three_days(every="1D", max_periods=3).histogram("kwh", edges=edges.tolist(), at_most=40)
    release = made(query.plan(epsilon=1.0), ledger, entropy=Silent())
    table = crowd()
    for q in (0.1, 0.5, 0.9):
        view = release.quantile(q, every="3D")
        counts = values(release, 40).sum(axis=0)
        share = np.concatenate(([0.0], np.cumsum(counts))) / counts.sum()
        assert values(view)[0, 0] == pytest.approx(float(np.interp(q, share, edges)), abs=1e-9)
        found = view.to_pandas()
        assert found["lower"][0] <= found["value"][0] <= found["upper"][0]
        assert values(view)[0, 0] == pytest.approx(float(table["kwh"].quantile(q)), abs=0.3)
        assert view.certificate.processing == (f"quantile {q:g} of the histogram",)
    assert len(release.quantile(0.5).to_pandas()) == 3


REFUSED: dict[str, tuple[Callable[[dict[str, cdp.Release]], object], str]] = {
    "running total of a mean": (lambda made: made["mean"].running_total(), "release must be a count, a sum or totals"),
    "running total of a variance": (lambda made: made["variance"].running_total(), "running totals of variances say n"),
    "filter of a variance": (lambda made: made["variance"].ewm(0.5), "got 'a variance over the people present'"),
    "quantile of a variance": (lambda made: made["variance"].quantile(0.5), "release must be a histogram"),
    "running total of a panel": (lambda made: made["panel"].running_total(), "release must be a count"),
    "quantile of a sum": (lambda made: made["sum"].quantile(0.5), "release must be a histogram"),
    "quantile of a mean": (lambda made: made["mean"].quantile(0.5), "release must be a histogram"),
    "quantile 0": (lambda made: made["bins"].quantile(0.0), "q must be a number strictly between 0 and 1"),
    "quantile 1": (lambda made: made["bins"].quantile(1), "q must be a number strictly between 0 and 1"),
    "quantile nan": (lambda made: made["bins"].quantile(math.nan), "q must be a number strictly between 0 and 1"),
    "resampled without dates": (lambda made: made["numbered"].resample("1D"), "every must be used only where periods"),
    "resampled to shorter": (lambda made: made["sum"].resample("30min"), "every must be a period that periods of 1h"),
    "resampled to longer": (lambda made: made["sum"].resample("1W"), "every must be no longer than the series"),
    "resampled to nothing": (lambda made: made["sum"].resample("1 day"), "every must be a period such as"),
    "quantile of nothing": (lambda made: made["bins"].quantile(0.5, every="x"), "every must be a period such as"),
    "rolling 0": (lambda made: made["sum"].rolling(0), "n must be a whole number from 1 to 25"),
    "rolling beyond": (lambda made: made["sum"].rolling(26), "n must be a whole number from 1 to 25"),
    "rolling half": (lambda made: made["sum"].rolling(2.5), "n must be a whole number from 1 to 25"),  # type: ignore[arg-type]
}


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, cdp.Release]]:
    with cdp.Ledger(tmp_path_factory.mktemp("ledger") / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=100.0)
        ledger.open("panel", unit=cdp.User("replace"), epsilon=100.0)
        series, clip = night(), (0.0, 4.0)
        panel = night(unit=cdp.User("replace")).mean("kwh", clip=clip, people=3, of="totals").plan(epsilon=1.0)
        numbered = cdp.Aggregate([1.0, 2.0], change=1.0, unit=cdp.User(), max_periods=2).plan(epsilon=1.0)
        yield {
            "sum": made(series.sum("kwh", clip=clip).plan(epsilon=1.0), ledger, "sum"),
            "mean": made(series.mean("kwh", clip=clip, of="totals").plan(epsilon=1.0), ledger, "mean"),
            "mean of rows": made(series.mean("kwh", clip=clip, of="people").plan(epsilon=1.0), ledger, "mean of rows"),
            "variance": made(series.variance("kwh", clip=clip).plan(epsilon=1.0), ledger, "variance"),
            "bins": made(series.histogram("kwh", edges=EDGES).plan(epsilon=1.0), ledger, "bins"),
            "panel": made(panel, ledger, "panel", dataset="panel"),
            "numbered": made(numbered, ledger, "numbered"),
        }


def test_what_a_release_cannot_tell_is_refused(several: dict[str, cdp.Release], subtests: pytest.Subtests) -> None:
    for name, (ask, said) in REFUSED.items():
        with subtests.test(name=name), pytest.raises(InvalidArgument, match=re.escape(said)):
            ask(several)


def test_levels_lie_between_0_and_1(several: dict[str, cdp.Release], subtests: pytest.Subtests) -> None:
    release, plan = several["sum"], night().count().plan(epsilon=1.0)
    asks: list[Callable[[Any], object]] = [
        lambda level: release.to_pandas(level=level),
        lambda level: release.to_arrow(level=level),
        lambda level: release.running_total(level=level),
        lambda level: release.rolling(3, level=level),
        lambda level: release.resample("5h", level=level),
        lambda level: several["bins"].quantile(0.5, level=level),
        plan.half_width,
    ]
    for level in (0, 1, -0.5, 2.0, math.nan, math.inf, "0.9", None, True):
        for number, ask in enumerate(asks):
            with subtests.test(level=level, number=number), pytest.raises(InvalidArgument, match="level must be a num"):
                ask(level)

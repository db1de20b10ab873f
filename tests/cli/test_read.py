"""Reading a saved release on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import chronodp as cdp
from chronodp.postprocess import Growing, Method, NonNegative, RandomWalk
from chronodp.series import ReadingRequest, View, read_view, smooth_view
from tests.cli.conftest import run
from tests.series.readings.towns import released, town

MONTH = ("2026-01-05", "2026-02-08")


@pytest.fixture(autouse=True)
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    releases = released()
    for name in ("laplace", "another", "gaussian", "mean"):
        releases[name].save(f"{name}.json")
    releases["numbered"].save("numbered.json")
    return tmp_path


@pytest.mark.slow
def test_shares_ratios_and_changes_are_those_of_views() -> None:
    release = released()["gaussian"]
    asked = {
        ("--resample", "1W", "--share"): release.resample("1W").share(),
        ("--at", "county=a", "--ratio-at", "county=b"): release.at(county="a").ratio(release.at(county="b")),
        ("--over-all", "--change", *MONTH, "--match", "weekday", "--statistic", "median"): release.over().change(
            baseline=("2026-01-05", "2026-02-08"), match="weekday", statistic="median"
        ),
        ("--over", "county", "--rolling", "7", "--change", "2026-01-12", MONTH[1], "--scale", "index"): release.over()
        .rolling(7)
        .change(baseline=("2026-01-12", "2026-02-08"), scale="index"),
        ("--running-total", "--share", "--simultaneous", "--level", "0.9"): release.running_total().share(
            level=0.9, simultaneous=True
        ),
        ("--publish-relative", "0.5"): release.publish(relative=0.5),
    }
    for options, view in asked.items():
        told = json.loads(run("read", "gaussian.json", *options, "--json"))
        table = view.to_pandas()
        assert [row["value"] for row in told["series"]] == pytest.approx(
            [None if pd.isna(value) else value for value in table["value"]]
        )
        assert told["steps"][-1].split(" of ")[0] == view.certificate.processing[-1].split(" of ")[0]
        assert told["note"] == view.note
    text = run("read", "gaussian.json", "--share", "--publish-points", "0.05")
    assert "share of count of people" in text
    assert "Step: published where the chance of being more than 0.05 off is at most 5 %" in text
    assert "unreliable" in text


@pytest.mark.slow
def test_tables_and_a_page_are_written(saved: Path) -> None:
    run(
        "read", "laplace.json", "--ratio-to", "another.json", "--out", "r.csv", "--out", "r.parquet", "--page", "r.html"
    )
    table = pd.read_csv("r.csv")
    assert list(table.columns[-5:]) == ["kind", "not_above", "not_below", "why", "covers"]
    assert pd.read_parquet("r.parquet")["kind"].tolist() == table["kind"].tolist()
    page = (saved / "r.html").read_text(encoding="utf-8")
    assert "divided by count of people, of the release &#x27;another&#x27;" in page or "of the release" in page


@pytest.mark.slow
def test_parts_of_a_release_together(saved: Path, refuse: Callable[..., str]) -> None:
    everybody = town().count().by(county=["a", "b"])
    some = town(where="purpose = 'shop'").count().by(county=["a", "b"])
    with cdp.Ledger(saved / "budget.db") as ledger:
        ledger.open("town", unit=cdp.UserPeriod("1D"), epsilon=4.0, delta=1e-6)
        together = cdp.plan_together({"shop": some, "all": everybody}, epsilon=4.0)
        made = together.release(ledger, dataset="town", request="both", progress=lambda _: None)
    made.save("both.json")
    ratio = made["shop"].ratio(made["all"], within=(0, 1))  # type: ignore[union-attr]
    told = json.loads(run("read", "both.json", "--part", "shop", "--ratio-to", "all", "--within", "0", "1", "--json"))
    assert [row["value"] for row in told["series"]] == pytest.approx(ratio.to_pandas()["value"].tolist())
    assert ratio.to_pandas().query("county == 'a'")["value"].mean() == pytest.approx(0.4, abs=0.05)
    assert "of the release" not in ratio.certificate.processing[-1]
    assert "part must be one of all, shop" in refuse("read", "both.json", "--share")


def test_what_cannot_be_read_is_refused(refuse: Callable[..., str]) -> None:
    assert "left out beside share" in refuse("read", "laplace.json", "--share", "--change", "2026-01-05", "2026-02-08")
    assert "a grouping and its key" in refuse("read", "laplace.json", "--at", "county")
    assert "one of its keys" in refuse("read", "laplace.json", "--at", "county=z")
    assert "a file that is there" in refuse("read", "laplace.json", "--ratio-to", "none.json")
    assert "ends in .csv or .parquet" in refuse("read", "laplace.json", "--share", "--out", "r.txt")
    assert "'weekday' or None" in refuse(
        "read", "laplace.json", "--change", "2026-01-05", "2026-02-08", "--match", "month"
    )
    assert "plan_together" in refuse("read", "mean.json", "--share")
    assert "at must be one key of a grouping" in refuse("read", "laplace.json", "--at", "county=a", "--at", "county=b")
    assert "ratio_at must be a grouping" in refuse("read", "laplace.json", "--ratio-at", "county")
    assert "left out beside over_all" in refuse("read", "laplace.json", "--over", "county", "--over-all")
    assert "ratio-to must be another saved release" in refuse("read", "laplace.json", "--ratio-to", "shop")
    for option in (("--statistic", "median"), ("--scale", "index")):
        assert f"{option[0][2:]} must be used with a change" in refuse("read", "laplace.json", *option)
    assert "coverage must be used with a rule" in refuse("read", "laplace.json", "--coverage", "each")
    assert "used with a share, a ratio or a change" in refuse("read", "laplace.json", "--simultaneous")


def test_smoothing_is_that_of_views(refuse: Callable[..., str]) -> None:
    release = released()["laplace"]
    asked: dict[tuple[str, ...], tuple[View, Method]] = {
        ("--over-all", "--smooth", "nonnegative:whole"): (release.over(), NonNegative(whole=True)),
        ("--running-total", "--smooth", "growing"): (read_view(release, ReadingRequest(running_total=True)), Growing()),
        ("--smooth", "walk"): (read_view(release, ReadingRequest()), RandomWalk()),
    }
    for options, (view, method) in asked.items():
        told = json.loads(run("read", "laplace.json", *options, "--json"))
        smoothed = smooth_view(view, method=method)
        assert [row["value"] for row in told["series"]] == pytest.approx(smoothed.to_pandas()["value"].tolist())
        assert told["steps"] == list(smoothed.certificate.processing)
    assert "smooth must be one of nonnegative" in refuse("read", "laplace.json", "--smooth", "spline")
    assert "smooth must be left out with ratios" in refuse("read", "laplace.json", "--smooth", "walk", "--share")
    assert "smooth must be used on release.running_total()" in refuse("read", "laplace.json", "--smooth", "growing")

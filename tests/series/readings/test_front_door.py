"""Sums, ratios, shares, changes and what is published: what they come to, what stays exact, and what is refused."""

from __future__ import annotations

import contextlib
import datetime as dt
import itertools
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pytest
from numpy.typing import NDArray
from tests.conftest import SCALE
from tests.series.readings.towns import DAYS, END, START, released, rows_of, visits

import chronodp as cdp
from chronodp.errors import InvalidArgument
from chronodp.postprocess import NonNegative, quantiles
from chronodp.series import View, smooth_view

NOISES = ("laplace", "tree", "gaussian", "shaped")
BASELINE = ("2026-01-05", "2026-02-08")
CHANGES = [  # all at stated counts, otherwise every two of them together
    (noise, (None, "weekday")[match], ("mean", "median")[statistic])
    for place, noise in enumerate(NOISES)
    for match, statistic in itertools.product((0, 1), (0, 1))
    if SCALE >= 1 or (place + match + statistic) % 2 == 0
]


@pytest.fixture(scope="module")
def town() -> dict[str, cdp.Release]:
    return released()


def numbers(view: View | cdp.Release, name: str = "value", columns: int = 3) -> NDArray[np.float64]:
    found: NDArray[np.float64] = view.to_pandas()[name].to_numpy(dtype=np.float64).reshape(-1, columns)
    return found


def test_every_law_and_shape_is_here(town: dict[str, cdp.Release]) -> None:
    designs = {name: town[name].design for name in NOISES}
    assert [designs[name].law for name in NOISES] == ["laplace", "laplace", "gaussian", "gaussian"]
    assert "tree" in str(designs["tree"].shape)
    assert str(designs["shaped"].shape) != "white noise"


@pytest.mark.parametrize("name", NOISES)
def test_sums_over_groups_and_their_parts(name: str, town: dict[str, cdp.Release]) -> None:
    release = town[name]
    each = numbers(release)
    assert numbers(release.over(), columns=1)[:, 0] == pytest.approx(each.sum(axis=1), rel=1e-12)
    assert numbers(release.over("county"), columns=1) == pytest.approx(numbers(release.over(), columns=1))
    assert numbers(release.at(county="b"), columns=1)[:, 0] == pytest.approx(each[:, 1], rel=1e-12)
    less = release.at(county="a") - release.at(county="c")
    more = release.at(county="a") + release.at(county="c")
    assert numbers(less, columns=1)[:, 0] == pytest.approx(each[:, 0] - each[:, 2], rel=1e-9)
    assert numbers(more, columns=1)[:, 0] == pytest.approx(each[:, 0] + each[:, 2], rel=1e-9)
    # Groups have noise of their own: sums and differences of two are as wide.
    assert numbers(less, "upper", 1) - numbers(less, columns=1) == pytest.approx(
        numbers(more, "upper", 1) - numbers(more, columns=1)
    )
    assert release.at(county="a").certificate.processing[-1] == "of county a"
    assert release.over().certificate.guarantee == release.certificate.guarantee
    doubled = 2 * release.over()
    assert numbers(doubled, "lower", 1) == pytest.approx(2 * numbers(release.over(), "lower", 1))
    nothing = release - release
    assert not numbers(nothing).any()
    assert not (numbers(nothing, "upper") - numbers(nothing, "lower")).any()


@pytest.mark.parametrize("name", NOISES)
def test_steps_on_views_are_those_on_releases(name: str, town: dict[str, cdp.Release]) -> None:
    release = town[name]
    pairs: list[tuple[View, View]] = [
        (release.each_period().resample("1W"), release.resample("1W")),
        (release.each_period().rolling(7), release.rolling(7)),
        (release.each_period().running_total(), release.running_total()),
        (release.at(county="a").rolling(7), release.rolling(7).at(county="a")),
        (release.resample("1W").over().rolling(2), release.over().resample("1W").rolling(2)),
        (release.resample("1W").resample("2W"), release.resample("2W")),
    ]
    for one, other in pairs:
        left, right = one.to_pandas(), other.to_pandas()
        assert left["time"].tolist() == right["time"].tolist()
        assert left["value"].to_numpy() == pytest.approx(right["value"].to_numpy(), rel=1e-9)
        widths = [(frame["upper"] - frame["value"]).to_numpy() for frame in (left, right)]
        # Trees: a release knows that few draws make its windows, a view only how much they vary.
        rough = 0.3 if name == "tree" else 1e-6
        assert widths[0] == pytest.approx(widths[1], rel=rough)


@pytest.mark.parametrize("name", NOISES)
def test_a_reading_over_itself_is_exactly_1(name: str, town: dict[str, cdp.Release]) -> None:
    release = town[name]
    for view in (
        release.ratio(release),
        release.ratio(cdp.Release(release.text, release.signed)),
        release.over().ratio(release.over()),
        release.rolling(7).ratio(release.rolling(7)),
        (release.at(county="a") + release.at(county="b")).ratio(release.at(county="b") + release.at(county="a")),
    ):
        table = view.to_pandas()
        assert (table[["value", "lower", "upper"]] == 1.0).all().all()
        assert (table["kind"] == "interval").all()


@pytest.mark.parametrize("name", NOISES)
def test_an_index_is_exactly_100_at_its_base(name: str, town: dict[str, cdp.Release]) -> None:
    view = town[name].change(baseline=("2026-01-05", "2026-01-05"), scale="index")
    base = view.to_pandas().iloc[4 * 3 : 5 * 3]
    assert (base[["value", "lower", "upper"]] == 100.0).all().all()
    percent = town[name].over().change(baseline=("2026-01-05", "2026-01-05")).to_pandas().iloc[4]
    assert (percent["value"], percent["lower"], percent["upper"]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("name", NOISES)
def test_shares_and_ratios_have_fiellers_sets(name: str, town: dict[str, cdp.Release]) -> None:
    release = town[name]
    each = numbers(release)
    shares = release.share().to_pandas()
    told = shares["value"].to_numpy().reshape(-1, 3)
    inside = np.clip(each / each.sum(axis=1, keepdims=True), 0, 1)
    assert told == pytest.approx(inside, rel=1e-9)
    assert (shares["lower"] >= 0).all()
    assert (shares["upper"] <= 1).all()
    few = release.at(county="a").ratio(release.at(county="c")).to_pandas()
    unknown, contradicted = few["kind"].isin(["outside", "line"]), few["kind"] == "empty"
    assert few.loc[unknown | contradicted, "value"].isna().all()
    assert (few.loc[unknown, "why"] == "denominator near 0").all()
    assert (few.loc[contradicted, "why"] == "noise contradicts the public range").all()
    assert contradicted.mean() <= 0.2
    assert few.loc[few["kind"] == "interval", "why"].isna().all()
    assert (few["lower"] >= 0).all()  # counts are never negative
    if release.design.law == "gaussian":
        # The quadratic itself, at a row far from 0.
        z = float(quantiles("gaussian", [1.0], 0.95)[0])
        variance = release.each_period().made.linear.variance()[-1, 0]  # type: ignore[union-attr]
        n, d = each[-1, 0], each[-1, 1]
        row = release.at(county="a").ratio(release.at(county="b")).to_pandas().iloc[-1]
        for end in (row["lower"], row["upper"]):
            assert (n - end * d) ** 2 == pytest.approx(z**2 * variance * (1 + end**2), rel=1e-6)


def test_denominators_of_fewer_groups(town: dict[str, cdp.Release]) -> None:
    kinds = town["kinds"]
    wide = numbers(kinds, columns=6).reshape(-1, 3, 2)
    view = kinds.ratio(kinds.over("purpose"), within=(0, 1))
    by_county = np.clip(wide / wide.sum(axis=2, keepdims=True), 0, 1)
    found = view.to_pandas()
    known = found["value"].notna().to_numpy()
    assert found["value"].to_numpy()[known] == pytest.approx(by_county.ravel()[known], rel=1e-9)
    assert list(found.columns[:3]) == ["time", "county", "purpose"]
    both = town["laplace"].ratio(town["another"])  # other noise: independent
    assert len(both.to_pandas()) == 3 * DAYS
    assert both.certificate.processing[-1] == "divided by count of people, of the release 'another'"


@pytest.mark.slow
def test_changes_against_a_baseline(town: dict[str, cdp.Release], subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Any, Any]] = [*CHANGES]
    for name, match, statistic in cases:
        with subtests.test(name=name, match=match, statistic=statistic):
            release = town[name].over()
            each = numbers(release, columns=1)[:, 0]
            weeks = np.arange(4, 39)
            rule = np.mean if statistic == "mean" else np.median
            expected = [
                100 * (each[day] / rule(each[weeks if match is None else weeks[weeks % 7 == day % 7]]) - 1)
                for day in range(DAYS)
            ]
            view = release.change(baseline=BASELINE, match=match, statistic=statistic)
            table = view.to_pandas()
            assert table["value"].to_numpy() == pytest.approx(np.array(expected), rel=1e-9, abs=1e-9)
            assert (table["lower"] < table["value"]).all()
            assert (table["value"] < table["upper"]).all()
            assert view.label == "% change"
            assert "2026-01-05 to 2026-02-08" in view.certificate.processing[-1]
            index = release.change(baseline=BASELINE, match=match, statistic=statistic, scale="index").to_pandas()
            assert index["lower"].to_numpy() == pytest.approx(table["lower"].to_numpy() + 100)
            dated = release.change(
                baseline=(dt.date(2026, 1, 5), dt.date(2026, 2, 8)), match=match, statistic=statistic
            ).to_pandas()
            assert dated["value"].tolist() == table["value"].tolist()


@pytest.mark.slow
def test_levels_and_bands_of_all_at_once(town: dict[str, cdp.Release]) -> None:
    for name in NOISES:
        release = town[name]
        narrow, wide = release.share(level=0.8).to_pandas(), release.share(level=0.99).to_pandas()
        assert (narrow["upper"] <= wide["upper"]).all()
        assert (narrow["lower"] >= wide["lower"]).all()
        band = release.share(simultaneous=True)
        assert (band.to_pandas()["upper"] >= release.share().to_pandas()["upper"]).all()
        assert "all of them at once" in band.note
    count = 3 * DAYS
    exact = town["gaussian"].share(level=0.95 ** (1 / count)).to_pandas()
    assert town["gaussian"].share(simultaneous=True).to_pandas()["upper"].tolist() == pytest.approx(
        exact["upper"].tolist()
    )


def test_means_are_pooled_and_their_ratios_refused(town: dict[str, cdp.Release]) -> None:
    mean = town["mean"]
    over = mean.over().to_pandas()
    each = mean.to_pandas()
    assert len(over) == DAYS
    assert (over["upper"] - over["lower"]).mean() < (each["upper"] - each["lower"]).mean()
    assert over["value"].mean() == pytest.approx(2.0, abs=0.1)
    assert len(mean.at(county="a").rolling(7).to_pandas()) == DAYS - 6
    weekly = mean.over().resample("1W").to_pandas()
    assert len(weekly) == DAYS // 7
    asked: list[Callable[[], object]] = [
        lambda: mean.ratio(mean), mean.share, lambda: mean.change(baseline=BASELINE), lambda: mean - mean,
    ]  # fmt: skip
    for ask in asked:
        with pytest.raises(InvalidArgument, match="plan_together"):
            ask()


def test_shares_of_a_histogram_are_of_all_bins(town: dict[str, cdp.Release]) -> None:
    table = town["bins"].share().to_pandas()
    sums = table["value"].to_numpy().reshape(-1, 3).sum(axis=1)
    assert sums == pytest.approx(np.ones(DAYS), abs=0.02)
    assert list(table.columns[:3]) == ["time", "bin_low", "bin_high"]


def test_smoothing_knows_what_was_made(town: dict[str, cdp.Release]) -> None:
    release = town["laplace"]
    assert (smooth_view(release.over(), method=NonNegative()).to_pandas()["lower"] >= 0).all()
    with pytest.raises(InvalidArgument, match="may be negative"):
        smooth_view(release.at(county="a") - release.at(county="b"), method=NonNegative())
    with pytest.raises(InvalidArgument, match="come last"):
        smooth_view(release.share(), method=NonNegative())
    smoothed = smooth_view(release.each_period(), method=NonNegative())
    with pytest.raises(InvalidArgument, match="as they were released"):
        smoothed.over()


def test_an_empty_table_of_found_keys(town: dict[str, cdp.Release]) -> None:
    import dataclasses

    from chronodp.engines import Grouping
    from chronodp.series.plain import Numbers

    laplace = town["laplace"]
    nobody = dataclasses.replace(laplace.design.table, groupings=(Grouping("county", (), found=True),))
    design = dataclasses.replace(laplace.design, table=nobody)
    view = Numbers(design, (np.zeros((DAYS, 0)),), laplace.certificate, "none", "none").operand()
    for empty in (
        view.ratio(view),
        view.share(),
        view.change(baseline=BASELINE),
        view.change(baseline=BASELINE, statistic="median", match="weekday"),
        view.rolling(7),
        view.resample("1W"),
    ):
        assert len(empty.to_pandas()) == 0
        assert "No key of county had enough" in empty.note
        empty.plot()
    assert len(view.ratio(view).publish(relative=0.2).to_pandas()) == 0
    with pytest.raises(InvalidArgument, match="none was found"):
        view.at(county="a")


Ask = Callable[[dict[str, cdp.Release]], object]

REFUSED: dict[str, tuple[Ask, str]] = {
    "ratio of a ratio": (lambda r: r["laplace"].share().ratio(r["laplace"]), "the ratio of sums has an exact interval"),
    "ratio over a ratio": (lambda r: r["laplace"].ratio(r["laplace"].share()), "the ratio of sums has an exact"),
    "sum of ratios": (lambda r: r["laplace"].share().over(), "the ratio of sums has an exact interval"),
    "rolling of ratios": (lambda r: r["laplace"].share().rolling(7), "the ratio of sums has an exact interval"),
    "weekly ratios": (lambda r: r["laplace"].share().resample("1W"), "the ratio of sums has an exact interval"),
    "total of changes": (lambda r: r["laplace"].change(baseline=BASELINE).running_total(), "asked before the ratio"),
    "difference of ratios": (lambda r: r["laplace"].share() - r["laplace"].share(), "asked before the ratio"),
    "ratio of nothing": (lambda r: r["laplace"].ratio(3.0), "other must be a release, or a view"),
    "sum with a number": (lambda r: r["laplace"] + 3, "must be a release, or a view"),
    "times a view": (lambda r: r["laplace"].over() * r["laplace"], "a finite number above 0"),  # type: ignore[operator]
    "times too much": (lambda r: r["laplace"].over() * 10**400, "from 1e-60 to 1e+60"),
    "times much": (lambda r: r["laplace"].over() * 1e308, "from 1e-60 to 1e+60"),
    "a flag in words": (lambda r: r["laplace"].share(simultaneous="no"), "simultaneous must be True or False"),  # type: ignore[arg-type]
    "a flag of a release": (lambda r: r["laplace"].rolling(7, simultaneous=1), "simultaneous must be True or False"),  # type: ignore[arg-type]
    "a page nowhere": (lambda r: r["laplace"].over().report(None), "path must be a file in a folder"),  # type: ignore[arg-type]
    "saved nowhere": (lambda r: r["laplace"].save(None), "path must be where a file stands"),  # type: ignore[arg-type]
    "loaded from a number": (lambda _: cdp.Release.load(3), "path must be where a file stands"),  # type: ignore[arg-type]
    "loaded from half a name": (lambda _: cdp.Release.load("a\x00b"), "path must be where a file stands"),
    "times 0": (lambda r: r["laplace"].over() * 0, "a finite number above 0"),
    "ratio over other groups": (lambda r: r["laplace"].over().ratio(r["laplace"]), "summed out by over('county')"),
    "difference of other groups": (lambda r: r["laplace"] - r["laplace"].over(), "of the same groups, by county"),
    "ratio over fewer keys": (lambda r: r["laplace"].ratio(r["elsewhere"]), "of all keys of county: it lacks 'c'"),
    "other calendar": (lambda r: r["laplace"].ratio(r["shorter"]), "of the same rows, dated alike"),
    "no calendar": (lambda r: r["laplace"].over().ratio(r["numbered"]), "one has dates, the other has none"),
    "rolling over single": (lambda r: r["laplace"].rolling(7).ratio(r["laplace"]), "of the same rows, dated alike"),
    "unknown grouping": (lambda r: r["laplace"].over("state"), "grouping must be one of county"),
    "grouping that is none": (lambda r: r["laplace"].over(3), "must be names of groupings"),  # type: ignore[arg-type]
    "unknown column": (lambda r: r["laplace"].at(state="a"), "grouping must be one of county"),
    "unknown key": (lambda r: r["laplace"].at(county="z"), "county must be one of its keys: a, b, c"),
    "no key": (lambda r: r["laplace"].at(), "key must be one or more of county"),
    "within upside down": (lambda r: r["laplace"].ratio(r["laplace"], within=(1, 0)), "low < high"),
    "within alone": (lambda r: r["laplace"].ratio(r["laplace"], within=1), "a pair"),  # type: ignore[arg-type]
    "share of signed": (lambda r: r["signed"].share(), "never negative"),
    "share of one": (lambda r: r["laplace"].over().share(), "of one alone the share is 1"),
    "baseline before": (lambda r: r["laplace"].change(baseline=("2025-12-01", "2026-02-01")), "inside what is shown"),
    "baseline after": (lambda r: r["laplace"].change(baseline=("2026-01-01", "2026-03-12")), "inside what is shown"),
    "baseline backwards": (lambda r: r["laplace"].change(baseline=("2026-02-01", "2026-01-01")), "not after its last"),
    "baseline of one": (lambda r: r["laplace"].change(baseline="2026-01-01"), "a pair (first, last)"),  # type: ignore[arg-type]
    "baseline of words": (lambda r: r["laplace"].change(baseline=("then", "now")), "a date or time such as"),
    "baseline too short": (
        lambda r: r["laplace"].change(baseline=("2026-01-05", "2026-01-08"), match="weekday"),
        "long enough for every weekday",
    ),
    "weekdays of weeks": (
        lambda r: r["laplace"].resample("1W").change(baseline=BASELINE, match="weekday"),
        "resample('1D') first",
    ),
    "weekdays of numbers": (lambda r: r["numbered"].change(baseline=(0, 1), match="weekday"), "None where periods"),
    "numbers beyond": (lambda r: r["numbered"].change(baseline=(0, 9)), "periods from 0 to 3"),
    "dates of numbers": (lambda r: r["numbered"].change(baseline=BASELINE), "a pair (first, last)"),
    "other match": (lambda r: r["laplace"].change(baseline=BASELINE, match="month"), "'weekday' or None"),  # type: ignore[arg-type]
    "other statistic": (lambda r: r["laplace"].change(baseline=BASELINE, statistic="mode"), "'mean' or 'median'"),  # type: ignore[arg-type]
    "other scale": (lambda r: r["laplace"].change(baseline=BASELINE, scale="log"), "'percent' or 'index'"),  # type: ignore[arg-type]
    "level 1": (lambda r: r["laplace"].share(level=1.0), "level must be a number strictly between 0 and 1"),
    "filter first": (lambda r: View.over(r["laplace"].ewm(0.5)), "smooth, filter and publish last"),
    "total of totals": (lambda r: r["laplace"].rolling(7).running_total(), "running_total() first"),
    "weeks of totals": (lambda r: r["laplace"].running_total().resample("1W"), "resample, then rolling means"),
    "variance over others": (lambda r: r["variance"].ratio(r["variance"]), "is a ratio already"),
    "no rule": (lambda r: r["laplace"].publish(), "relative must be given"),
    "two rules": (lambda r: r["laplace"].publish(relative=0.2, points=3), "relative must be given"),
    "relative with chance": (lambda r: r["laplace"].publish(relative=0.2, chance=0.1), "chance must be left out"),
    "relative 0": (lambda r: r["laplace"].publish(relative=0), "relative must be"),
    "points of words": (lambda r: r["laplace"].publish(points="ten"), "points must be"),  # type: ignore[arg-type]
    "chance 1": (lambda r: r["laplace"].publish(points=10, chance=1), "chance must be"),
    "other coverage": (lambda r: r["laplace"].publish(relative=1, coverage="all"), "'published', 'each' or 'given'"),  # type: ignore[arg-type]
    "decided by nothing": (lambda r: r["laplace"].publish(relative=1, decided_on=1.0), "decided_on must be a release"),
    "decided by a mean": (lambda r: r["laplace"].publish(relative=1, decided_on=r["mean"]), "enters no number shown"),
    "decided on other rows": (
        lambda r: r["laplace"].publish(relative=1, decided_on=r["another"].rolling(7)),
        "decided_on must be 1 row or 70",
    ),
    "decided on other groups": (
        lambda r: r["laplace"].over().publish(relative=1, decided_on=r["another"]),
        "summed out by over('county')",
    ),
    "published twice": (lambda r: r["laplace"].publish(relative=1).publish(relative=1), "publish last"),
    "ratio of published": (lambda r: r["laplace"].publish(relative=1).ratio(r["laplace"]), "publish last"),
}


def test_periods_of_a_baseline_may_be_numpys(town: dict[str, cdp.Release]) -> None:
    release = town["numbered"]
    assert str(release.change(baseline=(np.int64(0), np.int32(1))).to_pandas()) == str(
        release.change(baseline=(0, 1)).to_pandas()
    )


def test_what_cannot_be_told_is_refused(town: dict[str, cdp.Release], subtests: pytest.Subtests) -> None:
    for name, (ask, said) in REFUSED.items():
        with subtests.test(name=name), pytest.raises(InvalidArgument, match=re.escape(said)):
            ask(town)


def test_groupings_may_be_called_as_columns_and_arguments_are(tmp_path: Path) -> None:
    rows = visits().rename(columns={"county": "value", "purpose": "level"})
    query = cdp.TimeSeries(
        rows, time="at", user="who", every="1D", start=START, end=END, unit=cdp.UserPeriod("1D")
    ).count()
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("town", unit=cdp.UserPeriod("1D"), epsilon=1.0)
        release = rows_of(query.by(value=["a", "b"], level=["home", "shop"]), ledger, "names")
    table = release.to_pandas()
    assert list(table.columns) == ["time", "value_key", "level", "value", "lower", "upper"]
    assert table["value_key"][:4].tolist() == ["a", "a", "b", "b"]
    one = release.at({"level": "shop", "value": "a"}, level=0.9)
    assert one.to_pandas()["value"].tolist() == table.query("level == 'shop' and value_key == 'a'")["value"].tolist()


ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, math.inf, math.nan, "x", b"x", [], (), {}, object(), ("a",), ("a", "b"), (1, 2), [[1]], 3j),
    *(np.array([]), np.zeros((2, 2)), pd.DataFrame(), pd.Series([1.0, math.nan])),
)
ODDLY: dict[str, Callable[[cdp.Release, Any], object]] = {
    "at": lambda r, odd: r.at(county=odd),
    "keys": lambda r, odd: r.at(odd),
    "over": lambda r, odd: r.over(odd),
    "ratio": lambda r, odd: r.ratio(odd),
    "within": lambda r, odd: r.ratio(r, within=odd),
    "baseline": lambda r, odd: r.over().change(baseline=odd),
    "last": lambda r, odd: r.over().change(baseline=("2026-01-05", odd)),
    "match": lambda r, odd: r.over().change(baseline=BASELINE, match=odd),
    "statistic": lambda r, odd: r.over().change(baseline=BASELINE, statistic=odd),
    "scale": lambda r, odd: r.over().change(baseline=BASELINE, scale=odd),
    "level": lambda r, odd: r.share(level=odd),
    "relative": lambda r, odd: r.publish(relative=odd),
    "points": lambda r, odd: r.publish(points=odd),
    "chance": lambda r, odd: r.publish(points=1, chance=odd),
    "coverage": lambda r, odd: r.publish(relative=1, coverage=odd),
    "decided_on": lambda r, odd: r.publish(relative=1, decided_on=odd),
    "times": lambda r, odd: r.over() * odd,
    "plus": lambda r, odd: r + odd,
    "minus": lambda r, odd: r.over() - odd,
    "rolling": lambda r, odd: r.over().rolling(odd),
    "resample": lambda r, odd: r.over().resample(odd),
}


def test_odd_arguments_are_refused_by_name_or_taken(town: dict[str, cdp.Release], subtests: pytest.Subtests) -> None:
    for name, ask in ODDLY.items():
        with subtests.test(name=name):
            for odd in ODD:
                with contextlib.suppress(InvalidArgument):
                    ask(town["gaussian"], odd)


def half(view: View) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    table = view.to_pandas()
    found: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = (table["upper"] - table["lower"]).to_numpy() / 2
    return found


@pytest.mark.parametrize("name", ["laplace", "gaussian", "tree", "shaped"])
def test_cells_are_shown_where_the_rule_says(name: str, town: dict[str, cdp.Release]) -> None:
    release = town[name]
    before = release.each_period()
    view = release.publish(relative=0.5)
    told = view.to_pandas()
    shown = half(before) <= 0.5 * np.abs(before.to_pandas()["value"].to_numpy())
    assert (told["value"].notna() == shown).all()
    assert 0 < shown.sum() < 3 * DAYS
    assert told.loc[~shown, ["value", "lower", "upper", "kind", "not_above", "not_below"]].isna().all().all()
    assert (told.loc[~shown, "why"] == "unreliable").all()
    assert told.loc[shown, "why"].isna().all()
    assert (told.loc[shown, "kind"] == "interval").all()
    step = view.certificate.processing[-1]
    assert "the interval of 95 % is within 50 % of the value" in step
    assert f"{shown.sum():,} of {3 * DAYS} cells" in step
    assert f"intervals at level {1 - 0.05 * shown.sum() / (3 * DAYS):.6g} (published: false coverage rate, " in step
    shared = name in ("tree", "shaped")
    assert ("proved where no two cells share noise: some of these do" in step) == shared
    assert "at most 5 % are expected to miss (false coverage rate" in view.note
    assert ("proved where no two share noise: some of these do" in view.note) == shared
    assert f"{(~shown).sum():,} of {3 * DAYS} have no value: unreliable" in view.note
    # Fewer shown, wider told: the level of those that are is of the false coverage rate.
    assert (half(view)[shown] >= half(before)[shown]).all()
    each = release.publish(relative=0.5, coverage="each")
    assert half(each)[shown] == pytest.approx(half(before)[shown], rel=0.2 if name == "tree" else 1e-9)
    assert "miss more often" in each.note


def test_points_and_chance(town: dict[str, cdp.Release]) -> None:
    view = town["gaussian"].change(baseline=BASELINE, match="weekday")
    shown = view.publish(points=100, chance=0.1).to_pandas()["value"].notna().to_numpy()
    wide = town["gaussian"].change(baseline=BASELINE, match="weekday", level=0.9).to_pandas()
    near = (wide["value"] - wide["lower"] <= 100) & (wide["upper"] - wide["value"] <= 100)
    assert (shown == near.to_numpy()).all()
    assert 0 < shown.sum() < 3 * DAYS
    assert "more than 100 off is at most 10 %" in view.publish(points=100, chance=0.1).certificate.processing[-1]


@pytest.mark.slow
def test_what_shares_noise_is_said_to(town: dict[str, cdp.Release]) -> None:
    release, shared = town["laplace"], "some of these do"
    alone: list[View] = [release.each_period(), release.resample("1W"), release.over(), town["mean"].each_period()]
    for view in alone:
        assert shared not in view.publish(relative=0.9).note
    both = release + town["tree"]
    for view in (release.rolling(3), release.running_total(), release.share(), release.change(baseline=BASELINE), both):
        published = view.publish(relative=0.9)
        assert shared in published.note
        assert shared in published.certificate.processing[-1]
    assert not both.apart
    with pytest.raises(InvalidArgument, match="rows must not share their noise"):
        cdp.series.smooth_view(both, method=cdp.postprocess.RandomWalk())


def test_given_that_it_is_shown(town: dict[str, cdp.Release]) -> None:
    release = town["gaussian"]
    view, plain = release.publish(relative=0.5, coverage="given"), release.publish(relative=0.5, coverage="each")
    told, before = view.to_pandas().dropna(subset="value"), plain.to_pandas().dropna(subset="value")
    assert len(told) == len(before)
    assert (told["lower"] <= before["lower"] + 1e-9).all()  # noise that lifted a number over the rule is taken off
    assert "given that it is shown" in view.note
    with pytest.raises(InvalidArgument, match=r"coverage must be .* nothing bounds it from below"):
        town["laplace"].publish(relative=0.5, coverage="given")
    with pytest.raises(InvalidArgument, match="no ratios, and a relative rule"):
        release.share().publish(relative=0.5, coverage="given")


def test_other_noise_decides(town: dict[str, cdp.Release]) -> None:
    release, earlier = town["laplace"], town["another"]
    by = earlier.resample("10W")  # one row: whole series are shown or not
    view = release.publish(relative=0.02, decided_on=by)
    table = view.to_pandas()
    assert table.groupby("county")["value"].count().tolist() == [DAYS, DAYS, 0]
    assert half(view)[:2] == pytest.approx(half(release.each_period())[:2])
    assert "decided on other noise" in view.certificate.processing[-1]
    assert "other noise decided" in view.note
    change = release.change(baseline=BASELINE)
    assert len(change.publish(relative=0.5, decided_on=by).to_pandas()) == 3 * DAYS
    weekly = release.resample("1W").change(baseline=("2026-01-01", "2026-02-01"))
    for shared in (release, release.over(), weekly, release.at(county="a")):
        with pytest.raises(InvalidArgument, match="enters no number shown"):
            change.publish(relative=0.5, decided_on=shared)
    with pytest.raises(InvalidArgument, match="enters no number shown"):
        town["shaped"].publish(relative=0.5, decided_on=town["shaped"])
    # White noise of other groups is other noise.
    a, b = release.at(county="a"), release.at(county="b")
    assert a.publish(relative=0.5, decided_on=b).to_pandas()["value"].notna().any()


def test_tables_keep_kinds_and_reasons(town: dict[str, cdp.Release]) -> None:
    view = town["laplace"].ratio(town["laplace"].at(county="c"), level=0.99)
    arrow = view.to_arrow()
    names = ["time", "county", "value", "lower", "upper", "kind", "not_above", "not_below", "why"]
    assert arrow.column_names == names
    assert pyarrow.types.is_dictionary(arrow.schema.field("kind").type)
    kinds = view.to_pandas()["kind"].value_counts()
    assert kinds["outside"] > 0
    gap = view.to_pandas().query("kind == 'outside'")
    assert (gap["not_above"] < gap["not_below"]).all()
    assert gap["value"].isna().all()
    text = view.to_pandas().to_csv(index=False)
    assert "denominator near 0" in text
    assert (town["laplace"].to_pandas().columns == ["time", "county", "value", "lower", "upper"]).all()

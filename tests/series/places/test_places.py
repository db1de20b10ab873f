"""A public tree of keys, what is refused of it, one level of it by itself, and pages of more places than fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.series.releases import night

import chronodp as cdp
from chronodp.errors import InvalidArgument
from chronodp.privacy import dump, load
from chronodp.randomness import seeded
from chronodp.series import Table, reporting

ROWS = [
    ("UK", "north", "Ayr"),
    ("UK", "south", "Bath"),
    ("UK", "north", "Perth"),
    ("UK", "north", "Ayr"),  # said twice, meant once
    ("UK", "south", "Hove"),
    ("UK", "north", "Wick"),
]
NAMES = ("country", "part", "town")
FRAME = pd.DataFrame(ROWS, columns=list(NAMES))


def test_every_kind_of_table_makes_the_same_tree(subtests: pytest.Subtests) -> None:
    for table in [
        ROWS,
        FRAME,
        pa.Table.from_pandas(FRAME),
        FRAME.to_dict("list"),
        FRAME.to_dict("records"),
        FRAME.assign(unused=1)[["unused", "town", "part", "country"]],
    ]:
        with subtests.test(table=table):
            places = cdp.Places(table, *NAMES)
            assert places == cdp.Places(ROWS, *NAMES)
            assert places.keys == (("UK",), ("north", "south"), ("Ayr", "Perth", "Wick", "Bath", "Hove"))
            assert places.children == ((2,), (3, 2))
            assert (places.column, places.grouping.keys) == ("town", places.keys[-1])
            assert str(places) == "1 of country, 2 of part, 5 of town"
            assert repr(places) == "Places(1 of country, 2 of part, 5 of town)"


def test_several_tops_get_one_place_over_them() -> None:
    places = cdp.Places(FRAME, "part", "town", column="home")
    assert (places.names, places.column) == (("all", "part", "town"), "home")
    assert places.children == ((2,), (3, 2))
    assert cdp.Places(["a", "b"], "key").keys == (("all",), ("a", "b"))
    assert cdp.Places([(1, True), (1, False)], "a", "b").keys == (("1",), ("true", "false"))


def test_columns_may_be_numbers() -> None:
    assert cdp.Places(pd.DataFrame([["a", "x"], ["a", "y"]]), "0", "1").keys == (("a",), ("x", "y"))
    with pytest.raises(InvalidArgument, match="column must be the name of a column"):
        cdp.Places(ROWS, *NAMES, column="")


def test_what_is_no_tree_is_refused_with_a_mend(subtests: pytest.Subtests) -> None:
    for table, levels, said in [
        (ROWS, (), "levels"),
        (ROWS, ("town", "town"), "different names"),
        (ROWS, ("part", "town"), "row 0 of 3 keys"),
        (FRAME, ("land", "town"), "columns of the table"),
        ([("a", "all")], ("a", "all"), "none below the top is called 'all'"),
        ([("a",), ("b",)], ("all",), "another name"),
        ([], NAMES, "no rows"),
        ("towns.csv", NAMES, "a list of rows"),
        ([5], NAMES, "row 0, a int"),
        ([("UK", None, "Ayr")], NAMES, "nothing in row 0"),
        ([("UK", float("nan"), "Ayr")], NAMES, "nothing in row 0"),
        ([("UK", "", "Ayr")], NAMES, "nothing in row 0"),
        ([("UK", 1.5, "Ayr")], NAMES, "a float that is no key in row 0"),
        ([("UK", ["x"], "Ayr")], NAMES, "a list that is no key in row 0"),
        ({"a": ["x"], "b": []}, ("a", "b"), "unequal length"),
        ({"a": ["x"], "b": 3}, ("a", "b"), "columns by name.*'dict'"),
        ({"a": "x", "b": "y"}, ("a", "b"), "columns by name.*'dict'"),
        (pd.DataFrame([["x", "y", "z"]], columns=["a", "a", "b"]), ("a", "b"), "2 columns called 'a'"),
        (pa.table([pa.array([key]) for key in "xyz"], names=["a", "a", "b"]), ("a", "b"), "2 columns called 'a'"),
        (pd.DataFrame, ("a", "b"), "columns by name"),
        ([("UK", "north", "Ayr"), ("UK", "south", "Ayr")], NAMES, r"concat.*town 'Ayr' in part 'north' and in 'south'"),
        ([("UK", "north", "Ayr"), ("US", "north", "Bar")], NAMES, "part 'north' in country 'UK' and in 'US'"),
    ]:
        with subtests.test(table=table, levels=levels, said=said), pytest.raises(InvalidArgument, match=said):
            cdp.Places(table, *levels)


def places() -> cdp.Places:
    return cdp.Places([("UK", "north"), ("UK", "south"), ("UK", "west")], "country", "region")


def test_what_does_not_go_with_places_is_refused(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Any, str]] = [
        (lambda q: q.by(places(), places()), "one tree"),
        (lambda q: q.by(places()).by(places()), "one tree"),
        (lambda q: q.by(places(), region=["north"]), "a column that Places does not split already"),
        (lambda q: q.by(["north"]), "Places\\(table"),
        (lambda q: q.by(places(), max_groups=cdp.Find()), "known bounds"),
        (lambda q: q.by(places(), who=cdp.Discover()), "known bounds"),
        (lambda q: q.by(places(), max_groups=4), "max_groups"),
        (lambda q: q.by(places(), focus={"town": 2.0}), "weights above 0 of country, region"),
        (lambda q: q.by(places(), focus={"region": 0.0}), "focus"),
        (lambda q: q.by(places(), focus="most"), "'nodes' or 'largest'"),
        (lambda q: q.by(region=["north"], focus={"region": 1.0}), "given with Places alone"),
        (lambda q: q.by(places(), level=["a"]), "another name beside Places"),
        (lambda q: q.by(places()).peak(every="1D"), "left out with Places"),
        (lambda q: q.by(places()).plan(epsilon=1.0, missing=cdp.Missing()), "left out with Places"),
        (lambda q: q.by(places()).plan(epsilon=1e-12), "larger: noise would drown"),
    ]
    for ask, said in cases:
        with subtests.test(ask=ask, said=said), pytest.raises(InvalidArgument, match=said):
            ask(night().count())


def test_measures_that_do_not_add_up_over_places_are_refused(subtests: pytest.Subtests) -> None:
    for query in [
        night().mean("kwh", clip=(0.0, 4.0), of="people"),
        night().variance("kwh", clip=(0.0, 4.0)),
        night().histogram("kwh", edges=(0.0, 1.0, 2.0), of="rows"),
        night(max_periods=None).sum("kwh", bound=cdp.Norm(5.0)),
        night().active("7h", max_stays=2),
        night().quantiles("kwh", [0.5], edges=(0.0, 1.0, 2.0)),
    ]:
        with subtests.test(query=query), pytest.raises(InvalidArgument, match="Places"):
            query.by(places())


def test_forged_levels_are_refused() -> None:
    plan = night().count().by(places()).plan(epsilon=1.0, delta=1e-6)
    text = dump(plan.design)
    for old, new in [
        ('"children":[[3]]', '"children":[[2]]'),
        ('"measured":[1,0]', '"measured":[0,1]'),
        ('"measured":[1,0]', '"measured":[1]'),
        ('"measured":[1,0],', ""),
        ('"column":"region","keys":[["UK"]]', '"column":"other","keys":[["UK"]]'),
        ('"weights":[1.0,1.0]', '"weights":[0.0,1.0]'),
        ('"names":["country","region"]', '"names":["country"]'),
    ]:
        assert old in text
        with pytest.raises(InvalidArgument):
            load(text.replace(old, new), type(plan.design))


@pytest.mark.slow
def test_a_hundred_thousand_leaves_make_a_small_plan() -> None:
    rows = [("all of it", f"s{leaf // 100}", f"c{leaf}") for leaf in range(100_000)]
    many = cdp.Places(rows, "country", "state", "county")
    table: Table = night(unit=cdp.Event(), max_periods=None).count().by(many).table
    assert len(dump(table)) < 1.6e6


STATES, COUNTIES, DAYS = 40, 100, 28
GEO = [("land", f"s{state}", f"s{state}-{county}") for state in range(STATES) for county in range(COUNTIES)]
NODES = 1 + STATES + STATES * COUNTIES


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> cdp.Release:
    dice = np.random.default_rng(5)
    rows = pd.DataFrame({"who": dice.integers(0, 900, 4000), "county": dice.choice([leaf for *_, leaf in GEO], 4000)})
    rows["at"] = pd.Timestamp("2026-03-02") + pd.to_timedelta(dice.integers(0, DAYS, 4000), unit="D")
    unit = cdp.UserPeriod("1D")
    days = cdp.TimeSeries(rows, time="at", user="who", every="1D", start="2026-03-02", end="2026-03-30", unit=unit)
    plan = days.count().by(cdp.Places(GEO, "country", "state", "county"), max_groups=3).plan(epsilon=1.0, delta=1e-6)
    with cdp.Ledger(tmp_path_factory.mktemp("levels") / "budget.db") as ledger:
        ledger.open("visits", unit=unit, epsilon=1.0, delta=1e-6)
        return plan.release(ledger, dataset="visits", request="tree", entropy=seeded("levels"), progress=lambda _: None)


@pytest.mark.slow
def test_one_level_is_that_of_the_whole_table(release: cdp.Release) -> None:
    whole, states = release.to_pandas(), release.at_level("state").to_pandas()
    wanted = whole[whole["level"] == "state"].reset_index(drop=True)
    assert list(states.columns) == ["time", "state", "value", "lower", "upper"]
    assert states["state"].tolist() == wanted["place"].tolist()
    for name in ("value", "lower", "upper"):
        np.testing.assert_allclose(states[name], wanted[name], rtol=1e-9, atol=1e-6)
    # All of a level together are the root, and their noise knows it.
    together, root = (view.to_pandas() for view in (release.at_level("state").over(), release.at(country="land")))
    for name in ("value", "lower", "upper"):
        np.testing.assert_allclose(together[name], root[name], rtol=1e-6, atol=1e-6)
    share = release.resample("7D").at_level("state").share().to_pandas()
    both = release.resample("7D").share().to_pandas()
    same = both[both["level"] == "state"]
    np.testing.assert_allclose(share["value"], same["value"], rtol=1e-9)
    assert release.at_level("state").at(state="s7").title.endswith("of level state, state s7")
    assert release.at_level("county").certificate.processing == ("of level county",)


@pytest.mark.slow
def test_a_level_that_is_not_there_is_refused(release: cdp.Release) -> None:
    with pytest.raises(InvalidArgument, match="level must be one of country, state, county; got 'town'"):
        release.at_level("town")
    with pytest.raises(InvalidArgument, match="no levels here"):
        release.at_level("state").at_level("state")


@pytest.mark.slow
def test_a_page_holds_the_upper_levels_and_says_what_it_leaves_out(release: cdp.Release, tmp_path: Path) -> None:
    page = release.report(tmp_path / "tree.html").read_text(encoding="utf-8")
    assert NODES * DAYS > reporting.MOST_ON_PAGE
    note = f"the 41 places of levels country and state, of {NODES:,} in all; those of county are left out"
    assert f"{41 * DAYS:,} rows. This page has {note}. The rest is in the release itself" in page
    assert "Download these rows as CSV" in page
    assert page.count("<tr>") == 1 + 41 * DAYS
    assert "s7-3" not in page
    assert len(page) < 7_000_000  # of which Plotly is 5
    # The same of what is made of it; and all of what fits.
    for view in (release.share(), release.publish(relative=0.5)):
        assert note in view.report(tmp_path / "view.html").read_text(encoding="utf-8")
    small = release.at_level("state").report(tmp_path / "states.html").read_text(encoding="utf-8")
    assert "Download all as CSV" in small
    assert "left out" not in small


def test_what_is_drawn_is_what_was_released(release: cdp.Release) -> None:
    whole, upper = release.to_pandas(), release.operand.uppermost(5_000).to_pandas()
    wanted = whole[whole["level"] != "county"].reset_index(drop=True)
    assert upper["place"].tolist() == wanted["place"].tolist()
    for name in ("value", "lower", "upper"):
        np.testing.assert_allclose(upper[name], wanted[name], rtol=1e-9, atol=1e-6)

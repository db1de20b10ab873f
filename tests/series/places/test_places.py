"""A public tree of keys from a table, and what is refused before anything is spent."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from tests.series.releases import night

import chronodp as cdp
from chronodp.errors import InvalidArgument
from chronodp.privacy import dump, load
from chronodp.series import Table

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
        (
            pa.table([pa.array(["x"]), pa.array(["y"]), pa.array(["z"])], names=["a", "a", "b"]),
            ("a", "b"),
            "2 columns called 'a'",
        ),
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

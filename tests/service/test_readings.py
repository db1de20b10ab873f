"""Readings of stored releases: those of the library, free, bounded, and refused by the name of what is wrong."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas
import pytest

import chronodp as cdp
from chronodp.errors import InvalidArgument
from chronodp.service import table_asked
from tests.service.town import House, open_house, write_policy, write_rows

BY_REGION: dict[str, Any] = {
    "measure": {"kind": "count"},
    "by": {"region": ["north", "south"]},
    "epsilon": 2.0,
    "delta": 1e-7,
}
TREE: dict[str, Any] = {"column": "region", "names": ["town", "region"], "keys": [["all of it"]], "children": [[2]]}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("readings")
    write_rows(folder / "rows.parquet", people=300)
    with open_house(write_policy(folder), str(folder / "budget.db")) as opened:
        opened.finish("ana", opened.submit("ana", "hours", BY_REGION).json()["id"])
        opened.finish("ana", opened.submit("ana", "places", BY_REGION | {"places": TREE}).json()["id"])
        hours = opened.curator.policy.datasets["meters"].series().count()
        both = {"north": hours.by(region=["north"]), "all": hours}
        plan = cdp.plan_together(both, epsilon=1.0, delta=1e-7)
        plan.release(opened.curator.ledger, dataset="meters", request="both", progress=lambda _: None)
        yield opened


def table(house: House, number: int, query: str) -> dict[str, Any]:
    answer = house.get("ana", f"/datasets/meters/releases/{number}/table?{query}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def release(house: House, number: int) -> cdp.Release:
    with cdp.Client(str(house.http.base_url), token=house.tokens["ana"]) as client:
        found = client.release("meters", number)
        assert isinstance(found, cdp.Release)
        return found


def test_what_is_read_is_what_the_library_reads_and_costs_nothing(house: House) -> None:
    before = house.get("olga", "/datasets/meters/history").json()
    hours, places = release(house, 1), release(house, 2)
    day = ("2026-01-01", "2026-01-01")
    asked = {
        "share=true": hours.share(),
        "at=region=north&ratio_at=region=south&within=0&within=9&level=0.9": hours.at(region="north").ratio(
            hours.at(region="south"), within=(0, 9), level=0.9
        ),
        "view=resample&every=6h&over_all=true": hours.over().resample("6h"),
        "resample=6h&view=rolling&periods=2&over=region": hours.over("region").resample("6h").rolling(2),
        "view=running_total&share=true&simultaneous=true": hours.running_total().share(simultaneous=True),
        "baseline=2026-01-01&baseline=2026-01-01&statistic=median&scale=index": hours.change(
            baseline=day, statistic="median", scale="index"
        ),
        "relative=0.25": hours.publish(relative=0.25),
        "baseline=2026-01-01&baseline=2026-01-01&points=5&chance=0.1&coverage=each": hours.change(baseline=day).publish(
            points=5, chance=0.1, coverage="each"
        ),
    }
    for query, view in asked.items():
        compare(table(house, 1, query), view)
    compare(table(house, 2, "places=region&share=true"), places.at_level("region").share())
    compare(table(house, 2, "at=town=all of it"), places.at(town="all of it"))
    assert house.get("olga", "/datasets/meters/history").json() == before


def compare(told: dict[str, Any], view: Any) -> None:
    frame = view.to_pandas()
    assert told["columns"] == list(frame.columns)
    assert told["note"] == view.note
    assert told["steps"] == list(view.certificate.processing)
    got = pandas.DataFrame(told["rows"], columns=told["columns"])
    for name in ("value", "lower", "upper"):
        wanted = frame[name].where(np.isfinite(frame[name]))
        np.testing.assert_allclose(got[name].astype(float), wanted, rtol=1e-9, atol=1e-6)
    if view.cells is not None:
        for name in ("kind", "why"):
            assert got[name].fillna("").tolist() == frame[name].astype(object).fillna("").tolist()


def test_what_is_left_out_has_its_reason(house: House) -> None:
    rows = table(house, 1, "relative=0.25")["rows"]
    left = [row for row in rows if row[-1] == "unreliable"]
    assert 0 < len(left) < len(rows)
    assert all(row[2:] == [None, None, None, None, None, None, "unreliable"] for row in left)
    csv = house.get("ana", "/datasets/meters/releases/1/table?relative=0.25&format=csv")
    frame = pandas.read_csv(io.BytesIO(csv.content))
    assert (frame["why"] == "unreliable").sum() == len(left)


def test_queries_released_together_are_read_part_by_part(house: House) -> None:
    shown = house.get("ana", "/datasets/meters/releases/3").json()
    assert [part["name"] for part in shown["parts"]] == ["all", "north"]
    assert shown["parts"][1]["groups"] == {"region": ["north"]}
    assert table(house, 3, "part=all")["rows"]
    told = table(house, 3, "part=north&ratio_part=all&within=0&within=1&view=resample&every=1D")
    ratio = {row[told["columns"].index("value")] for row in told["rows"]}
    assert all(0.5 < value < 0.8 for value in ratio)
    with cdp.Client(str(house.http.base_url), token=house.tokens["ana"]) as client:
        both = client.release_together("meters", 3)
        with pytest.raises(InvalidArgument, match="of several queries see release_together"):
            client.release("meters", 3)
    view = both.view("north").resample("1D").ratio(both.view("all").resample("1D"), within=(0, 1))
    compare(told, view)
    refused = house.get("ana", "/datasets/meters/releases/3/table")
    assert refused.status_code == 422
    assert refused.json()["error"]["argument"] == "part"


def test_a_release_says_what_can_be_read_of_it(house: House) -> None:
    [hours] = house.get("ana", "/datasets/meters/releases/1").json()["parts"]
    assert hours["groups"] == {"region": ["north", "south"]}
    assert hours["offers"] == [
        "at",
        "over",
        "resample",
        "rolling",
        "running_total",
        "share",
        "ratio",
        "change",
        "publish",
    ]
    [places] = house.get("ana", "/datasets/meters/releases/2").json()["parts"]
    assert places["levels"] == [{"name": "town", "places": 1}, {"name": "region", "places": 2}]
    assert places["groups"] == {}
    at = "/datasets/meters/releases/2/keys"
    assert house.get("ana", f"{at}?column=region&text=OUT").json() == ["south"]
    assert house.get("ana", f"{at}?column=region&limit=1").json() == ["north"]
    assert house.get("ana", f"{at}?column=street").json()["error"]["argument"] == "column"


def test_what_cannot_be_read_is_refused_by_its_name(house: House) -> None:
    cases: list[tuple[str, str]] = [
        ("share=true&baseline=2026-01-01&baseline=2026-01-01", "baseline"),
        ("share=true&ratio_at=region=north", "ratio_at"),
        ("at=region", "at"),
        ("at=region=west", "at"),
        ("over=street", "over"),
        ("over=region&over_all=true", "over"),
        ("at=region=north&at=region=south", "at"),
        ("ratio_at=region", "ratio_at"),
        ("statistic=median", "statistic"),
        ("scale=index", "scale"),
        ("coverage=each", "coverage"),
        ("places=region", "places"),
        ("part=all", "part"),
        ("ratio_part=all", "ratio_part"),
        ("baseline=2026-01-01", "baseline"),
        ("baseline=soon&baseline=2026-01-01", "baseline"),
        ("baseline=2027-01-01&baseline=2027-01-02", "baseline"),
        ("relative=0.1&points=3", "relative"),
        ("relative=0.1&chance=0.1", "chance"),
        ("chance=0.1", "relative"),
        ("relative=0", "relative"),
        ("coverage=some", "coverage"),
        ("within=0&within=1", "within"),
        ("match=weekday", "match"),
        ("simultaneous=true", "simultaneous"),
        ("view=quantile&share=true", "view"),
        ("view=resample&resample=1D", "resample"),
        ("view=rolling&periods=4000&share=true", "periods"),
        ("resample=30min", "resample"),
        ("view=resample&every=30min&share=true", "every"),
        ("at=region=north&ratio_at=region=east", "ratio_at"),
        ("relativ=0.1", "relativ"),
        ("at=region=north&ratio_at=region=south&within=1&within=0", "within"),
    ]
    for query, argument in cases:
        answer = house.get("ana", f"/datasets/meters/releases/1/table?{query}")
        assert answer.status_code == 422, (query, argument, answer.text)
        assert answer.json()["error"]["argument"] == argument, (query, argument, answer.text)


def test_a_reading_is_for_whoever_may_see_the_release(house: House) -> None:
    for path in ("table?share=true", "keys?column=region"):
        assert house.get("zoe", f"/datasets/meters/releases/1/{path}").status_code == 404


def test_ratios_and_rules_are_of_a_limited_number_of_cells(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_asked, "MOST_LISTED", 95)
    for query in ("share=true", "relative=0.1", "baseline=2026-01-01&baseline=2026-01-01&format=csv"):
        answer = house.get("ana", f"/datasets/meters/releases/1/table?{query}")
        assert answer.status_code == 422
        assert "these are 96" in answer.text
    assert table(house, 1, "view=resample&every=1D&share=true")["rows"]

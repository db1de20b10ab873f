"""Readings of stored releases: those of the library, free, bounded, and refused by the name of what is wrong."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import chronodp as cdp
from chronodp.errors import ChronodpError, InvalidArgument
from chronodp.service import table_asked
from tests.service.town import API, House, open_house, write_policy, write_rows

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
    with open_house(write_policy(folder)) as opened:
        opened.ended("ana", "hours", BY_REGION)
        opened.ended("ana", "places", BY_REGION | {"places": TREE})
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
    with house.client("ana") as client:
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
    with house.client("ana") as client:
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
    assert " ".join(hours["offers"]) == "at over resample rolling running_total share ratio change publish"
    [places] = house.get("ana", "/datasets/meters/releases/2").json()["parts"]
    assert places["levels"] == [{"name": "town", "places": 1}, {"name": "region", "places": 2}]
    assert places["groups"] == {}
    at = "/datasets/meters/releases/2/keys"
    assert house.get("ana", f"{at}?column=region&text=OUT").json() == ["south"]
    assert house.get("ana", f"{at}?column=region&limit=1").json() == ["north"]
    assert house.get("ana", f"{at}?column=street").json()["error"]["argument"] == "column"


def test_what_cannot_be_read_is_refused_by_its_name(house: House) -> None:
    day = "baseline=2026-01-01"
    words = ["statistic=median", "scale=index", "places=region", "part=all", "ratio_part=all", "match=weekday"]
    words += ["simultaneous=true", "relativ=0.1"]
    cases = {word.partition("=")[0]: [word] for word in words} | {
        "baseline": [f"share=true&{day}&{day}", day, f"baseline=soon&{day}", "baseline=2027-01-01&baseline=2027-01-02"],
        "ratio_at": ["share=true&ratio_at=region=north", "ratio_at=region", "at=region=north&ratio_at=region=east"],
        "at": ["at=region", "at=region=west", "at=region=north&at=region=south"],
        "over": ["over=street", "over=region&over_all=true"],
        "relative": ["relative=0.1&points=3", "chance=0.1", "relative=0"],
        "chance": ["relative=0.1&chance=0.1"],
        "within": ["within=0&within=1", "at=region=north&ratio_at=region=south&within=1&within=0"],
        "coverage": ["coverage=each", "coverage=some"],
        "resample": ["view=resample&resample=1D", "resample=30min"],
        "every": ["view=resample&every=30min&share=true"],
        "periods": ["view=rolling&periods=4000&share=true"],
        "view": ["view=quantile&share=true"],
    }
    for argument, query in ((argument, query) for argument, queries in cases.items() for query in queries):
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


MINUTES = 1_051_200


def minutes(folder: Path) -> Path:
    """Write a policy of two years by the minute."""
    policy = write_policy(folder)
    text = policy.read_text(encoding="utf-8")
    one, rest = text.split("[datasets.other]")
    one = one.replace('every = "1h"', 'every = "1min"').replace('end = "2026-01-03"', 'end = "2028-01-01"')
    one = one.replace('grids = ["1h", "1D"]', 'grids = ["1min"]\ncells = 2000000')
    one = one.replace("{ 1h = [0.0, 5.0], 1D = [0.0, 5.0] }", "[0.0, 5.0]")
    policy.write_text(f"{one}[datasets.other]{rest}", encoding="utf-8")
    return policy


@pytest.mark.slow
def test_a_large_release_travels_as_arrow(tmp_path: Path) -> None:
    with open_house(minutes(tmp_path)) as house:
        token = house.tokens["ana"]
        with house.client("ana", timeout=120.0) as client:
            plan = client.dataset("meters").count().plan(epsilon=0.5, delta=1e-7)
            made = plan.release(request="large")
            assert isinstance(made, cdp.Release)
            assert len(made.to_pandas()) == MINUTES
            days = made.resample("1D").change(baseline=("2026-01-01", "2026-01-07"))
            assert days.size == MINUTES // 1440
            stored = house.curator.ledger.stored.release("meters", 1)
            assert stored is not None
            assert (made.text, made.signed) == (stored.text, stored.signed)
            saved = made.save(tmp_path / "large.arrow")
        headers = {"Authorization": f"Bearer {token}"}
        at = f"{API}/datasets/meters/releases/1"
        whole = house.http.get(at, headers=headers).json()
        assert whole["beside"] == MINUTES
        assert len(whole["release"]) < 10_000
        file = house.http.get(f"{at}/file", headers=headers)
        assert file.headers["content-type"] == "application/vnd.apache.arrow.file"
        assert file.content == saved.read_bytes()
        refused = house.http.get(f"{at}/table", headers=headers)
        assert refused.status_code == 422
        assert "csv or parquet above 1,048,576 values; this table has 1,051,200" in refused.text
        asked = "view=resample&every=1D&baseline=2026-01-01&baseline=2026-01-07"
        told = house.http.get(f"{at}/table?{asked}", headers=headers, timeout=60.0).json()
        assert [row[4] for row in told["rows"]] == days.to_pandas()["kind"].tolist()
        many = house.http.get(f"{at}/table?relative=0.1&format=parquet", headers=headers, timeout=60.0)
        assert "at most 1,048,576 cells, these are 1,051,200" in many.text
        table = house.http.get(f"{at}/table?format=parquet", headers=headers, timeout=60.0)
        pandas.testing.assert_frame_equal(pandas.read_parquet(io.BytesIO(table.content)), made.to_pandas())


@pytest.mark.slow
def test_a_large_rehearsal_is_refused_and_a_small_release_is_one_json(tmp_path: Path) -> None:
    with open_house(minutes(tmp_path)) as house:
        with house.client("ana", timeout=120.0) as client:
            plan = client.dataset("meters").count().plan(epsilon=0.5, delta=1e-7)
            with pytest.raises(ChronodpError, match=r"of at most 1,048,576 numbers to be tried.*1,051,200 numbers"):
                plan.rehearse()
            small = client.dataset("meters", end="2026-01-02").count().plan(epsilon=0.5, delta=1e-7)
            made = small.release(request="small")
        headers = {"Authorization": f"Bearer {house.tokens['ana']}"}
        file = house.http.get(f"{API}/datasets/meters/releases/1/file", headers=headers)
        assert file.headers["content-type"] == "application/json"
        assert file.content == made.save(tmp_path / "small.json").read_bytes()

"""Places asked of a curator: the same plan as at home, numbers that add up, and refusals by the policy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import chronodp as cdp
from chronodp.errors import InvalidArgument
from chronodp.service.question import QueryRequest, ask
from chronodp.service.written import write_question
from tests.service.town import House, open_house, write_policy, write_rows

TREE: dict[str, Any] = {"column": "region", "names": ["town", "region"], "keys": [["all of it"]], "children": [[2]]}
ASKED: dict[str, Any] = {
    "measure": {"kind": "count"},
    "every": "1D",
    "by": {"region": ["north", "south"]},
    "places": TREE,
    "epsilon": 2.0,
    "delta": 1e-7,
}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    write_rows(tmp_path / "rows.parquet", people=300)
    with open_house(write_policy(tmp_path), str(tmp_path / "budget.db")) as opened:
        yield opened


def test_places_are_planned_and_released(house: House) -> None:
    planned = house.post("ana", "/datasets/meters/plan", ASKED).json()
    assert "design" in planned, planned
    assert planned["design"]["table"]["levels"]["names"] == ["town", "region"]
    assert "Places" in {fact["label"] for fact in planned["facts"]}
    tried = house.post("ana", "/datasets/meters/try", ASKED).json()
    assert tried["table"]["columns"][:3] == ["time", "level", "place"]
    job = house.finish("ana", house.submit("ana", "one", ASKED).json()["id"])
    assert job["state"] == "done", job
    table = house.get("ana", f"/datasets/meters/releases/{job['release']}/table").json()
    sums: dict[tuple[str, str], float] = {}
    for time, level, _, value, *_ in table["rows"]:
        sums[time, level] = sums.get((time, level), 0.0) + value
    days = {time for time, _ in sums}
    assert all(sums[day, "town"] == sums[day, "region"] for day in days)


def test_what_the_policy_does_not_allow_is_refused(house: House) -> None:
    changes: list[tuple[dict[str, Any], int]] = [
        ({"places": {**TREE, "children": [[3]]}}, 422),
        ({"places": {**TREE, "column": "street"}}, 422),
        ({"places": {**TREE, "weights": [0.0, 1.0]}}, 422),
        ({"by": {"region": ["north", "east"]}}, 403),
        ({"by": {}}, 422),
    ]
    for changed, status in changes:
        answer = house.post("ana", "/datasets/meters/plan", ASKED | changed)
        assert answer.status_code == status, answer.text


def test_a_question_is_written_and_read_as_it_was(house: House) -> None:
    series = house.curator.policy.datasets["meters"].series()
    places = cdp.Places([("all of it", "north"), ("all of it", "south")], "town", "region")
    table = series.count().by(places, focus={"town": 3.0}).table
    terms: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-7, "tuned_for": cdp.EachPeriod(), "missing": None}
    question = QueryRequest.model_validate(write_question(table, **terms))
    assert ask(series, question).table == table
    with pytest.raises(InvalidArgument, match="known bounds"):
        series.count(at_most=cdp.Find()).by(region=["north", "south"]).with_levels(table.levels)  # type: ignore[arg-type]

"""People who were active lately, asked of a curator: as at home, and never from before its data begin."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import chronodp as cdp
from tests.service.town import House, open_house, said_of_a_question, write_policy, write_rows

ASKED: dict[str, Any] = {
    "measure": {"kind": "active", "window": "6h", "max_stays": 2},
    "every": "1h",
    "epsilon": 1.0,
    "delta": 1e-7,
}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    write_rows(tmp_path / "rows.parquet")
    policy = write_policy(tmp_path)
    with open_house(policy, str(tmp_path / "budget.db")) as opened:
        yield opened


def test_active_people_are_released_and_counted_from_when_data_begin(house: House) -> None:
    whole = house.curator.policy.datasets["meters"].calendar
    asked = ASKED | {"start": whole.starts()[6].isoformat()}
    planned = house.post("ana", "/datasets/meters/plan", asked)
    assert planned.status_code == 200, planned.text
    assert {row["cap"] for row in planned.json()["alternatives"]} == {"2 stays", "nobody cut"}
    job = house.finish("ana", house.submit("ana", "active", asked).json()["id"])
    assert job["state"] == "done", job
    with cdp.Client(str(house.http.base_url), token=house.tokens["ana"]) as client:
        release = client.release("meters", 1)
    assert isinstance(release, cdp.Release)
    told = house.get("ana", "/datasets/meters/releases/1/table?baseline=2026-01-02&baseline=2026-01-02").json()
    change = release.change(baseline=("2026-01-02", "2026-01-02")).to_pandas()
    at = told["columns"].index("value")
    assert [row[at] for row in told["rows"]] == pytest.approx(change["value"].tolist())
    early = house.post("ana", "/datasets/meters/plan", {**asked, "start": whole.start})
    assert early.status_code == 403
    assert "where data begin" in early.text


def test_a_client_asks_as_at_home(house: House) -> None:
    whole = house.curator.policy.datasets["meters"].calendar
    start = whole.starts()[6].isoformat()
    with cdp.Client(str(house.http.base_url), token=house.tokens["ana"]) as client:
        far = client.dataset("meters", start=start)
        limits: dict[str, int]
        for limits in ({}, {"max_stays": 2}, {"max_stays": 2, "max_periods": 3}):
            plan: Any = far.active("6h", **limits).plan(epsilon=1.0, delta=1e-7)
            home: Any = (
                house.curator.policy.datasets["meters"]
                .series(far.calendar)
                .active("6h", **limits)
                .plan(epsilon=1.0, delta=1e-7)
            )
            assert plan.design == home.design
            assert str(plan) == said_of_a_question(home)

"""Quantiles that a curator releases: planned, rehearsed, released, read again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import chronodp as cdp
from chronodp.errors import ChronodpError
from chronodp.series import QuantileRelease
from tests.service.town import House, open_house, write_policy, write_rows

QUANTILES: dict[str, Any] = {
    "measure": {
        "kind": "quantiles",
        "column": "kwh",
        "fractions": [0.25, 0.5],
        "edges": [0.0, 0.5, 1.0, 1.5, 2.0, 3.0],
    },
    "every": "1D",
    "epsilon": 0.5,
    "delta": 1e-7,
}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    write_rows(tmp_path / "rows.parquet", people=60)
    with open_house(write_policy(tmp_path), str(tmp_path / "budget.db")) as opened:
        yield opened


def test_quantiles_are_planned_rehearsed_and_released(house: House) -> None:
    planned = house.post("ana", "/datasets/meters/plan", QUANTILES).json()
    assert planned["half_width"] is None, planned
    assert planned["alternatives"][0]["rank_error"] > 0
    assert {fact["label"] for fact in planned["facts"]} >= {"Way", "Error", "Price"}
    tried = house.post("ana", "/datasets/meters/try", QUANTILES).json()
    assert "quantile" in tried["table"]["columns"]
    job = house.finish("ana", house.submit("ana", "one", QUANTILES).json()["id"])
    assert job["state"] == "done", job
    base = f"/datasets/meters/releases/{job['release']}"
    whole = house.get("ana", base).json()
    assert whole["kind"] == "quantiles"
    assert "each_period" in whole["readings"]
    table = house.get("ana", f"{base}/table").json()
    assert [row[1] for row in table["rows"]] == [0.25, 0.5] * 2
    assert house.get("ana", f"{base}/table?view=rolling").status_code in (400, 422)
    refused = {**QUANTILES, "measure": {**QUANTILES["measure"], "fractions": [0.5, 1.0]}}
    assert house.post("ana", "/datasets/meters/plan", refused).status_code in (400, 422)


def test_a_client_asks_as_at_home(house: House, tmp_path: Path) -> None:
    edges = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0]
    with cdp.Client(str(house.http.base_url), token=house.tokens["ana"]) as client:
        far = client.dataset("meters", every="1D")
        asked: Any = far.quantiles("kwh", [0.25, 0.5], edges=edges)
        plan = asked.plan(epsilon=0.5, delta=1e-7)
        at_home = house.curator.policy.datasets["meters"].series(far.calendar)
        home: Any = at_home.quantiles("kwh", [0.25, 0.5], edges=edges).plan(epsilon=0.5, delta=1e-7)
        assert plan.design == home.design
        assert plan.claim == home.claim
        assert plan.rank_error == home.rank_error
        assert str(plan) == str(home)
        assert plan.fits
        assert plan.alternatives["way"].tolist() == home.alternatives["way"].tolist()
        assert plan.rehearse()["quantile"].tolist() == [0.25, 0.5] * 2
        made = plan.release(request="far")
        assert isinstance(made, QuantileRelease)
        assert plan.release(request="far").text == made.text
        stored = house.curator.ledger.stored.release("meters", 1)
        assert stored is not None
        assert (made.text, made.signed) == (stored.text, stored.signed)
        assert made.to_pandas()["value"].between(0.0, 3.0).all()
        assert str(QuantileRelease.load(made.save(tmp_path / "far.json"))) == str(made)
        by_key: Any = asked.by(region=["north", "south"]).plan(epsilon=0.5, delta=1e-7)
        assert by_key.design.table.groups == 2
        with pytest.raises(ChronodpError, match="EachPeriod"):
            asked.plan(epsilon=0.5, delta=1e-7, tuned_for=cdp.RunningTotal())

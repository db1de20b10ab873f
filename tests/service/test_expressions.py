"""What a curator allows of filters and derived columns: what its policy names, and by default nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chronodp import errors
from chronodp.errors import InvalidArgument
from chronodp.service import read_policy
from tests.service.test_client import client_of
from tests.service.town import House, open_house, said_of_a_question, write_policy

ALLOWED = """expression_columns = ["kwh", "region"]
expression_functions = ["case", "floor"]"""

BOTH_WAYS = "kwh > 1 AND kwh = 'a'"


def rewritten(folder: Path, rules: str) -> Path:
    path = write_policy(folder)
    text = path.read_text(encoding="utf-8")
    assert "least_group = 15" in text
    path.write_text(text.replace("least_group = 15", rules, 1), encoding="utf-8")
    return path


@pytest.fixture
def open_minded(tmp_path: Path) -> Iterator[House]:
    with open_house(rewritten(tmp_path, ALLOWED), str(tmp_path / "budget.db")) as opened:
        yield opened


def test_by_default_no_column_may_stand_in_expressions(house: House) -> None:
    with client_of(house, "ana") as client:
        with pytest.raises(errors.NotAllowed, match="does not allow where with column kwh"):
            client.dataset("meters").count().where("kwh > 1").plan(epsilon=0.5)
        far = client.dataset("meters", columns={"much": "kwh > 1"})
        with pytest.raises(errors.NotAllowed, match="does not allow columns with column kwh"):
            far.sum("much", clip=(0.0, 1.0)).plan(epsilon=0.5)
        assert far.count().plan(epsilon=0.5).design.table.columns is None  # what is not asked for is not sent


def test_what_the_policy_does_not_name_is_not_typed(house: House) -> None:
    """Whatever else is wrong in a filter, the policy refuses it first: nobody has to type it."""
    asks: list[dict[str, Any]] = [{"where": BOTH_WAYS}, {"columns": {"much": BOTH_WAYS}}]
    for asked in asks:
        question = {"measure": {"kind": "count"}, "epsilon": 0.5, **asked}
        answer = house.http.post("/api/v1/datasets/meters/plan", json=question, headers=house.headers("ana"))
        assert f"does not allow {next(iter(asked))} with column kwh" in answer.json()["error"]["message"], asked


@pytest.mark.slow
def test_what_the_policy_names_may(open_minded: House) -> None:
    home = open_minded.curator.policy.datasets["meters"]
    columns = {"step": "FLOOR(kwh)", "cold": "CASE WHEN region = 'north' THEN 'yes' ELSE 'no' END"}
    with client_of(open_minded, "ana") as client:
        about = client.describe("meters")
        assert (about["expression_columns"], about["expression_functions"]) == (["kwh", "region"], ["case", "floor"])
        far = client.dataset("meters", where="KWH > 0.1", columns=columns)
        plan = far.sum("step", clip=(0.0, 3.0)).by(cold=["yes", "no"]).where("region <> 'x'").plan(epsilon=0.5)
        series = home.series(where="KWH > 0.1", columns=columns)
        asked = series.sum("step", clip=(0.0, 3.0)).by(cold=["yes", "no"]).where("region <> 'x'").plan(epsilon=0.5)
        assert plan.design == asked.design
        assert str(plan) == said_of_a_question(asked)
        assert len(plan.rehearse()) == 96
        release = plan.release(request="r")
        assert "rows where KWH > 0.1 AND region <> 'x'" in release.link.certificate.mechanism
        with pytest.raises(errors.NotAllowed, match="with column meter"):
            far.count().where("meter = 'm7'").plan(epsilon=0.5)
        with pytest.raises(errors.NotAllowed, match="where with ABS"):
            far.count().where("ABS(kwh) > 1").plan(epsilon=0.5)
        with pytest.raises(InvalidArgument, match="an expression over the columns of one row"):
            far.count().where("kwh > (SELECT 1)").plan(epsilon=0.5)


@pytest.mark.slow
def test_sizes_that_nobody_declared_are_refused(tmp_path: Path) -> None:
    path = rewritten(tmp_path, f"least_group = 15\n{ALLOWED}")
    with open_house(path, str(tmp_path / "budget.db")) as house, client_of(house, "ana") as client:
        with pytest.raises(errors.NotAllowed, match="where beside least_group"):
            client.dataset("meters").count().where("kwh > 1").plan(epsilon=0.5)
        far = client.dataset("meters", columns={"step": "FLOOR(kwh)"})
        with pytest.raises(errors.NotAllowed, match="by step"):
            far.count().by(step=[0, 1]).plan(epsilon=0.5)
        assert far.sum("step", clip=(0.0, 3.0)).plan(epsilon=0.5).fits


def test_a_policy_names_functions_that_exist(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"allow.expression_functions must be a list made of case, coalesce"):
        read_policy(rewritten(tmp_path, 'expression_functions = ["random"]'))

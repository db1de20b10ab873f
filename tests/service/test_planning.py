"""Plans are remembered for whoever asked, and what the ledger says is told anew each time."""

from __future__ import annotations

from typing import Any

import pytest

from chronodp.errors import NotAllowed
from chronodp.service import curator as curators, planning
from chronodp.service.planning import Plans, plan_question
from chronodp.service.presenting import show_plan
from chronodp.service.question import QueryRequest
from tests.service.town import COUNT, SUM, House


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the datasets of every plan that was made, and not remembered."""
    seen: list[str] = []

    def counted(dataset: Any, question: QueryRequest) -> Any:
        seen.append(dataset.name)
        return plan_question(dataset, question)

    monkeypatch.setattr(curators, "plan_question", counted)
    return seen


def test_a_plan_is_made_once_for_each_caller(house: House, made: list[str]) -> None:
    answers = [house.post(who, "/datasets/meters/plan", SUM) for who in ("ana", "ana", "ben", "ben", "ana")]
    assert [answer.status_code for answer in answers] == [200] * 5
    assert len(made) == 2  # what ana asked must not answer ben sooner
    assert all(answer.json() == answers[0].json() for answer in answers)


def test_a_quote_and_a_release_take_the_plan_that_was_made(house: House, made: list[str]) -> None:
    house.post("ana", "/datasets/meters/plan", SUM)
    house.post("ana", "/datasets/meters/quote", {"request": "r", "question": SUM})
    job = house.submit("ana", "r", SUM).json()
    assert house.finish("ana", job["id"])["state"] == "done"
    assert len(made) == 1


def test_a_remembered_plan_tells_the_budget_as_it_is_now(house: House) -> None:
    dear = SUM | {"epsilon": 2.2}  # squares add up to those of four: a few of them fit
    before = house.post("ana", "/datasets/meters/plan", dear).json()
    assert (before["share"], before["fits"], before["refusal"]) == (0.0, True, None)
    numbers = 0
    while (shown := house.post("ana", "/datasets/meters/plan", dear).json())["fits"]:
        job = house.submit("ana", f"r{numbers}", dear, fresh=True).json()
        assert house.finish("ana", job["id"])["state"] == "done"
        after = house.post("ana", "/datasets/meters/plan", dear).json()
        assert after["share"] > shown["share"]
        numbers += 1
    assert numbers > 2
    assert shown["refusal"]["kind"] == "budget_exhausted"
    same = {"share", "fits", "refusal"}
    assert {key: shown[key] for key in shown if key not in same} == {
        key: before[key] for key in before if key not in same
    }


@pytest.mark.parametrize("question", [SUM, COUNT], ids=["sum", "count"])
def test_what_is_shown_is_the_table_of_alternatives(common_house: House, question: Any) -> None:
    meters = common_house.curator.policy.datasets["meters"]
    plan = plan_question(meters, QueryRequest.model_validate(question)).plan
    assert show_plan(meters, plan).alternatives == plan.alternatives.to_dict("records")


def test_a_refusal_is_not_remembered_as_a_plan() -> None:
    plans = Plans()

    def refuse() -> Any:
        raise NotAllowed("no")

    for _ in range(2):
        with pytest.raises(NotAllowed):
            plans.get("ana/", ("meters", "?"), refuse)


def test_nobody_drives_out_the_plans_of_another() -> None:
    plans, made = Plans(), list[object]()

    def make() -> Any:
        made.append(object())
        return made[-1]

    mine = plans.get("ana/", ("meters", "mine"), make)
    first = plans.get("ben/", ("meters", "0"), make)
    for number in range(10 * planning._EACH):
        plans.get("ben/", ("meters", str(number)), make)
    assert plans.get("ana/", ("meters", "mine"), make) is mine
    assert plans.get("ben/", ("meters", "0"), make) is not first  # his own oldest made room

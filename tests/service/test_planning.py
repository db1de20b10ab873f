"""Plans are remembered for whoever asked, what the ledger says is told anew each time, and quotes cost nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chronodp.errors import NotAllowed
from chronodp.service import curator as curators, planning
from chronodp.service.planning import Plans, plan_question
from chronodp.service.presenting import show_plan
from chronodp.service.question import QueryRequest
from tests.service.town import COUNT, SUM, House, open_house, write_policy


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


def _quote(house: House, who: str, request: str, question: object = SUM, *, fresh: bool = False) -> dict[str, object]:
    content = {"request": request, "question": question, "fresh": fresh}
    found: dict[str, object] = house.post(who, "/datasets/meters/quote", content).json()
    return found


@pytest.mark.slow
def test_a_quote_is_what_the_debit_then_is(house: House) -> None:
    before = house.get("olga", "/datasets/meters/history").json()
    said = _quote(house, "ana", "first")
    assert _quote(house, "ana", "first") == said
    assert house.get("olga", "/datasets/meters/history").json() == before == []
    assert house.get("ana", "/jobs").json() == []  # nothing is on disk
    house.ended("ana", "first", SUM)
    budget = house.get("ana", "/datasets/meters/budget").json()
    assert said["debits"] is True
    assert said["left"] == pytest.approx(1 - budget["whole"]["share"])
    assert said["left_of_mine"] == pytest.approx(1 - budget["mine"]["share"])
    assert said["delta"] == 1e-6
    assert 0 < said["epsilon"] < 0.5  # type: ignore[operator]  # asked at a tenth of the dataset's delta
    assert _quote(house, "olga", "own", COUNT)["left_of_mine"] is None  # the owner spends from the whole


@pytest.mark.slow
def test_what_was_asked_before_is_quoted_at_nothing(house: House) -> None:
    house.ended("ana", "first", SUM)
    for who, request, why in (
        ("ana", "first", "This request was made before"),
        ("ana", "second", "The same question was asked before"),
        ("ben", "first", "The same question was asked before"),
    ):
        said = _quote(house, who, request)
        assert (said["debits"], said["epsilon"], said["release"]) == (False, 0.0, 1)
        assert str(said["why"]).startswith(why)
    assert _quote(house, "ana", "second", fresh=True)["debits"] is True
    # It is refused where the submission would be, in the same words.
    dear = SUM | {"epsilon": 9.9}
    for request, question in (("first", COUNT), ("third", dear), ("fourth", SUM | {"every": "1W"})):
        refused = house.submit("ana", request, question)
        assert refused.status_code >= 400
        assert _quote(house, "ana", request, question) == refused.json()


@pytest.mark.slow
def test_where_releases_are_not_shared_a_quote_tells_nothing_of_others(tmp_path: Path) -> None:
    with open_house(write_policy(tmp_path, share=False)) as house:
        before = _quote(house, "ben", "first")
        house.ended("ana", "first", SUM)
        after = _quote(house, "ben", "first")
        assert after["debits"] is True
        assert after | {"left": None} == before | {"left": None}  # the whole has less: that someone spent is no secret

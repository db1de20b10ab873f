"""The main path: look, plan, try, submit, read, check."""

from __future__ import annotations

import io
import json
import socket
from pathlib import Path
from typing import Any

import pandas
import pytest

import chronodp as cdp
from chronodp.errors import InvalidArgument
from chronodp.ledger import Feeding, Gap, feeding_path, verify_chain, write_feeding
from chronodp.ledger.certificates import SignedLink
from chronodp.service.serving import listen
from tests.cases import raising
from tests.service.town import API, COUNT, SUM, House, open_house, write_policy, write_rows


def test_from_a_plan_to_a_downloaded_release(house: House) -> None:
    (about,) = house.get("ana", "/datasets").json()
    assert about["name"] == "meters"
    assert about["groups"] == {"region": ["north", "south"]}
    assert "rows." not in json.dumps(about)  # where the data lies is the owner's affair
    plan = house.post("ana", "/datasets/meters/plan", SUM | {"by": {"region": ["north", "south"]}}).json()
    assert plan["fits"]
    assert plan["half_width"] > 0
    assert len(plan["bands"]["each_period"]) == 48
    assert plan["bands"]["running_total"][-1] > plan["bands"]["running_total"][0]
    answer = house.submit("ana", "load", SUM)
    assert answer.status_code == 202
    job = house.finish("ana", answer.json()["id"])
    assert job["state"] == "done", job
    assert job["release"] == 1
    place = "/datasets/meters/releases/1"
    whole = house.get("ana", place).json()
    assert whole["who"] == "ana"
    assert set(whole["readings"]) == {"each_period", "rolling", "running_total", "resample"}
    assert house.post("ben", "/verify", {"release": whole["release"], "link": whole["link"]}).json()["valid"]
    changed = whole["release"].replace("1", "2", 1)
    assert not house.post("ben", "/verify", {"release": changed, "link": whole["link"]}).json()["valid"]
    alone = house.post("ben", "/verify", {"link": whole["link"]}).json()
    assert alone["valid"]
    assert "without its release" in alone["why"]
    forged = whole["link"] | {"body": whole["link"]["body"].replace("ana/", "ben/")}
    assert not house.post("ben", "/verify", {"link": forged}).json()["valid"]
    assert house.post("ben", "/verify", {"release": whole["release"]}).status_code == 422
    for view in whole["readings"]:
        table = house.get("ana", f"{place}/table?view={view}").json()
        assert table["columns"][-3:] == ["value", "lower", "upper"]
    rows = house.get("ana", f"{place}/table").json()["rows"]
    csv = pandas.read_csv(io.StringIO(house.get("ana", f"{place}/table?format=csv").text))
    parquet = pandas.read_parquet(io.BytesIO(house.get("ana", f"{place}/table?format=parquet").content))
    values = [row[1] for row in rows]
    assert csv["value"].tolist() == pytest.approx(values)
    assert parquet["value"].tolist() == pytest.approx(values)
    certificate = house.get("eve", f"{place}/certificate").json()
    assert "differentially private" in certificate["words"]
    chain = house.get("eve", "/datasets/meters/chain").json()
    links = [SignedLink(link["body"], link["signature"]) for link in chain["links"]]
    assert [link.request for link in verify_chain(links, chain["public_key"], head=chain["head"])] == ["ana/load"]
    assert house.post("ben", "/verify", chain).json()["valid"]
    for name, other in (("dataset", "other"), ("public_key", "A" * 44)):
        assert not house.post("ben", "/verify", chain | {name: other}).json()["valid"]
    without: tuple[dict[str, Any], ...] = ({"links": []}, chain | {"links": [], "head": "0" * 64})
    for nothing in without:
        assert house.post("ben", "/verify", nothing).status_code == 422
    (claim,) = house.get("ben", "/claims").json()
    assert claim["argument"] == "docs/explanation/proofs/release.md"


def test_the_same_request_and_the_same_question_cost_once(house: House) -> None:
    first = house.submit("ana", "load", SUM)
    again = house.submit("ana", "load", SUM)
    assert (first.status_code, again.status_code) == (202, 200)
    assert first.json()["id"] == again.json()["id"]
    assert house.finish("ana", first.json()["id"])["state"] == "done"
    other = house.submit("ben", "mine", SUM).json()
    assert other["repeated"]
    assert (other["state"], other["release"]) == ("done", 1)
    assert len(house.get("eve", "/datasets/meters/history").json()) == 1
    fresh = house.submit("ben", "own", SUM, fresh=True).json()
    assert house.finish("ben", fresh["id"])["release"] == 2
    assert len(house.get("eve", "/datasets/meters/history").json()) == 2
    clash = house.submit("ana", "load", COUNT)
    assert clash.status_code == 409
    assert clash.json()["error"]["kind"] == "conflict"


def test_two_alike_that_come_together_are_drawn_once(house: House) -> None:
    jobs = [house.submit(who, "together", SUM).json() for who in ("ana", "ben")]
    ended = [house.finish(who, job["id"]) for who, job in zip(("ana", "ben"), jobs, strict=True)]
    assert [job["release"] for job in ended] == [1, 1]
    assert len(house.get("olga", "/datasets/meters/history").json()) == 1


@pytest.mark.slow
def test_releases_that_are_not_shared_are_ones_own(tmp_path: Path) -> None:
    policy = write_policy(tmp_path, share=False)
    with open_house(policy) as house:
        for who in ("ana", "ben"):
            job = house.submit(who, "load", SUM).json()
            assert not job["repeated"]
            house.finish(who, job["id"])
        assert [line["who"] for line in house.get("ana", "/datasets/meters/releases").json()] == ["ana"]
        assert house.get("ana", "/datasets/meters/releases/2").status_code == 404
        assert house.get("eve", "/datasets/meters/releases/2").status_code == 200
        told = house.get("ana", "/datasets/meters/history").json()
        assert [(entry["who"], entry["request"]) for entry in told] == [("another analyst", ""), ("ana", "ana/load")]
        again = house.submit("ana", "again", SUM).json()
        assert (again["repeated"], again["release"]) == (True, 1)


def test_a_refused_budget_tells_asked_spent_and_left_and_nothing_is_spent(house: House) -> None:
    dear = COUNT | {"epsilon": 4.5}
    plan = house.post("ana", "/datasets/meters/plan", dear).json()
    assert not plan["fits"]
    answer = house.submit("ana", "dear", dear)
    assert answer.status_code == 409
    error = answer.json()["error"]
    assert error == plan["refusal"]
    assert error["asked"] > error["left"] > 0
    assert error["spent"] == 0
    assert house.get("ana", "/jobs").json() == []
    assert house.get("eve", "/datasets/meters/history").json() == []


@pytest.mark.slow
def test_the_whole_is_the_wall_whatever_parts_analysts_have(tmp_path: Path) -> None:
    policy = write_policy(tmp_path, epsilon=2.0, parts={"ana": 2.0, "ben": 2.0})
    with open_house(policy) as house:
        states = []
        for number in range(4):
            who = ("ana", "ben")[number % 2]
            answer = house.submit(who, f"r{number}", COUNT | {"epsilon": 1.6 + number / 1000})
            states.append(answer.status_code)
            if answer.status_code == 202:
                house.finish(who, answer.json()["id"])
        assert 409 in states
        budget = house.get("ben", "/datasets/meters/budget").json()
        assert budget["mine"]["share"] < 1
        assert all(part["spent"] <= part["limit"] for part in budget["whole"]["sums"])


def test_the_policy_refuses_by_what_is_asked(common_house: House) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"measure": {"kind": "sum", "column": "kwh", "clip": [0.0, 6.0]}}, "clip"),
        ({"measure": {"kind": "sum", "column": "meter", "clip": [0.0, 1.0]}}, "column"),
        ({"measure": {"kind": "histogram", "column": "kwh", "edges": [-1.0, 0.0, 5.0]}}, "edges"),
        ({"by": {"meter": ["m1"]}}, "by"),
        ({"by": {"region": ["west"]}}, "region"),
        ({"every": "15min"}, "every"),
        ({"start": "2025-12-31"}, "start"),
        ({"epsilon": 11.0}, "epsilon"),
    ]
    for change, argument in cases:
        answer = common_house.post("ana", "/datasets/meters/plan", SUM | change)
        assert answer.status_code == 403, (change, argument, answer.text)
        assert answer.json()["error"]["argument"] == argument, (change, argument)
        assert answer.json()["error"]["mend"], (change, argument)


@pytest.mark.slow
def test_the_least_group_is_compared_with_declared_sizes(tmp_path: Path) -> None:
    with open_house(write_policy(tmp_path, changes={"south = 20": "south = 14"})) as house:
        both = house.post("ana", "/datasets/meters/plan", SUM | {"by": {"region": ["north", "south"]}})
        assert both.status_code == 403
        assert "declared" in both.json()["error"]["mend"]
        assert house.post("ana", "/datasets/meters/plan", SUM | {"by": {"region": ["north"]}}).status_code == 200


@pytest.mark.slow
def test_trials_and_plans_read_no_data(tmp_path: Path) -> None:
    policy = write_policy(tmp_path)
    (tmp_path / "rows.parquet").unlink()
    with open_house(policy) as house:
        assert house.post("ana", "/datasets/meters/plan", SUM).status_code == 200
        tried = house.post("ana", "/datasets/meters/try", SUM | {"by": {"region": ["north", "south"]}})
        assert tried.status_code == 200
        assert tried.json()["made_up"]
        assert len(tried.json()["table"]["rows"]) == 96
        assert house.get("eve", "/datasets/meters/history").json() == []


@pytest.mark.slow
@pytest.mark.parametrize("harm", ["gone", "column", "damaged"])
def test_data_that_disappears_or_changes_tells_nothing(tmp_path: Path, harm: str, caplog: Any) -> None:
    rows = tmp_path / "rows.csv"
    write_rows(rows)
    with open_house(write_policy(tmp_path, source=rows.name)) as house:
        if harm == "gone":
            rows.unlink()
        elif harm == "column":
            rows.write_text("read_at,meter,secret\n2026-01-01,m-hidden,7\n", encoding="utf-8")
        else:
            rows.write_bytes(b"\x00\xff" * 100)
        job = house.ended("ana", "load", SUM)
        if harm == "damaged" and job["state"] == "done":
            return  # read as text in which no row can serve: an empty table is released like any other
        assert job["state"] == "failed"
        problem: Any = job["problem"]
        assert problem["kind"] == "release_failed"
        for word in ("rows", "secret", "hidden", "meter", "csv"):
            assert word not in json.dumps(problem)
        assert problem["message"].rpartition(" ")[2] in caplog.text
        assert "hidden" not in caplog.text
        assert house.get("eve", "/datasets/meters/history").json() == []


def test_steps_of_streams_and_alerts_are_told_as_events(house: House) -> None:
    ledger = house.curator.ledger
    terms: dict[str, Any] = {"change": 1.0, "unit": cdp.User(), "ledger": ledger, "dataset": "meters"}
    live = cdp.Stream(cdp.RunningTotal(), horizon=10, max_periods=2, epsilon=1.0, delta=1e-7, name="live", **terms)
    answers = [live.step(float(value)) for value in range(5)]
    cdp.Alert(
        above=1.0, change=1.0, unit=cdp.User(), max_alerts=1, epsilon=0.5, ledger=ledger, dataset="meters", name="alarm"
    ).step(1e6)
    assert {line["name"]: line["steps"] for line in house.get("ana", "/streams").json()} == {"live": 5, "alarm": 1}
    assert house.get("zoe", "/streams").json() == []
    assert house.get("olga", "/streams/live").json()["said_at"] is None
    said = Feeding("2026-01-01T00:00:00+00:00", ("the clock went ahead by 10 min",), (Gap("earlier", "was cut short"),))
    path = feeding_path(house.curator.address, "live")
    if path is not None:  # nobody knows where it lies beside a database
        write_feeding(path, said)
        told = {who: house.get(who, "/streams/live").json() for who in ("olga", "ana", "eve")}
        assert {who: answer["waits"] for who, answer in told.items()} == {who: list(said.waits) for who in told}
        assert [told[who]["gaps"] for who in ("ana", "eve")] == [None, None]  # that depends on the data
        assert told["olga"]["gaps"] == [{"at": "earlier", "what": "was cut short"}]
        path.write_text("[", encoding="utf-8")
        assert house.get("olga", "/streams/live").json()["waits"] == []
    text = house.get("ana", "/streams/live/events?wait=0").text
    events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
    assert [event["values"][0] for event in events[:-1]] == pytest.approx([answer.value for answer in answers])
    assert [event["half_width"] for event in events[:-1]] == pytest.approx(
        [(answer.upper - answer.lower) / 2 for answer in answers]
    )
    assert events[-1]["kind"] == "end"
    address = f"{API}/streams/live/events?wait=0"
    for known in (
        house.get("ana", "/streams/live/events?wait=0&after=3"),
        house.http.get(address, headers=house.headers("ana") | {"Last-Event-ID": "3"}),
    ):
        assert known.text == text[text.index("id: 4\n") :]
    alarm = house.get("ana", "/streams/alarm/events?wait=0").text
    assert '"kind": "alert"' in alarm
    assert house.get("zoe", "/streams/live/events?wait=0").status_code == 404


def test_figures_tell_calls_jobs_and_budgets(house: House) -> None:
    house.ended("ana", "load", SUM)
    text = house.get("eve", "/metrics").text
    assert 'chronodp_jobs{state="done"} 1.0' in text
    assert 'chronodp_budget_share{dataset="meters"}' in text
    assert "chronodp_writable 1.0" in text


@pytest.mark.slow
def test_answers_do_not_wait_for_acknowledgements() -> None:
    with listen("127.0.0.1", 0) as door, socket.create_connection(door.getsockname()), door.accept()[0] as taken:
        assert taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_host_that_is_none_is_named() -> None:
    for host in ["nonsense.invalid", "::zz", "a\0b", "ü" * 70]:
        with raising(InvalidArgument, match="host must be an address of this machine", case=host):
            listen(host, 0)

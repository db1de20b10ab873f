"""Holds: whoever may keeps jobs from being begun, and they go on when they are let."""

from __future__ import annotations

import time

import httpx
import pytest

from chronodp.errors import ChronodpError, NotFound
from chronodp.service.client import Client
from tests.service.town import API, COUNT, House


def state(house: House, job: str) -> str:
    return str(house.get("olga", f"/jobs/{job}").json()["state"])


def lift(house: House, who: str, hold: str) -> httpx.Response:
    return house.http.delete(f"{API}/holds/{hold}", headers=house.headers(who))


def test_what_is_held_waits_on_disk_and_the_rest_goes_on(house: House) -> None:
    made = house.post("olga", "/holds", {"dataset": "meters", "why": "rows are being corrected"})
    assert made.status_code == 201
    held = house.submit("ana", "a", COUNT).json()["id"]
    other = house.post("ben", "/datasets/other/jobs", {"request": "b", "question": {**COUNT, "delta": 0.0}}).json()
    assert house.finish("ben", other["id"])["state"] == "done"
    assert state(house, held) == "waiting"
    assert house.http.get(f"{API}/health").json()["status"] == "ok"  # which datasets are held is nobody's business
    assert house.get("eve", "/holds").json() == [made.json()]
    assert made.json()["by_whom"] == "olga"
    assert lift(house, "olga", made.json()["id"]).status_code == 204
    assert house.finish("ana", held)["state"] == "done"
    assert lift(house, "olga", made.json()["id"]).status_code == 404


def test_a_hold_on_everything_turns_health_red_in_public_words(house: House) -> None:
    made = house.post("olga", "/holds", {"why": "a secret reason"}).json()
    answer = house.http.get(f"{API}/health")
    assert (answer.status_code, answer.json()["status"]) == (503, "held")
    assert "secret" not in answer.text
    lift(house, "olga", made["id"])
    assert house.http.get(f"{API}/health").status_code == 200


def test_one_job_is_held_and_resumed(house: House) -> None:
    everything = house.post("olga", "/holds", {"why": "to hold one in peace"}).json()["id"]
    one, other = (house.submit("ana", name, COUNT, fresh=True).json()["id"] for name in ("a", "b"))
    assert house.post("olga", f"/jobs/{one}/hold", None).json()["state"] == "held"
    alike = house.submit("ben", "alike", COUNT).json()["id"]
    assert state(house, alike) in ("held", "waiting")  # as the one of the same design that answers it
    lift(house, "olga", everything)
    assert house.finish("ana", other)["state"] == "done"
    time.sleep(0.2)
    assert state(house, one) == "held"
    refused = house.post("olga", f"/jobs/{other}/hold", None)
    assert (refused.status_code, refused.json()["error"]["message"]) == (
        409,
        "only a job that is waiting itself can become held",
    )
    assert house.post("olga", f"/jobs/{one}/resume", None).json()["state"] in ("waiting", "running", "done")
    assert house.finish("ana", one)["state"] == "done"


def test_the_client_holds_and_resumes(house: House) -> None:
    with Client("http://x", token=house.tokens["olga"], http=house.http) as client:
        hold = client.hold("meters", why="rows are being corrected")
        assert list(client.holds()["why"]) == ["rows are being corrected"]
        client.resume(hold)
        assert client.holds().empty
        with pytest.raises(NotFound, match="nosuch"):
            client.hold("nosuch", why="x")
        with pytest.raises(ChronodpError, match="a line of 1 to 500 letters"):
            client.hold(why="two\nlines")

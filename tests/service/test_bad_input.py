"""What comes in damaged, oversized, hostile or at the wrong time."""

from __future__ import annotations

import json
import resource
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from chronodp.service.bodies import check_body
from chronodp.service.pacing import Pace
from tests.hostile import unseen
from tests.service.town import API, COUNT, SUM, House, open_house, write_policy

PLAN = f"{API}/datasets/meters/plan"


def send(house: House, content: bytes, *, kind: str = "application/json", path: str = PLAN) -> tuple[int, Any]:
    headers = house.headers("ana") | ({"Content-Type": kind} if kind else {})
    answer = house.http.post(path, content=content, headers=headers)
    return answer.status_code, answer.json()["error"]


def wait_for_status(house: House, status: str) -> None:
    """Wait for the next beats of the background: it is they that find out."""
    deadline = time.monotonic() + 60
    while house.http.get(f"{API}/health").json()["status"] != status:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_bodies_are_refused_in_one_shape(common_house: House) -> None:
    cases: list[tuple[bytes, str, int, str]] = [
        (b"{", "application/json", 400, "malformed"),
        (b"[" * 100_000, "application/json", 400, "malformed"),
        (b'{"a":' * 50 + b"1" + b"}" * 50, "application/json", 400, "malformed"),
        (b"\xff\xfe{}", "application/json", 400, "malformed"),
        *(
            (('{"a":' * 9 + "[" * 3000).encode(encoding), "application/json", 400, "malformed")
            for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
        ),
        *(
            ('{"measure": {"kind": "count"}, "epsilon": 0.5}'.encode(encoding), "application/json", 400, "malformed")
            for encoding in ("utf-16", "utf-16-le", "utf-32-be", "utf-8-sig")
        ),
        (b'{"epsilon": NaN}', "application/json", 400, "malformed"),
        (b'{"epsilon": ' + b"9" * 5000 + b"}", "application/json", 400, "malformed"),
        (b'{"by": {"\\ud800": ["a"]}}', "application/json", 400, "malformed"),
        (b'{"by": {"a\\u0000": ["a"]}}', "application/json", 400, "malformed"),
        (b"{}", "text/plain", 415, "wrong_type"),
        (b"{}", "", 415, "wrong_type"),
        (b"a=b", "application/x-www-form-urlencoded", 415, "wrong_type"),
        (b'"' + b"x" * (1 << 20) + b'"', "application/json", 413, "too_large"),
        (b"{}", "application/json", 422, "invalid_argument"),
        (b"[]", "application/json", 422, "invalid_argument"),
        (b'{"measure": {"kind": "count"}, "epsilon": 1e999}', "application/json", 422, "invalid_argument"),
        (b'{"measure": {"kind": "count"}, "epsilon": -1}', "application/json", 422, "invalid_argument"),
        (b'{"measure": {"kind": "count"}, "epsilon": 1, "more": 1}', "application/json", 422, "invalid_argument"),
    ]
    for content, kind, status, name in cases:
        answered, error = send(common_house, content, kind=kind)
        assert (answered, error["kind"]) == (status, name), (content, kind, status, name)
        assert error["mend"], (content, kind, status, name)


def test_a_large_release_is_read_only_for_whoever_is_known(common_house: House) -> None:
    large = json.dumps({"release": "x" * (2 << 20), "link": {"body": "b", "signature": "s"}}).encode()
    path, kind = f"{API}/verify", {"Content-Type": "application/json"}
    known = common_house.http.post(path, content=large, headers=kind | common_house.headers("ana"))
    assert known.json()["valid"] is False  # read whole, and no link of ours
    for headers in ({}, {"Authorization": "Bearer cdp_x_y"}, {"Cookie": "chronodp_session=x"}):
        assert common_house.http.post(path, content=large, headers=kind | headers).status_code == 401


def test_a_body_without_end_is_refused(common_house: House) -> None:
    def forever() -> Any:
        for _ in range(64):
            yield b"x" * (1 << 16)

    answer = common_house.http.post(
        PLAN, content=forever(), headers=common_house.headers("ana") | {"Content-Type": "application/json"}
    )
    assert answer.status_code == 413


def test_looking_at_a_body_takes_time_in_proportion_to_it() -> None:
    assert check_body(b'"' + b'\\"' * 500_000) == "it is not JSON"
    assert check_body(b'{"a": "[[[[["}' * 1) is None


def test_names_of_letters_digits_and_a_few_signs_are_taken(house: House) -> None:
    names = ["load-2026.01", "January 2026, again", "Zähler", "名前", "a/b:c@d+e=f", "x" * 60]
    for number, name in enumerate(names):
        answer = house.submit("ana", name, COUNT | {"epsilon": 0.1 + number / 1e3})
        assert answer.status_code == 202, answer.text
        assert house.finish("ana", answer.json()["id"])["state"] == "done"
    listed = [line["request"] for line in house.get("ana", "/datasets/meters/releases").json()]
    assert sorted(listed) == sorted(f"ana/{name}" for name in names)


def test_other_names_are_refused_and_spend_nothing(common_house: House) -> None:
    cases: list[str] = [
        *("'; DROP TABLE service_jobs; --", "<script>alert(1)</script>", "../../etc/passwd", "a\nb", "%00", "a\u202eb"),
        *("a\x1b[2J", "=1+1", "[red]x[/red]", "a\u200bb", "Za\u0308hler"),
    ]
    for name in cases:
        refused = common_house.submit("ana", name, COUNT | {"epsilon": 0.1})
        assert refused.status_code == 422, name
        assert refused.json()["error"]["argument"] == "request", name
        assert "letters, digits" in refused.json()["error"]["mend"], name
        assert unseen(refused.json()["error"]["message"]) == [], name
        assert common_house.get("ana", "/jobs").json() == [], name
        for place in ("datasets", "streams", "jobs"):
            found = common_house.http.get(f"{API}/{place}/{quote(name, safe='')}", headers=common_house.headers("ana"))
            assert found.status_code == 404, name
            assert found.headers["content-type"] == "application/json", name
            assert unseen(found.json()["error"]["message"]) == [], name
        refused = common_house.post("ana", "/datasets/meters/plan", SUM | {"by": {"region": [name]}})
        assert refused.status_code == 403, name


def test_a_clock_that_goes_back_takes_nothing_with_it(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    real = time.time_ns
    house.ended("ana", "before", SUM)
    monkeypatch.setattr(time, "time_ns", lambda: real() - 3_600_000_000_000)
    ended = house.ended("ana", "after", COUNT)
    assert ended["state"] == "done"
    assert [entry["number"] for entry in house.get("eve", "/datasets/meters/history").json()] == [2, 1]
    monkeypatch.setattr(time, "time_ns", lambda: real() + 100 * 86_400_000_000_000)
    assert house.get("ana", "/datasets").status_code == 401  # every token has expired by then


@pytest.mark.slow
def test_a_full_disk_leaves_reading_and_says_so(tmp_path: Path) -> None:
    ledger = tmp_path / "budget.db"
    with open_house(write_policy(tmp_path), str(ledger)) as house:
        job = house.submit("ana", "load", SUM).json()["id"]
        house.finish("ana", job)
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, most))  # no file of this process can grow any more
        try:
            answer = house.submit("ana", "more", COUNT)
            assert answer.status_code == 503
            assert answer.json()["error"]["kind"] == "unavailable"
            assert house.post("ana", "/datasets/meters/plan", COUNT).status_code == 200
            assert house.get("ana", "/datasets/meters/releases/1").status_code == 200
            wait_for_status(house, "read-only")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        answer = house.submit("ana", "more", COUNT)
        assert answer.status_code == 202
        assert house.finish("ana", answer.json()["id"])["state"] == "done"


def test_a_lost_database_leaves_what_is_public_and_says_so(postgres: str, tmp_path: Path) -> None:
    import psycopg

    from tests.service.town import fresh_database

    address = fresh_database(postgres)
    name = urlsplit(address).path.strip("/")
    with open_house(write_policy(tmp_path), address, keys=tmp_path / "keys") as house:
        house.ended("ana", "load", SUM)
        with psycopg.connect(postgres, autocommit=True) as admin:
            admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
            admin.execute("SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = %s", (name,))
            assert house.http.get(f"{API}/health").json() | {"version": ""} == {
                "status": "read-only",
                "why": "the ledger's database cannot be read or written; nothing is spent",
                "ledger": "unavailable",
                "version": "",
            }
            assert house.get("ana", "/datasets").status_code == 200
            plan = house.post("ana", "/datasets/meters/plan", COUNT)
            assert plan.status_code == 200
            assert plan.json()["refusal"]["kind"] == "unavailable"
            for path in ("/datasets/meters/releases", "/datasets/meters/budget", "/jobs"):
                answer = house.get("ana", path)
                assert (answer.status_code, answer.json()["error"]["kind"]) == (503, "unavailable")
            assert house.submit("ana", "more", COUNT).status_code == 503
            assert house.get("zoe", "/datasets").status_code == 503  # never seen, so not believed
            assert "postgres" not in json.dumps(house.submit("ana", "more", COUNT).json())
            admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
        assert house.ended("ana", "more", COUNT)["state"] == "done"
        wait_for_status(house, "ok")


@pytest.mark.slow
def test_nobody_keeps_all_others_waiting(tmp_path: Path) -> None:
    policy = write_policy(tmp_path, floor=5.0, changes={"waiting = 1000000": "waiting = 1"})
    with open_house(policy, pace=Pace(1.0, 1.0)) as house:
        answers = [house.submit("ana", f"r{number}", COUNT | {"epsilon": 0.1 + number / 100}) for number in range(6)]
        assert {answer.status_code for answer in answers} == {202, 429}
        assert house.submit("ben", "one", COUNT).status_code == 202


@pytest.mark.slow
def test_more_calls_than_allowed_wait(tmp_path: Path) -> None:
    with open_house(write_policy(tmp_path, changes={"rate = 1000000": "rate = 2"})) as house:
        answers = [house.get("ana", "/me") for _ in range(12)]
        assert {answer.status_code for answer in answers} == {200, 429}
        refused = next(answer for answer in answers if answer.status_code == 429)
        assert refused.json()["error"]["kind"] == "too_many_calls"
        assert refused.headers["retry-after"] == "1"
        assert house.get("ben", "/me").status_code == 200


def test_a_text_is_no_number(common_house: House) -> None:
    for name, text in [("epsilon", "1"), ("delta", "1e-7"), ("max_periods", "3")]:
        status, error = send(common_house, json.dumps({**COUNT, name: text}).encode())
        assert status == 422, (name, text)
        assert name in (error["argument"] or error["message"]), (name, text)
    assert (
        common_house.post("ana", "/datasets/meters/plan", {**COUNT, "epsilon": 1}).status_code == 200
    )  # a whole number is one

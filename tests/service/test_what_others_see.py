"""Where releases are not shared: what an analyst sees of the others, on every route that answers."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import chronodp as cdp
from chronodp.service.app import make_app
from tests.service.town import API, House, open_house, write_policy

pytestmark = pytest.mark.slow
BENS = {"measure": {"kind": "sum", "column": "kwh", "clip": [0.0, 2.71828]}, "epsilon": 0.37, "max_periods": 7}
ANAS = {"measure": {"kind": "count"}, "epsilon": 0.25, "delta": 1e-7}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("apart")
    policy = write_policy(folder, share=False)
    with open_house(policy) as house:
        for who, request, question in (
            ("ben", "bens", BENS),
            ("ana", "anas", ANAS),
            ("olga", "olgas", BENS | {"epsilon": 0.41}),
        ):
            assert house.ended(who, request, question)["state"] == "done"
        publish_for_ever(house.curator.ledger, folder)
        yield house


def publish_for_ever(ledger: cdp.Ledger, folder: Path) -> None:
    """Buy a lifetime series from the dataset's budget and issue it beside the service, as an owner's command does."""
    days: dict[str, Any] = {"every": "1D", "start": "2026-01-01", "end": "2026-01-02", "unit": cdp.User()}
    source = str(folder / "rows.parquet")
    series = cdp.TimeSeries(source, time="read_at", user="meter", max_periods=1, **days)
    plan = series.sum("kwh", clip=(0.0, 2.0)).lifetime(epsilon=1.0, delta=1e-7, max_periods=2)
    load = plan.open(ledger, dataset="meters", name="load", tally=folder / "load.tally")
    with contextlib.redirect_stderr(io.StringIO()):
        load.issue(source, start=days["start"], end=days["end"], request="first", clip=(0.0, 3.25))
    load.forget("m1")


def answers(house: House, who: str) -> dict[str, Any]:
    """Return what every GET says to someone, whatever it is asked about."""
    jobs = [job["id"] for job in house.get("olga", "/jobs").json()]
    values: dict[str, list[Any]] = {
        "dataset": ["meters"],
        "number": [1, 2, 3, 4],
        "job": jobs,
        "name": ["load"],
        "id": jobs,
        "token": jobs,
    }
    found = {}
    for path, methods in make_app(house.curator).openapi()["paths"].items():
        if "get" not in methods or path.endswith("/events"):
            continue
        names = re.findall(r"{(\w+)}", path)
        for filling in product(*(values[name] for name in names)):
            filled = path.format(**dict(zip(names, filling, strict=True))).removeprefix(API)
            found[filled] = house.get(who, filled)
    return found


def test_nothing_of_others_is_told_but_that_they_spent(house: House) -> None:
    charges = [charge for charge in house.curator.ledger.history("meters") if not charge.analyst]
    numbers = {number for charge in charges for number in re.findall(r"\d\.\d{3,}", str(charge.cost))}
    own = {
        number
        for charge in charges
        if "ana/" in charge.purpose
        for number in re.findall(r"\d\.\d{3,}", str(charge.cost))
    }
    hidden = {"bens", "olgas", "ben/", "olga", "2.71828", "3.25", '"ben"', *(numbers - own)}
    assert len(numbers - own) >= 2  # noise and sensitivity of the others
    told = answers(house, "ana")
    assert sum(answer.status_code == 200 for answer in told.values()) >= 12
    for path, answer in told.items():
        assert answer.status_code in (200, 401, 403, 404, 422), path
        if answer.status_code == 200:
            # A number is another's only as a whole: noise may have the same digits somewhere.
            leaked = {word for word in hidden if re.search(rf"(?<![\d.]){re.escape(word)}(?!\d)", answer.text)}
            assert not leaked, (path, leaked)


@pytest.mark.parametrize("who", ["olga", "eve"])
def test_owner_and_auditor_see_all_of_it(house: House, who: str) -> None:
    entries = house.get(who, "/datasets/meters/history").json()
    assert all(entry["cost"] for entry in entries)
    assert {"ana/anas", "ben/bens", "owner:olga/olgas"} <= {entry["request"] for entry in entries}
    assert "ben/bens" in house.get(who, "/datasets/meters/chain").text


@pytest.mark.parametrize("who", ["ana", "olga", "eve"])
def test_steps_of_a_lifetime_series_are_not_shown_and_its_issues_are_releases(house: House, who: str) -> None:
    """A step without an issue would tell that somebody was forgotten."""
    assert house.get(who, "/streams").json() == []
    assert house.get(who, "/streams/load").status_code == 404
    assert house.get(who, "/streams/load/events?wait=0").status_code == 404
    requests = {release["request"] for release in house.get(who, "/datasets/meters/releases").json()}
    assert ("first" in requests) == (who != "ana")  # releases are not shared here


def test_a_refused_plan_tells_the_whole_and_nobody(house: House) -> None:
    plan = house.post("ana", "/datasets/meters/plan", ANAS | {"epsilon": 5.0})
    assert plan.json()["refusal"]["kind"] == "budget_exhausted"
    assert not {"ben", "olga"} & set(re.findall(r"\w+", plan.text))


def test_whoever_has_no_part_sees_nothing(house: House) -> None:
    for path, answer in answers(house, "zoe").items():
        if "/datasets/meters" in path or "/jobs/" in path:
            assert answer.status_code in (403, 404), path
        elif answer.status_code == 200:
            assert not {"bens", "anas", "meters"} & set(re.findall(r"\w+", answer.text)), path

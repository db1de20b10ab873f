"""Lists are filtered before they are cut, for every role, and what they cost does not grow with the datasets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from benchmarks.crowded_ledger import LARGE, MINE, Size, fill_ledger, name_of, write_policy

from chronodp.ledger import verify_chain
from chronodp.ledger.sqlite import _SQLiteTransaction
from chronodp.service.app import make_app
from chronodp.service.curator import Curator
from chronodp.service.policy_file import read_policy
from chronodp.service.tokens import Role, add_token
from tests.service.town import fresh_database

PEOPLE: dict[str, Role] = {"olga": "owner", "eve": "auditor", "ana": "analyst", "ben": "analyst"}
OTHERS = 100  # releases that are not ana's, in the dataset that is not shared
SMALL = Size(datasets=3, jobs=120, releases=2 * (OTHERS + MINE))
SHARED = name_of(1)


@dataclass
class Town:
    """A curator's application in this process, without a server."""

    curator: Curator
    tokens: dict[str, str]
    portal: BlockingPortal = field(repr=False)
    http: httpx.AsyncClient = field(repr=False)

    def call(self, who: str, method: str, path: str, **content: Any) -> httpx.Response:
        """Return the answer of a route."""
        headers = {"Authorization": f"Bearer {self.tokens[who]}"}
        asked = partial(self.http.request, method, f"/api/v1{path}", headers=headers, **content)
        return self.portal.call(asked)

    def get(self, caller: str, path: str, **query: Any) -> tuple[Any, str | None]:
        """Return what a route answers, and where the next page begins."""
        answer = self.call(caller, "GET", path, params=query)
        assert answer.status_code == 200, answer.text
        found = answer.json() if answer.headers["content-type"].startswith("application/json") else answer.text
        return found, answer.headers.get("X-Next")

    def walk(self, caller: str, path: str, **query: Any) -> list[Any]:
        """Return a whole list, page by page."""
        lines: list[Any] = []
        before: str | None = None
        while True:
            found, before = self.get(caller, path, **query, **({} if before is None else {"before": before}))
            lines += found
            if before is None:
                return lines
            assert len(found) == query["limit"]


def open_town(folder: Path, ledger: str, size: Size) -> Iterator[Town]:
    curator = Curator(read_policy(write_policy(folder, size)), ledger, keys=folder / "keys")
    curator.open_budgets()
    fill_ledger(ledger, folder / "keys", size)
    tokens = {name: add_token(curator.store, name, role) for name, role in PEOPLE.items()}
    transport = httpx.ASGITransport(make_app(curator))
    with start_blocking_portal() as portal:
        yield Town(curator, tokens, portal, httpx.AsyncClient(transport=transport, base_url="http://curator"))
    curator.close()


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def town(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    folder = tmp_path_factory.mktemp("town")
    postgres = request.param == "postgres"
    ledger = fresh_database(request.getfixturevalue("postgres")) if postgres else str(folder / "budget.db")
    yield from open_town(folder, ledger, SMALL)


@pytest.mark.slow
def test_an_analyst_sees_her_few_releases_among_many_of_others(town: Town) -> None:
    for path in (f"/datasets/{LARGE}/releases", "/releases"):
        found = [line for line in town.walk("ana", path, limit=50) if line["dataset"] == LARGE]
        assert [line["number"] for line in found] == list(range(MINE, 0, -1))
        assert {line["who"] for line in found} == {"ana"}
    mine, _ = town.get("ana", "/releases", who="ana", limit=MINE)
    assert [line["request"] for line in mine] == [f"ana/r{number}" for number in range(MINE, 0, -1)]
    assert town.get("ana", f"/datasets/{LARGE}/releases", who="ben") == ([], None)
    assert town.get("ana", "/releases", dataset=LARGE, who="ben") == ([], None)


def test_pages_hold_every_release_once_and_in_order(town: Town) -> None:
    for who in ["olga", "eve", "ana", "ben"]:
        sees_all = who in ("olga", "eve")
        expected = {}
        for dataset in map(name_of, range(SMALL.datasets)):
            stored = town.curator.ledger.stored.releases(dataset, limit=10_000)
            hidden = dataset == LARGE and not sees_all
            expected[dataset] = [one.number for one in stored if not hidden or one.request.startswith(f"{who}/")]
            found = town.walk(who, f"/datasets/{dataset}/releases", limit=17)
            assert [line["number"] for line in found] == expected[dataset], who
        every = town.walk(who, "/releases", limit=40)
        assert {(line["dataset"], line["number"]) for line in every} == {
            (dataset, number) for dataset, numbers in expected.items() for number in numbers
        }, who
        assert len(every) == sum(map(len, expected.values())), who
        issued = [line["issued"] for line in every]
        assert issued == sorted(issued, reverse=True), who


def test_releases_are_filtered_by_who_asked_before_they_are_cut(town: Town) -> None:
    for path in (f"/datasets/{SHARED}/releases", "/releases"):
        everyone = town.walk("olga", path, limit=200)
        for who in ("ana", "ben", "nobody", "owner"):
            found = town.walk("olga", path, who=who, limit=20)
            assert found == [line for line in everyone if line["who"] == who]
    assert town.get("olga", "/releases", who="ana", limit=MINE)[1] is None


def test_jobs_are_filtered_before_they_are_cut(town: Town) -> None:
    everyone = town.walk("olga", "/jobs", limit=9)
    assert len(everyone) == SMALL.jobs
    assert [job["submitted"] for job in everyone] == sorted((job["submitted"] for job in everyone), reverse=True)
    for job in everyone:
        assert (job["release"] is None) == (job["state"] != "done")
    ben = [job for job in everyone if job["request"].startswith("ben/")]
    assert ben
    assert ben == town.walk("ben", "/jobs", limit=9) == town.walk("olga", "/jobs", who="ben", limit=9)
    assert town.get("ben", "/jobs", who="cem") == town.get("ana", "/jobs") == ([], None)
    lost = [job for job in everyone if job["state"] == "lost" and job["dataset"] == SHARED]
    assert lost == town.walk("eve", "/jobs", state="lost", dataset=SHARED, limit=2)


def test_the_history_is_filtered_before_it_is_cut_and_hides_who_asked_for_what_is_not_shared(town: Town) -> None:
    path = f"/datasets/{LARGE}/history"
    everyone = town.walk("olga", path, limit=90)
    assert [line["number"] for line in everyone] == list(range(OTHERS + MINE, 0, -1))
    assert [line["request"] for line in town.walk("olga", path, who="ana", limit=3)] == [
        f"ana/r{number}" for number in range(MINE, 0, -1)
    ]
    seen = town.walk("ana", path, limit=90)
    assert len(seen) == len(everyone)
    assert {line["who"] for line in seen} == {"ana", "another analyst"}
    assert town.walk("ana", path, who="ana", limit=3) == seen[-MINE:]
    assert town.get("ana", path, who="ben") == ([], None)


def test_claims_count_what_a_caller_may_see(town: Town) -> None:
    shared = len(town.walk("olga", "/releases", limit=200)) - OTHERS - MINE
    for who, count in (("olga", OTHERS + MINE + shared), ("ana", MINE + shared)):
        (claim,), after = town.get(who, "/claims", limit=1)
        assert (claim["releases"], after) == (count, None)


def test_claims_come_by_pages(town: Town) -> None:
    store = town.curator.store
    with store.transaction() as transaction:
        for number in range(5):
            words = {"mechanism": f"m{number}", "unit": "u", "theorem": "t", "precision": "p", "argument": "a"}
            transaction.run("INSERT INTO claim_words (claim, words) VALUES (?, ?)", (f"c{number}", json.dumps(words)))
            transaction.run(
                "INSERT INTO claims (dataset, asker, claim, releases) VALUES (?, 'ben/', ?, 3)", (SHARED, f"c{number}")
            )
    try:
        whole = town.walk("olga", "/claims", limit=100)
        assert [claim["mechanism"] for claim in whole[1:]] == [f"m{number}" for number in range(5)]
        assert town.walk("olga", "/claims", limit=2) == whole
    finally:
        with store.transaction() as transaction:
            transaction.run("DELETE FROM claims WHERE claim LIKE 'c_'")


def test_a_chain_comes_by_pages_and_as_one_file(town: Town) -> None:
    links, after = [], 0
    while True:
        page, following = town.get("eve", f"/datasets/{LARGE}/chain", limit=50, after=after)
        links += page["links"]
        if following is None:
            break
        after = int(following)
    whole, _ = town.get("eve", f"/datasets/{LARGE}/chain/file")
    assert whole == json.loads(json.dumps(town.curator.ledger.export(LARGE)))
    assert whole["links"] == links
    assert len(links) == OTHERS + MINE
    assert town.get("eve", f"/datasets/{name_of(2)}/chain/file")[0]["dataset"] == name_of(2)


def test_a_long_chain_is_checked_by_stretches(town: Town) -> None:
    chain = town.curator.ledger.chain(LARGE)
    key = town.curator.ledger.public_key
    assert len(verify_chain(chain[49:], key, first=50)) == OTHERS + MINE - 49
    for stretch, valid in ((chain[49:80], True), ([*chain[49:60], *chain[61:80]], False)):
        body = {"links": [link.to_dict() for link in stretch], "first": 50}
        assert town.call("eve", "POST", "/verify", json=body).json()["valid"] is valid


def test_a_cursor_that_is_none_is_refused(town: Town) -> None:
    for path in ["/jobs", "/releases", f"/datasets/{LARGE}/history", "/claims"]:
        for cursor in ("x", "W10", "WzEsMl0", "é", "WyJhIiwiYiJd" * 40, "WzFlOTk5LCJhIl0"):
            answer = town.call("olga", "GET", path, params={"before": cursor})
            assert answer.status_code == 422, path
            assert answer.json()["error"]["argument"] == "before", path


ROUTES = (
    "/me",
    "/datasets",
    "/jobs",
    "/releases",
    "/streams",
    "/metrics",
    "/claims",
    f"/datasets/{LARGE}/releases",
    f"/datasets/{LARGE}/history",
    f"/datasets/{LARGE}/budget",
    f"/datasets/{LARGE}/chain",
)


@pytest.mark.slow
def test_statements_do_not_grow_with_datasets_jobs_or_releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []
    run = _SQLiteTransaction.run

    def counting(self: _SQLiteTransaction, sql: str, parameters: Any = ()) -> Any:
        counted.append(sql)
        return run(self, sql, parameters)

    monkeypatch.setattr(_SQLiteTransaction, "run", counting)
    sizes = Size(datasets=2, jobs=4, releases=12), Size(datasets=12, jobs=100, releases=240)
    statements = []
    for place, size in enumerate(sizes):
        folder = tmp_path / str(place)
        folder.mkdir()
        for town in open_town(folder, str(folder / "budget.db"), size):
            found: dict[str, int] = {}
            for who, role in PEOPLE.items():
                for path in ROUTES if role != "analyst" else ROUTES[:5]:
                    town.get(who, path)  # what is named for the first time is marked, once
                    counted.clear()
                    town.get(who, path)
                    found[f"{who} {path}"] = len(counted)
            counted.clear()
            town.curator.open_budgets()
            found["start again"] = len(counted)
            statements.append(found)
    few, many = statements
    assert {call: number for call, number in many.items() if number > few[call]} == {}
    assert max(many.values()) <= 31


def test_datasets_come_whole_or_by_pages(tmp_path: Path) -> None:
    for town in open_town(tmp_path, str(tmp_path / "budget.db"), Size(datasets=7, jobs=0, releases=0)):
        for who in PEOPLE:
            whole, end = town.get(who, "/datasets")
            assert end is None
            pages, after = list[Any](), None
            while True:
                found, after = town.get(who, "/datasets", limit=3, **({} if after is None else {"after": after}))
                pages += found
                if after is None:
                    break
            assert pages == whole
            assert [one["name"] for one in whole] == [one.name for one in town.curator.policy.datasets.values()]
        assert town.call("ana", "GET", "/datasets", params={"after": "x"}).status_code == 422


def test_a_job_of_a_long_design_is_stored_and_found_again(town: Town) -> None:
    keys = json.dumps([f"{number * 7919 % 10_007:x}" for number in range(10_000)])  # no index of PostgreSQL holds it
    for request, source, design in (("ben/long", "ben/long", keys), ("ben/again", "ben/long", keys)):
        job, new = town.curator.jobs.submit(
            SHARED, request, "ben", question="{}", design=design, whose=None, fresh=False, admit=lambda _: None, most=10
        )
        assert (job.source, new) == (source, True)
    with town.curator.store.transaction() as transaction:
        transaction.run("DELETE FROM service_jobs WHERE design = ?", (keys,))

"""What the owner's desk asks of the API: tokens, policies in words, spending, publications."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pytest

from chronodp.service.tokens import check_token
from tests.service.town import API, SUM, House, open_house, write_policy


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("desk")
    with open_house(write_policy(folder), str(folder / "budget.db")) as opened:
        opened.finish("ana", opened.submit("ana", "load", SUM).json()["id"])
        yield opened


def delete(house: House, who: str, path: str) -> int:
    return house.http.delete(API + path, headers=house.headers(who)).status_code


def test_a_token_is_made_shown_once_and_revoked(house: House) -> None:
    made = house.post("olga", "/tokens", {"name": "kim", "role": "auditor", "days": 30})
    assert made.status_code == 201
    assert made.headers["cache-control"] == "no-store"
    token = made.json()["token"]
    assert check_token(house.curator.store, token).role == "auditor"
    length = dt.datetime.fromisoformat(made.json()["expires"]) - dt.datetime.fromisoformat(made.json()["made"])
    assert length == dt.timedelta(days=30)
    for who in ("olga", "eve"):
        listed = house.get(who, "/tokens")
        assert token.split("_", 2)[2] not in listed.text
        assert {one["name"]: one["mine"] for one in listed.json()}[who]
        assert [one["state"] for one in listed.json() if one["name"] == "kim"] == ["valid"]
    headers = {"Authorization": f"Bearer {token}"}
    assert house.http.get(f"{API}/me", headers=headers).json()["name"] == "kim"
    for _ in range(2):  # again it changes nothing
        assert delete(house, "olga", f"/tokens/{made.json()['id']}") == 200
    assert house.http.get(f"{API}/me", headers=headers).status_code == 401
    listed = house.get("olga", "/tokens").json()
    assert [one["state"] for one in listed][-1] == "revoked"  # what opens something comes first


def test_tokens_are_made_and_revoked_by_owners_alone(house: House) -> None:
    before = house.get("olga", "/tokens").json()
    mine = next(one["id"] for one in before if one["name"] == "olga")
    for who in ("ana", "eve"):
        assert house.post(who, "/tokens", {"name": "eve", "role": "owner"}).status_code == 403
        assert delete(house, who, f"/tokens/{mine}") == 403
    assert [one["id"] for one in house.get("olga", "/tokens").json()] == [one["id"] for one in before]


@pytest.mark.parametrize(
    ("asked", "argument"),
    [
        ({"name": "", "role": "owner"}, "name"),
        ({"name": "a/b", "role": "owner"}, "name"),
        ({"name": "owner:olga", "role": "analyst"}, "name"),  # under which the ledger knows requests of olga's
        ({"name": "kim", "role": "root"}, "role"),
        ({"name": "kim", "role": "owner", "days": 0}, "days"),
        ({"name": "kim", "role": "owner", "days": 1e300}, "days"),
        ({"name": "kim", "role": "owner", "more": 1}, "more"),
    ],
)
def test_a_token_that_cannot_be_made_is_refused_by_its_argument(
    house: House, asked: dict[str, object], argument: str
) -> None:
    refused = house.post("olga", "/tokens", asked)
    assert refused.status_code == 422
    assert refused.json()["error"]["argument"] == argument


def test_a_token_that_is_not_there_is_not_revoked(house: House) -> None:
    assert delete(house, "olga", "/tokens/00ff00ff00ff") == 404
    assert delete(house, "olga", "/tokens/%00") == 422


def test_spending_ends_where_the_budget_stands(house: House) -> None:
    found = house.get("eve", "/datasets/meters/spending").json()
    whole = house.get("eve", "/datasets/meters/budget").json()["whole"]
    assert (found["epsilon"], found["delta"], found["period"]) == (8.0, 1e-6, "")
    assert found["share"] == found["days"][-1]["share"] == whole["share"] > 0
    assert sum(day["charges"] for day in found["days"]) == whole["charges"] == 1
    assert found["days"][-1]["day"] == dt.datetime.now(dt.UTC).date().isoformat()
    assert house.get("olga", "/datasets/other/spending").json()["days"] == []
    assert house.get("olga", "/datasets/nothing/spending").status_code == 404
    assert house.get("olga", "/datasets/meters/spending?period=2026-01").status_code == 422

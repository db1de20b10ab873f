"""Every route of the API's own description, asked by everyone who must not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from chronodp.service.tokens import add_token, check_token, list_tokens, revoke_token
from tests.service.town import API, SUM, House, open_house, write_policy

OPEN = {("GET", f"{API}/health"), ("POST", f"{API}/session")}
ROLES = {"owner": "olga", "analyst": "ana", "auditor": "eve"}
# What owners alone may do.
OWNERS = {
    ("POST", f"{API}/holds"),
    ("DELETE", f"{API}/holds/{{hold}}"),
    ("POST", f"{API}/jobs/{{job}}/hold"),
    ("POST", f"{API}/jobs/{{job}}/resume"),
    ("POST", f"{API}/policy/check"),
    ("POST", f"{API}/tokens"),
    ("DELETE", f"{API}/tokens/{{id}}"),
}
# What each role may not do; everything else is open to all three.
FORBIDDEN = {
    "auditor": {
        ("POST", f"{API}/datasets/{{dataset}}/plan"),
        ("POST", f"{API}/datasets/{{dataset}}/quote"),
        ("POST", f"{API}/datasets/{{dataset}}/try"),
        ("POST", f"{API}/datasets/{{dataset}}/jobs"),
        *OWNERS,
    },
    "analyst": {
        *OWNERS,
        ("GET", f"{API}/datasets/{{dataset}}/chain"),
        ("GET", f"{API}/datasets/{{dataset}}/chain/file"),
        ("GET", f"{API}/datasets/{{dataset}}/spending"),
        ("GET", f"{API}/holds"),
        ("GET", f"{API}/metrics"),
        ("GET", f"{API}/policy"),
        ("GET", f"{API}/publications"),
        ("GET", f"{API}/spending"),
        ("GET", f"{API}/tokens"),
    },
    "owner": set(),
}
BODIES: dict[str, Any] = {
    "/plan": SUM,
    "/quote": {"request": "again", "question": SUM},
    "/try": SUM,
    "/jobs": {"request": "again", "question": SUM},
    "/verify": {"release": "x", "link": {"body": "b", "signature": "s"}},
    "/session": {"token": "x"},
    "/holds": {"dataset": "other", "why": "a test"},
    "/policy/check": {"text": "x"},
    "/tokens": {"name": "kit", "role": "auditor", "days": 1},
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("access")
    with open_house(write_policy(folder, share=False), str(folder / "budget.db")) as opened:
        opened.finish("ana", opened.submit("ana", "load", SUM).json()["id"])
        yield opened


def every_route(house: House) -> list[tuple[str, str]]:
    description = house.http.get(f"{API}/openapi.json").json()
    routes = [(method.upper(), path) for path, methods in description["paths"].items() for method in methods]
    assert len(routes) >= 20
    return routes


def call(house: House, method: str, path: str, headers: dict[str, str], job: str = "none") -> httpx.Response:
    names = {"dataset": "meters", "number": "1", "job": job, "name": "live", "id": "0" * 12, "hold": "none"}
    place = re.sub(r"{(\w+)}", lambda found: names[found[1]], path)
    body = next((body for end, body in BODIES.items() if method == "POST" and path.endswith(end)), None)
    return house.http.request(method, place, headers=headers, json=body)


def test_the_description_says_which_routes_are_open(house: House) -> None:
    description = house.http.get(f"{API}/openapi.json").json()
    for path, methods in description["paths"].items():
        for method, route in methods.items():
            assert ("security" in route) == ((method.upper(), path) not in OPEN)
            assert route["summary"]
            assert route["description"]


def test_every_route_refuses_strangers(house: House) -> None:
    made = add_token(house.curator.store, "ana", "analyst", days=1e-9)
    revoked = add_token(house.curator.store, "ana", "analyst")
    identity = revoked.split("_")[1]
    revoke_token(house.curator.store, identity)
    forged = house.tokens["olga"][:-4] + "AAAA"
    other = f"cdp_{house.tokens['olga'].split('_')[1]}_{house.tokens['ana'].split('_', 2)[2]}"
    given = ["", f"Bearer {made}", f"Bearer {revoked}", f"Bearer {forged}", f"Bearer {other}", "Bearer x", "Basic eA=="]
    for method, path in every_route(house):
        if (method, path) in OPEN:
            continue
        for header in given:
            answer = call(house, method, path, {"Authorization": header} if header else {})
            assert answer.status_code == 401, (method, path, header)
            assert set(answer.json()["error"]) >= {"kind", "message", "argument", "mend"}
            assert answer.headers["www-authenticate"] == "Bearer"


def test_every_route_refuses_other_roles(house: House) -> None:
    for method, path in every_route(house):
        for role, who in ROLES.items():
            if (method, path) in OPEN or path.endswith("/session"):
                continue
            status = call(house, method, path, house.headers(who)).status_code
            assert (status == 403) == ((method, path) in FORBIDDEN[role]), (method, path, role, status)


def test_what_is_anothers_is_not_there(house: House) -> None:
    job = next(job for job in house.get("ana", "/jobs").json() if job["request"] == "ana/load")
    assert house.get("ana", f"/jobs/{job['id']}").status_code == 200
    for who in ("ben", "zoe"):
        assert house.get(who, f"/jobs/{job['id']}").status_code == 404
        assert house.get(who, "/jobs").json() == []
        for path in ("", "/table", "/certificate"):
            assert house.get(who, f"/datasets/meters/releases/1{path}").status_code == 404
    for method, path in every_route(house):
        if "{dataset}" in path and (method, path) not in FORBIDDEN["analyst"]:
            assert call(house, method, path, house.headers("zoe")).status_code == 404, path
    assert house.get("ana", "/datasets/other").status_code == 404
    unknown = house.get("ana", "/datasets/nothing").json()["error"]
    hidden = house.get("ana", "/datasets/other").json()["error"]
    assert unknown["message"].replace("nothing", "other") == hidden["message"]


def test_tokens_are_kept_as_digests_and_shown_once(house: House) -> None:
    token = add_token(house.curator.store, "kim", "auditor")
    assert len(token.split("_", 2)[2]) >= 43  # 256 bits
    with house.curator.store.snapshot() as transaction:
        rows = transaction.run("SELECT * FROM service_tokens")
    assert token.split("_", 2)[2] not in str(rows)
    assert check_token(house.curator.store, token).name == "kim"
    assert token not in str(list_tokens(house.curator.store))

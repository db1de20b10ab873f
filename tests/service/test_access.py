"""Every route of the API's own description, asked by everyone who must not; and sessions of the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from chronodp.service.tokens import add_token, check_token, list_tokens, revoke_token
from tests.service.town import API, SUM, House, house_of, open_house, write_policy

OPEN = {("GET", f"{API}/health"), ("POST", f"{API}/session")}
ROLES = {"owner": "olga", "analyst": "ana", "auditor": "eve"}


def routes(*lines: str) -> set[tuple[str, str]]:
    return {(method, f"{API}/{path}") for line in lines for method, path in [line.split()]}


OWNERS = routes(
    *("POST holds", "DELETE holds/{hold}", "POST jobs/{job}/hold", "POST jobs/{job}/resume", "POST policy/check"),
    *("POST tokens", "DELETE tokens/{id}"),
)
ASKING = routes(*(f"POST datasets/{{dataset}}/{what}" for what in ("plan", "quote", "try", "jobs")))
WHOLE = routes(*(f"GET datasets/{{dataset}}/{what}" for what in ("chain", "chain/file", "spending")))
WHOLE |= routes(*(f"GET {what}" for what in ("holds", "metrics", "policy", "publications", "spending", "tokens")))
# What each role may not do; everything else is open to all three.
FORBIDDEN = {"owner": set(), "analyst": OWNERS | WHOLE, "auditor": OWNERS | ASKING}
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
house = house_of(
    lambda folder: write_policy(folder, share=False), lambda house: house.ended("ana", "load", SUM), scope="module"
)


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


def sign_in(house: House, who: str) -> tuple[httpx.Response, dict[str, str]]:
    answer = house.http.post(f"{API}/session", json={"token": house.tokens[who]})
    house.http.cookies.clear()
    return answer, {"Cookie": answer.headers["set-cookie"].partition(";")[0]}


def test_a_session_reads_freely_and_changes_only_with_its_second_secret(house: House) -> None:
    answer, cookie = sign_in(house, "ana")
    assert answer.status_code == 200
    words = answer.headers["set-cookie"].lower()
    assert "httponly" in words
    assert "samesite=strict" in words
    assert "secure" not in words
    csrf = answer.json()["csrf"]
    assert house.http.get(f"{API}/session", headers=cookie).json()["csrf"] == csrf
    assert house.http.get(f"{API}/datasets", headers=cookie).status_code == 200
    for wrong in ({}, {"X-CSRF-Token": ""}, {"X-CSRF-Token": csrf[::-1]}, {"X-CSRF-Token": "é"}):
        headers = {key.encode(): value.encode() for key, value in (cookie | wrong).items()}
        refused = house.http.post(f"{API}/datasets/meters/plan", json=SUM, headers=headers)
        assert refused.status_code == 403
        assert refused.json()["error"]["argument"] == "X-CSRF-Token"
    for path, body in (("datasets/meters/plan", SUM), ("verify", {"release": "x", "link": {}})):
        assert house.http.post(f"{API}/{path}", json=body, headers=cookie | {"X-CSRF-Token": csrf}).status_code < 300
    assert house.http.delete(f"{API}/session", headers=cookie).status_code == 403
    assert house.http.delete(f"{API}/session", headers=cookie | {"X-CSRF-Token": csrf}).status_code == 204
    assert house.http.get(f"{API}/datasets", headers=cookie).status_code == 401


def test_one_sessions_secret_does_not_open_another(house: House) -> None:
    first, _ = sign_in(house, "ana")
    _, cookie = sign_in(house, "ana")
    headers = cookie | {"X-CSRF-Token": first.json()["csrf"]}
    assert house.http.post(f"{API}/datasets/meters/plan", json=SUM, headers=headers).status_code == 403


@pytest.mark.slow
def test_under_tls_the_cookie_is_secure_and_the_browser_is_told_to_stay(tmp_path: Path) -> None:
    with open_house(write_policy(tmp_path), tls=True) as house:
        answer, _ = sign_in(house, "ana")
        assert "secure" in answer.headers["set-cookie"].lower()
        assert "max-age" in answer.headers["strict-transport-security"]


def test_every_answer_forbids_scripts_of_others_and_frames(house: House) -> None:
    files = ("/", "/plotly.js", "/static/house.css", "/static/page.css", "/nothing")
    for path in (*files, f"{API}/health", f"{API}/datasets"):
        headers = house.http.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe-eval" not in policy
        assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
    assert house.http.get(f"{API}/datasets").headers["cache-control"] == "no-store"
    assert "Plotly" in house.http.get("/plotly.js").text


def test_a_revoked_token_ends_its_sessions(house: House) -> None:
    house.tokens["kit"] = add_token(house.curator.store, "kit", "analyst")
    _, cookie = sign_in(house, "kit")
    assert house.http.get(f"{API}/datasets", headers=cookie).status_code == 200
    revoke_token(house.curator.store, house.tokens["kit"].split("_")[1])
    assert house.http.get(f"{API}/datasets", headers=cookie).status_code == 401
    assert house.http.post(f"{API}/session", json={"token": house.tokens["kit"]}).status_code == 401


def test_a_session_changes_nothing_without_its_second_secret(house: House) -> None:
    _, cookie = sign_in(house, "olga")
    for method, path in every_route(house):
        if method != "GET" and (method, path) not in OPEN:
            refused = call(house, method, path, cookie)
            assert refused.status_code == 403, (method, path)
            assert refused.json()["error"]["argument"] == "X-CSRF-Token", (method, path)

"""Signing in on the page: the cookie, the second secret, and the end of both."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from chronodp.service.tokens import revoke_token
from tests.service.town import API, SUM, House, open_house, write_policy


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
    changes = {
        f"{API}/datasets/meters/plan": SUM,
        f"{API}/datasets/meters/try": SUM,
        f"{API}/datasets/meters/jobs": {"request": "r", "question": SUM},
        f"{API}/verify": {"release": "x", "link": {}},
    }
    for path, body in changes.items():
        for wrong in ({}, {"X-CSRF-Token": ""}, {"X-CSRF-Token": csrf[::-1]}, {"X-CSRF-Token": "é"}):
            headers = {key.encode(): value.encode() for key, value in (cookie | wrong).items()}
            refused = house.http.post(path, json=body, headers=headers)
            assert refused.status_code == 403, path
            assert refused.json()["error"]["argument"] == "X-CSRF-Token"
        assert house.http.post(path, json=body, headers=cookie | {"X-CSRF-Token": csrf}).status_code < 300
    assert house.http.delete(f"{API}/session", headers=cookie).status_code == 403
    assert house.http.delete(f"{API}/session", headers=cookie | {"X-CSRF-Token": csrf}).status_code == 204
    assert house.http.get(f"{API}/datasets", headers=cookie).status_code == 401


def test_one_sessions_secret_does_not_open_another(house: House) -> None:
    first, _ = sign_in(house, "ana")
    _, cookie = sign_in(house, "ana")
    headers = cookie | {"X-CSRF-Token": first.json()["csrf"]}
    assert house.http.post(f"{API}/datasets/meters/plan", json=SUM, headers=headers).status_code == 403


def test_a_revoked_token_ends_its_sessions(house: House) -> None:
    _, cookie = sign_in(house, "ben")
    revoke_token(house.curator.store, house.tokens["ben"].split("_")[1])
    assert house.http.get(f"{API}/datasets", headers=cookie).status_code == 401
    assert house.http.post(f"{API}/session", json={"token": house.tokens["ben"]}).status_code == 401


@pytest.mark.slow
def test_under_tls_the_cookie_is_secure_and_the_browser_is_told_to_stay(tmp_path: Path) -> None:
    with open_house(write_policy(tmp_path), str(tmp_path / "budget.db"), tls=True) as house:
        answer, _ = sign_in(house, "ana")
        assert "secure" in answer.headers["set-cookie"].lower()
        assert "max-age" in answer.headers["strict-transport-security"]


def test_every_answer_forbids_scripts_of_others_and_frames(house: House) -> None:
    for path in (
        "/",
        "/plotly.js",
        "/static/house.css",
        "/static/page.css",
        f"{API}/health",
        f"{API}/datasets",
        "/nothing",
    ):
        headers = house.http.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe-eval" not in policy
        assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
    assert house.http.get(f"{API}/datasets").headers["cache-control"] == "no-store"
    assert "Plotly" in house.http.get("/plotly.js").text

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

import chronodp as cdp
from tests.cli.conftest import run
from tests.service.certificate import write_certificate
from tests.service.servers import forked_server, running_server
from tests.service.town import API, write_policy


def test_tokens_are_added_listed_and_revoked(tmp_path: Path, refuse: Callable[..., str]) -> None:
    ledger = str(tmp_path / "budget.db")
    made = json.loads(run("token", "add", "ana", "--days", "2", "--ledger", ledger, "--json"))
    assert made["token"].startswith("cdp_")
    assert "shown this once" in run("token", "add", "eve", "--role", "auditor", "--ledger", ledger)
    first, second = json.loads(run("token", "list", "--ledger", ledger, "--json"))
    assert (first["name"], second["role"], first["revoked"]) == ("ana", "auditor", None)
    assert "digest" not in first
    run("token", "revoke", first["id"], "--ledger", ledger)
    shown = run("token", "list", "--ledger", ledger)
    assert "revoked" in shown
    assert "valid" in shown
    assert made["token"].split("_", 2)[2] not in shown
    assert "no token" in refuse("token", "revoke", "nothing", "--ledger", ledger)
    assert "owner, analyst or auditor" in refuse("token", "add", "x", "--role", "king", "--ledger", ledger)
    assert "without slashes" in refuse("token", "add", "a/b", "--ledger", ledger)


def test_jobs_are_held_and_resumed(tmp_path: Path, refuse: Callable[..., str]) -> None:
    ledger = str(tmp_path / "budget.db")
    with cdp.Ledger(ledger) as opened:
        opened.open("meters", unit=cdp.User(), epsilon=1.0)
    made = json.loads(run("curator", "hold", "meters", "--why", "rows [bold]change", "--ledger", ledger, "--json"))
    assert (made["dataset"], made["by_whom"]) == ("meters", "owner")
    assert "no job at all is begun" in run("curator", "hold", "--ledger", ledger)
    check = ("curator", "check", str(write_policy(tmp_path)), "--ledger", ledger)
    one, all_of_it = json.loads(run(*check, "--json"))["holds"]
    assert (one, all_of_it["dataset"]) == (made, "")
    shown = run(*check)
    assert "everything" in shown
    assert "[bold]" in shown
    assert "is lifted" in run("curator", "resume", one["id"], "--ledger", ledger)
    assert json.loads(run("curator", "resume", all_of_it["id"], "--ledger", ledger, "--json"))["lifted"]
    assert json.loads(run(*check, "--json"))["holds"] == []
    assert "no hold" in refuse("curator", "resume", one["id"], "--ledger", ledger)
    assert "no dataset 'nosuch'" in refuse("curator", "hold", "nosuch", "--ledger", ledger)


def test_a_mistyped_ledger_is_not_made(tmp_path: Path, refuse: Callable[..., str]) -> None:
    """A hold in a new file would hold nothing, while the service goes on."""
    for command in [("curator", "hold"), ("curator", "resume", "x"), ("token", "list")]:
        assert "there is no ledger" in refuse(*command, "--ledger", str(tmp_path / "nosuch.db")), command
        assert not list(tmp_path.iterdir()), command


def test_a_policy_is_checked_before_it_is_served(tmp_path: Path, refuse: Callable[..., str]) -> None:
    policy = write_policy(tmp_path)
    assert json.loads(run("curator", "check", str(policy), "--json"))["analysts"] == ["ana", "ben"]
    assert "shared" in run("curator", "check", str(policy))
    policy.write_text(policy.read_text(encoding="utf-8").replace("every =", "evry =", 1), encoding="utf-8")
    assert "line 14: datasets.meters.evry" in refuse("curator", "check", str(policy))
    ledger = str(tmp_path / "budget.db")
    refused = refuse("serve", "--policy", str(policy), "--ledger", ledger)
    assert "line 14: datasets.meters.evry" in refused
    assert "http://" not in refused  # no address of what is not served
    assert "--demo" in refuse("serve", "--ledger", ledger)
    policy = write_policy(tmp_path)
    together = refuse("serve", "--policy", str(policy), "--ledger", ledger, "--tls-cert", "cert.pem")
    assert "tls_key" in together


def test_a_policy_whose_files_cannot_serve_is_named_at_check(tmp_path: Path) -> None:
    policy = write_policy(tmp_path)
    assert "Warning" not in run("curator", "check", str(policy))
    text = policy.read_text(encoding="utf-8")
    for written, instead, said in [
        ('time = "read_at"', 'time = "wen"', "time: the table has no column 'wen'"),
        ('source = "rows.parquet"', 'source = "nope.csv"', "there is no file"),
    ]:
        assert written in text
        policy.write_text(text.replace(written, instead, 1), encoding="utf-8")
        assert f"Warning: datasets.meters: {said}" in run("curator", "check", str(policy))
        assert said in json.loads(run("curator", "check", str(policy), "--json"))["warnings"][0]


def test_a_missing_library_is_named_with_its_extra(
    tmp_path: Path, refuse: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    refused = refuse("serve", "--policy", str(write_policy(tmp_path)), "--ledger", str(tmp_path / "budget.db"))
    assert "uvicorn is not installed: pip install 'chronodp[service]'" in refused


@pytest.mark.kill
def test_a_newcomer_gets_from_nothing_to_a_release(tmp_path: Path) -> None:
    folder = tmp_path / "town"
    made = json.loads(run("curator", "init", str(folder), "--households", "100", "--json"))
    again = json.loads(run("curator", "init", str(folder), "--households", "100", "--json"))
    assert set(made["tokens"]) == {"owner", "ana", "ben", "eve"} == set(again["tokens"])
    with running_server(folder / "policy.toml", str(folder / "budget.db")) as (url, _):
        assert "made-up town" in httpx.get(url).text
        with cdp.Client(url, token=made["tokens"]["ben"]) as client:
            assert client.releases("meters")["request"].tolist() == ["ana/first-look"]
            assert len(client.release("meters", 1).to_pandas()) == 744


@pytest.mark.kill
def test_tls_by_flag(tmp_path: Path) -> None:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    write_certificate(cert, key)
    policy = write_policy(tmp_path)
    options = ("--tls-cert", str(cert), "--tls-key", str(key))
    made = json.loads(run("token", "add", "ana", "--ledger", str(tmp_path / "budget.db"), "--json"))
    with forked_server(policy, str(tmp_path / "budget.db"), *options) as (url, _):
        assert url.startswith("https://")
        with cdp.Client(url, token=made["token"], certificates=str(cert)) as client:
            assert client.datasets()["name"].tolist() == ["meters"]
        with pytest.raises(cdp.errors.ServiceError, match="cannot be reached"), cdp.Client(url, token="t") as client:
            client.datasets()
        answer = httpx.get(f"{url}{API}/health", verify=False)
        assert "strict-transport-security" in answer.headers

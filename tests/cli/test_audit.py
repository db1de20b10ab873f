"""Audits on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from chronodp.cli.shell import app
from tests.cli.conftest import run

OWN = """
from chronodp.audit import Enumerated, AuditCase
from chronodp.privacy import Claim, PureCost, Report

def respond(bit, *, entropy):
    return bit ^ int(not entropy.coins(3, 4))

def claimed(epsilon, mechanism=respond):
    claim = Claim(Report(), PureCost(epsilon), "x")
    return AuditCase(name="own", mechanism=mechanism, neighbours=((0, 1),), claim=claim, checks=(Enumerated(),))

honest, bold = claimed(1.1), [claimed(1.0)]

def broken():
    return claimed(1.0, lambda bit, *, entropy: 1 / 0)

nothing = 5
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "mine_to_audit.py").write_text(OWN, encoding="utf-8")
    return tmp_path


def test_a_mechanism_of_ones_own() -> None:
    for name, outcome, code in [("honest", "holds", 0), ("bold", "refuted", 1), ("broken", "cannot be judged", 1)]:
        result = CliRunner().invoke(app, ["audit", f"mine_to_audit:{name}", "--json"], catch_exceptions=False)
        assert result.exit_code == code, name
        (found,) = json.loads(result.output)["mechanisms"]
        assert found["outcome"] == outcome, name
        assert ("ZeroDivisionError" in found["reason"]) is (name == "broken"), name


@pytest.mark.slow
def test_what_is_no_mechanism_is_refused(refuse: Callable[..., str]) -> None:
    assert "module:object" in refuse("audit", "mine_to_audit:nothing")
    assert "module:object" in refuse("audit", "no_such_module:thing")
    assert "module:object" in refuse("audit", "perpetual motion")


def test_a_table_and_a_page(home: Path) -> None:
    table = run("audit", "mine_to_audit:honest", "--page", "audit.html")
    assert "holds" in table
    assert "1 of 1 claims stand" in table
    assert "δ at each part of the claimed ε" in (home / "audit.html").read_text(encoding="utf-8")


def test_bounded_time_lists_what_was_not_reached() -> None:
    arguments = ["audit", "mine_to_audit:honest", "--within", "1e-9", "--json"]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 1
    assert {one["outcome"] for one in json.loads(result.output)["mechanisms"]} == {"not reached"}

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from chronodp import Event, User, UserPeriod, Window
from chronodp.cli.shell import app
from chronodp.errors import ChronodpError
from chronodp.ledger import Ledger
from chronodp.privacy import GaussianCost
from chronodp.privacy.unit_text import parse_unit
from tests.cli.conftest import run
from tests.ledger.examples import fulfil


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(tmp_path / "budget.db")


def test_a_budget_from_opening_to_closing(place: str) -> None:
    said = run("budget", "open", "meters", "--epsilon", "4", "--delta", "1e-6", "--ledger", place)
    assert "(4, 1e-06)-differentially private for everything of one person" in " ".join(said.split())
    run("budget", "open", "meters", "--epsilon", "4", "--delta", "1e-6", "--ledger", place)
    with Ledger(place) as ledger:
        ledger.spend("meters", GaussianCost(1.0, 2.0), unit=User(), purpose="load-2026-01")
    shown = " ".join(run("budget", "status", "--ledger", place).split())
    for part in ("█", "left", "epsilon at delta 1e-06", "One more release of up to ε", "guarantee is the opened one"):
        assert part in shown
    status = json.loads(run("budget", "status", "meters", "--json", "--ledger", place))
    assert status["charges"] == 1
    assert status["sums"][0]["spent"] == pytest.approx(0.25)
    listed = " ".join(run("budget", "history", "meters", "--ledger", place).split())
    assert "load-2026-01" in listed
    assert "Gaussian noise" in listed
    (entry,) = json.loads(run("budget", "history", "meters", "--json", "--ledger", place))
    assert entry["unit"] == {"kind": "user", "relation": "add_remove"}
    assert entry["cost"] == {"kind": "gaussian", "sensitivity": 1.0, "sigma": 2.0}
    asked = CliRunner().invoke(app, ["budget", "close", "meters", "--ledger", place], input="n\n")
    assert asked.exit_code == 1
    assert "is closed" in run("budget", "close", "meters", "--yes", "--ledger", place)
    assert json.loads(run("budget", "status", "--json", "--ledger", place)) == []


def test_parts_for_analysts(place: str, refuse: Callable[..., str]) -> None:
    run("budget", "open", "meters", "--epsilon", "1", "--ledger", place)
    part = ("budget", "open", "meters", "--analyst", "ana", "--epsilon", "0.5", "--ledger", place)
    assert "do not pool what they learn" in " ".join(run(*part, "--collusion", "excluded").split())
    assert "meters for ana" in run("budget", "status", "--ledger", place)
    assert (
        json.loads(run("budget", "status", "meters", "--analyst", "ana", "--json", "--ledger", place))["epsilon"] == 0.5
    )
    assert "other terms" in refuse(*part)
    assert "collusion must be" in refuse(*part, "--collusion", "perhaps")


def test_terms_on_the_command_line(place: str, refuse: Callable[..., str]) -> None:
    base = ("budget", "open", "x", "--ledger", place)
    run(*base, "--epsilon", "1", "--unit", "window:24/replace", "--renews", "1mo", "--accepts", "Markov")
    with Ledger(place) as ledger:
        ((_, _, terms),) = ledger.budgets()
    assert (terms.unit, terms.renews, terms.accepts) == (Window(24, "replace"), "1mo", ("Markov",))
    assert "other terms" in refuse(*base, "--epsilon", "2")
    assert "epsilon must be" in refuse(*base, "--epsilon", "0")
    assert "rule must be" in refuse(*base, "--epsilon", "1", "--rule", "magic")
    assert "unknown kind 'person' here" in refuse(*base, "--epsilon", "1", "--unit", "person")
    assert "there is no ledger at" in refuse("budget", "status", "--ledger", place + "x")
    assert "no budget is open for 'y'; known: x" in refuse("budget", "status", "y", "--ledger", place)
    assert "no budget is open for 'y'" in refuse("budget", "history", "y", "--ledger", place)
    assert "no budget is open for 'y'" in refuse("budget", "export", "y", "--ledger", place)


def test_units_in_short() -> None:
    for text, unit in [
        ("user", User()),
        ("user/replace", User("replace")),
        ("event", Event()),
        ("user_period:1D", UserPeriod("1D")),
        ("window:24", Window(24)),
        ("window:24@1h/replace", Window(24, "replace", every="1h")),
        ("user_period:1D@Asia/Tokyo", UserPeriod("1D", timezone="Asia/Tokyo")),
        ("user@Asia/Tokyo", None),
        ("window:x", None),
        ("user:1D", None),
        ("event/other", None),
    ]:
        if unit is None:
            with pytest.raises(ChronodpError):
                parse_unit(text)
        else:
            assert parse_unit(text) == unit, text


def test_lengths_and_zones_on_the_command_line(place: str, refuse: Callable[..., str]) -> None:
    base = ("budget", "open", "--ledger", place, "--epsilon", "1")
    shown = run(*base, "hours", "--unit", "window:24@1h")
    assert "in any 24 consecutive hours" in " ".join(shown.split())
    shown = run(*base, "days", "--unit", "user_period:1D@Asia/Tokyo", "--renews", "1mo", "--timezone", "Asia/Tokyo")
    assert "one calendar day in Asia/Tokyo" in " ".join(shown.split())
    assert "starts anew every 1mo (Asia/Tokyo)" in " ".join(shown.split())
    assert "timezone must be left out" in refuse(*base, "people", "--timezone", "UTC")
    assert "timezone must be the name of a time zone" in refuse(*base, "people", "--unit", "user_period:1D@Nowhere")


def test_verify_offline(place: str, tmp_path: Path, refuse: Callable[..., str]) -> None:
    with Ledger(place) as ledger:
        ledger.open("meters", unit=User(), epsilon=1.0)
        _, made = (fulfil(ledger, name, text="[1, 2]") for name in ("a", "b"))
        key = ledger.keys.public
    release, chain = tmp_path / "release.json", tmp_path / "chain.json"
    release.write_text(json.dumps(made.to_dict()), encoding="utf-8")
    run("budget", "export", "meters", "--ledger", place, "--out", str(chain))
    (tmp_path / "key.txt").write_text(key + "\n", encoding="ascii")
    Path(place).unlink()  # nothing but the files is needed
    assert "Valid. The certificate is genuine" in run("verify", str(release), "--public-key", key)
    assert "They are of meters." in run("verify", str(chain), "--public-key", key)
    assert "All 2 links are genuine" in run("verify", str(chain), "--public-key", str(tmp_path / "key.txt"))
    export = json.loads(chain.read_text(encoding="utf-8"))
    head = export["head"]
    valid = json.loads(run("verify", str(chain), "--public-key", key, "--head", head, "--json"))
    assert valid == {"valid": True, "links": 2, "requests": ["a", "b"]}
    assert sorted(export) == ["dataset", "head", "links", "public_key"]

    def changed(document: object) -> str:
        path = tmp_path / "changed.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        return str(path)

    for document, message in (
        ({**made.to_dict(), "release": "[1, 3]"}, "the certificate is genuine but belongs to another release"),
        ({**export, "links": export["links"][:1]}, "newer links are missing"),
        ({**export, "links": [{"body": 1}]}, "lacks its body"),
        ({**export, "dataset": "others"}, "called by another dataset's name"),
        ({**export, "dataset": ["meters"]}, "called by another dataset's name"),
        ({**export, "public_key": base64.b64encode(bytes(32)).decode()}, "names another public key"),
        ({**export, "links": [], "head": "0" * 64}, "holds no link"),
        ({"release": 5}, "neither a release"),
        ([], "no release and no chain"),
    ):
        assert message in refuse("verify", changed(document), "--public-key", key, code=1)
    assert "public_key must be" in refuse("verify", str(release), "--public-key", "nonsense")
    (tmp_path / "changed.json").write_text("{", encoding="utf-8")
    assert "is not JSON" in refuse("verify", str(tmp_path / "changed.json"), "--public-key", key, code=1)

"""``chronodp verify`` of a folder: one dossier, or every one in it."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import chronodp as cdp
from chronodp.dossier import write_dossier, zip_folder
from chronodp.ledger import Ledger
from tests.cli.conftest import run
from tests.ledger.examples import CERTIFICATE, COST


def test_says_what_is_wrong_in_which_dossier(tmp_path: Path, refuse: Callable[..., str]) -> None:
    (tmp_path / "both").mkdir()
    with Ledger(tmp_path / "budget.db") as ledger:
        for name in ("meters", "wards"):
            ledger.open(name, unit=cdp.User(), epsilon=2.0)
            ledger.fulfil(
                name, request="r", cost=COST, unit=cdp.User(), plan="p", source="s", produce=lambda: ("5", CERTIFICATE)
            )
            write_dossier(ledger, name, tmp_path / "both" / name)
        key = ledger.public_key
    both, wards = str(tmp_path / "both"), str(tmp_path / "both" / "wards")
    assert "Valid. wards: " in (said := run("verify", wards))
    assert "1 link of the chain and 1 release of wards" in said
    assert "the folder's own key" in said
    assert "own key" not in run("verify", wards, "--public-key", key)
    (found,) = json.loads(run("verify", wards, "--public-key", key, "--json"))["dossiers"]
    assert (found["dataset"], found["links"], found["faults"]) == ("wards", 1, [])
    assert "Valid. meters: " in (said := run("verify", both))
    assert "The page that lists these dossiers is not signed." in said
    assert "head must be of one dossier" in refuse("verify", both, "--head", "0" * 64)
    (tmp_path / "both" / "wards" / "README.txt").write_text("other")
    fault = "wards: README.txt: it is not the file that the manifest lists: it was changed"
    assert refuse("verify", both, code=1) == f"not valid: {fault}"
    (tmp_path / "both" / "wards" / "answers.md").unlink()
    said = refuse("verify", both, code=1)
    assert said == f"{fault} wards: answers.md: it is missing not valid: 2 faults, as listed"
    assert "manifest.json: it is missing" in refuse("verify", str(tmp_path / "both" / "wards" / "releases"), code=1)
    assert "newer links are missing" in refuse("verify", str(tmp_path / "both" / "meters"), "--head", "0" * 64, code=1)
    chain = str(tmp_path / "both" / "meters" / "chain.json")
    assert "public_key must be" in refuse("verify", chain)


def test_a_dossier_is_packed_for_an_email(
    tmp_path: Path, refuse: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Ledger("budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=2.0)
    found = json.loads(run("dossier", "meters", "--out", "given", "--zip", "--json"))
    assert found["zip"] == str(tmp_path / "given.zip")
    assert found["zip_bytes"] == Path("given.zip").stat().st_size < found["bytes"]
    with zipfile.ZipFile("given.zip") as packed:
        packed.extractall("got")
    assert "Valid. given: " in run("verify", "got/given")
    first = Path("given.zip").read_bytes()
    shutil.rmtree("given")
    assert "zip must be free" in refuse("dossier", "meters", "--out", "given", "--zip")
    assert not Path("given").exists()
    Path("given.zip").unlink()
    zip_folder(tmp_path / "got" / "given")
    assert (tmp_path / "got" / "given.zip").read_bytes() == first

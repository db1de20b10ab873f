"""``chronodp verify`` of a folder: one dossier, or every one in it."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import chronodp as cdp
from chronodp import User
from chronodp.dossier import write_dossier, zip_folder
from chronodp.ledger import Ledger
from tests.cli.conftest import run
from tests.ledger.copies import copy_database, replace_database
from tests.ledger.examples import CERTIFICATE, COST, fulfil


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


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with Ledger("budget.db") as ledger:
        ledger.open("meters", unit=User(), epsilon=1.0)
        fulfil(ledger, "january")
    return tmp_path


def test_the_public_half_is_shown_written_and_taken(desk: Path, refuse: Callable[..., str]) -> None:
    with Ledger("budget.db") as ledger:
        public = ledger.keys.public
    assert run("key") == f"{public}\n"
    assert json.loads(run("key", "--json")) == {"public_key": public, "algorithm": "Ed25519"}
    assert run("key", "--out", "public.key") == ""
    assert (desk / "public.key").read_text(encoding="ascii") == f"{public}\n"
    run("key", "--json", "--out", "public.json")
    run("budget", "export", "meters", "--out", "chain.json")
    for given in (public, "public.key", "public.json"):
        assert "All 1 links are genuine" in run("verify", "chain.json", "--public-key", given)
    said = refuse("verify", "chain.json", "--public-key", "budget.db.keys")
    assert "the public half alone: that file holds a ledger's private keys. `chronodp key --out public.key`" in said
    for text in (desk / "budget.db.keys").read_text(encoding="utf-8").split('"'):
        assert len(text) < 40 or text not in said
    (desk / "cut.keys").write_text((desk / "budget.db.keys").read_text(encoding="utf-8")[:50], encoding="utf-8")
    assert "private keys" in refuse("verify", "chain.json", "--public-key", "cut.keys")
    assert "got a str" in refuse("verify", "chain.json", "--public-key", "nonsense")
    assert "got a str" in refuse("verify", "chain.json", "--public-key", "chain.json"[:-1])
    assert "there is no ledger at none.db" in refuse("key", "--ledger", "none.db")
    assert not (desk / "none.db").exists()


def test_a_backup_goes_on_from_the_command_line(desk: Path, refuse: Callable[..., str]) -> None:
    copy_database(desk / "budget.db", desk / "copy.db")
    with Ledger("budget.db") as ledger:
        fulfil(ledger, "february")
    replace_database(desk / "budget.db", desk / "copy.db")
    assert "it holds 1 charges of 'meters' and 2 were made" in refuse("budget", "status")
    shutil.copy("budget.db.keys", "before.keys")
    said = json.loads(run("budget", "restore", "--yes", "--complete", "--json"))
    assert said["booked"] == ["meters"]
    assert "This ledger was restored from a backup" in run("budget", "status")
    with Ledger("budget.db") as ledger:
        ledger.open("homes", unit=User(), epsilon=1.0)
        fulfil(ledger, "march", dataset="homes")
    run("budget", "export", "homes", "--out", "chain.json")
    run("key", "--out", "public.key")
    checked = run("verify", "chain.json", "--public-key", "public.key")
    assert "All 1 links are genuine" in checked
    assert "The ledger was restored from a backup on" in checked
    replace_database(desk / "budget.db", desk / "copy.db")
    assert "a copy from before the ledger was restored" in refuse("budget", "status")
    text = run("budget", "restore", "--yes")
    assert "Booked as spent to the limit: meters." in text
    assert "0.0% left" in run("budget", "status")


def test_keys_can_be_named_by_every_command(desk: Path, refuse: Callable[..., str]) -> None:
    (desk / "budget.db.keys").rename(desk / "owner.keys")
    for command in (
        ("open", "other", "--epsilon", "1"),
        ("status",),
        ("history", "meters"),
        ("export", "meters"),
        ("close", "other", "--yes"),
    ):
        said = refuse("budget", *command)
        assert "no keys at budget.db.keys, and this ledger has some: give keys= (on the command line --keys)" in said
        run("budget", *command, "--keys", "owner.keys")
    assert not (desk / "budget.db.keys").exists()

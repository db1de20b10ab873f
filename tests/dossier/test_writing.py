"""A dossier as a folder: every kind of release, whole or not at all, and nothing of the ledger changed."""

from __future__ import annotations

import hashlib
import json
import signal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import chronodp as cdp
from chronodp.dossier import gather, write_dossier, write_dossiers
from chronodp.dossier.formats import FORMATS
from chronodp.errors import ChronodpError, InvalidArgument
from chronodp.ledger import SignedLink, load_release, verify, verify_chain
from tests import forkserver
from tests.dossier.everything import KINDS

pytestmark = pytest.mark.slow


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def files_in(folder: Path) -> set[str]:
    return {one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file()}


def test_the_manifest_lists_every_file_with_its_digest(folder: Path, everything: cdp.Ledger) -> None:
    manifest = read(folder / "manifest.json")
    assert [manifest[key] for key in ("kind", "format", "dataset")] == ["dossier", 1, "meters"]
    assert manifest["public_key"] == everything.public_key
    assert manifest["head"] == everything.export("meters")["head"]
    listed = {one["path"]: one for one in manifest["files"]}
    assert {"index.html", "README.txt", "answers.md", "verify.html", "verify.py"} <= listed.keys()
    assert files_in(folder) == {*listed, "manifest.json", "manifest.sig"}
    for name, one in listed.items():
        content = (folder / name).read_bytes()
        assert (one["sha256"], one["bytes"]) == (hashlib.sha256(content).hexdigest(), len(content)), name


def test_every_kind_of_release_is_there_and_genuine(folder: Path, everything: cdp.Ledger) -> None:
    chain = read(folder / "chain.json")
    signed = [SignedLink(one["body"], one["signature"]) for one in chain["links"]]
    links = verify_chain(signed, everything.public_key, head=chain["head"])
    assert tuple(link.request for link in links) == KINDS
    for link, own in zip(links, signed, strict=True):
        written, found = load_release(folder / f"releases/{link.number:04d}.json")
        assert found == own
        assert verify(found, everything.public_key, release=written.text) == link


def test_numbers_are_the_releases_own(folder: Path, everything: cdp.Ledger) -> None:
    for request_id in KINDS:
        (one,) = gather(everything, "meters", request=request_id).published
        path = folder / f"numbers/{one.stem}.csv"
        assert path.exists() == one.has_numbers == (request_id not in ("choice", "check")), request_id
        if not one.has_numbers:
            assert one.columns == (), request_id
            continue
        table = pd.read_csv(path)
        assert one.table is not None, request_id
        assert list(table.columns) == list(map(str, one.table.columns)), request_id
        assert len(table) == len(one.table), request_id
        assert one.columns[-2:] == ("lower", "upper"), request_id
        value = one.columns[-3]
        assert one.table[value].tolist() == pytest.approx(table[value].tolist(), nan_ok=True), request_id


def test_streams_are_there_as_they_were_released(folder: Path, everything: cdp.Ledger) -> None:
    streams = {read(path)["name"]: read(path) for path in (folder / "streams").iterdir()}
    assert set(streams) == {"door", "life", "peak", "together/alarm"}
    assert streams["door"]["released"] == everything.released_steps("door")
    door = gather(everything, "meters").streams[0]
    rows = list(door.rows())
    assert [row[0] for row in rows] == [1, 2, 3, 4, 5]
    assert all(lower < value < upper for _, _, value, lower, upper in rows)
    assert str(door.cost)


def test_one_release_alone(everything: cdp.Ledger, tmp_path: Path) -> None:
    folder = write_dossier(everything, "meters", tmp_path / "one", request="groups")
    written = {name for name in files_in(folder) if name.startswith(("releases", "numbers", "streams"))}
    assert written == {"releases/0002.json", "numbers/0002.csv"}
    assert len(read(folder / "chain.json")["links"]) == len(KINDS)
    assert len(gather(everything, "meters", request="groups").others) == len(KINDS) - 1


def test_a_whole_ledger_has_a_folder_for_each_dataset_and_does_not_change(
    everything: cdp.Ledger, tmp_path: Path
) -> None:
    def stands() -> object:
        return everything.status("meters"), everything.export("meters"), everything.history("meters", limit=1000)

    before = stands()
    folder = write_dossiers(everything, tmp_path / "all")
    named = {one.name for one in folder.iterdir() if one.is_dir()}
    assert named == {"001-building", "002-empty", "003-meters", "004-renewed", "005-ward", "006-watch"}
    shelf = (folder / "index.html").read_text(encoding="utf-8")
    for name in named:
        assert f'href="{name}/index.html"' in shelf
        assert (folder / name / "manifest.json").is_file()
    assert stands() == before


def test_the_same_facts_give_the_same_files(everything: cdp.Ledger, tmp_path: Path) -> None:
    first, second = (write_dossier(everything, "renewed", tmp_path / name) for name in ("a", "b"))
    for name in ("chain.json", "answers.json", "releases/0001.json", "numbers/0001.csv"):
        assert (first / name).read_bytes() == (second / name).read_bytes()


def test_writes_into_an_empty_folder_and_no_other(everything: cdp.Ledger, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "other.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InvalidArgument, match="a new folder, or an empty one"):
        write_dossier(everything, "empty", tmp_path / "full")
    assert files_in(tmp_path / "full") == {"other.txt"}
    (tmp_path / "place").mkdir()
    assert (write_dossier(everything, "empty", tmp_path / "place") / "manifest.json").is_file()


def test_refuses_before_it_writes(everything: cdp.Ledger, tmp_path: Path) -> None:
    for dataset, request, said in [("meters", "nothing", "request"), ("nothing", "", "nothing")]:
        with pytest.raises(ChronodpError, match=said):
            write_dossier(everything, dataset, tmp_path / "out", request=request or None)
        assert list(tmp_path.iterdir()) == [], dataset
    with pytest.raises(InvalidArgument, match="a folder that exists"):
        write_dossier(everything, "empty", tmp_path / "nowhere" / "out")


def test_what_fails_on_the_way_leaves_nothing(
    everything: cdp.Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_facts: object) -> str:
        raise InvalidArgument("owner", "", "one that says it all")

    monkeypatch.setitem(FORMATS, "broken.json", broken)
    with pytest.raises(InvalidArgument, match="one that says it all"):
        write_dossier(everything, "empty", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.kill
def test_a_kill_leaves_no_half_dossier(tmp_path: Path) -> None:
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=1.0)
    code = (
        "import os, signal, sys, chronodp as cdp\n"
        "from chronodp.dossier import write_dossier\n"
        "from chronodp.dossier.formats import FORMATS\n"
        "FORMATS['formats/last.json'] = lambda facts: os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_dossier(cdp.Ledger(sys.argv[1]), 'meters', sys.argv[2])\n"
    )
    address, place = str(tmp_path / "budget.db"), tmp_path / "out"
    assert forkserver.run("-c", code, address, str(place)).returncode == -signal.SIGKILL
    assert not place.exists()
    with cdp.Ledger(address) as ledger:
        assert (write_dossier(ledger, "meters", place) / "manifest.json").is_file()

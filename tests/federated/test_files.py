"""The files of a run: what is wrong in them is said, and private ones are private."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chronodp.errors import InvalidArgument, RoundConflict, UnreadableSource
from chronodp.federated.aggregation import Identity
from chronodp.federated.transport.journal import Journal
from chronodp.federated.transport.run_file import read_run
from tests.federated.network import Network


def test_a_journal_is_one_runs_own(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    mine = Journal(path, "ab")
    mine.begin(1, 0)
    assert Journal(path, "ab").knows(1, 0)
    assert not Journal(path, "ab").knows(1, 1)
    mine.reveal(1)
    with pytest.raises(RoundConflict):
        Journal(path, "ab").begin(1, 1)
    Journal(path, "ab").begin(2, 0)
    with pytest.raises(RoundConflict, match="journal of another run"):
        Journal(path, "cd")
    path.write_text(json.dumps({"other": 1}), encoding="utf-8")
    with pytest.raises(UnreadableSource, match="no journal"):
        Journal(path, "ab")


def test_what_is_wrong_in_a_runs_file_is_said(tmp_path: Path) -> None:
    file = Network(tmp_path).file
    good = file.read_text(encoding="utf-8")
    for old, new, said in (
        ('name = "test"', 'name = "a b"', "run must be a name"),
        ("rounds = 3", "rounds = 0", "rounds must be"),
        ("rounds = 3\n", "", "a table with rounds, size, model, clip and bits"),
        ("bits = 32", "bits = 31", "bits must be one of"),
        ("http://127.0.0.1", "http://10.0.0.1", "http is for loopback"),
        ("http://127.0.0.1", "ftp://127.0.0.1", "such as https://"),
        ("http://127.0.0.1:", "http://127.0.0.1:9", "such as https://"),
        ("[seconds]", "state = 3\n[seconds]", r"line 12: server\.state must be a text"),
        ('identity = "', 'identity = "zz', "a public key as hexadecimal digits"),
        ('identity = "', 'identity = "00', "a public key of 32 bytes"),
        ("[seconds]", "[seconds]\ntrain = 3", r"seconds\.train must be one of advertise"),
        ("[seconds]", "[second]", "second must be one of"),
        ("linger = 60.0", "linger = -1.0", "linger must be"),
        ("attempts = 20", "threshold = 2", "threshold must be a whole number from 3 to 4"),
        ("clip = 1.0", 'clip = 1.0\nstart = "nothing.npy"', "a .npy file"),
        ("clip = 1.0", "clip = 1.0\nspeed = 3", r"task\.speed must be one of rounds"),
        ("[task]", "[task", "a TOML file"),
    ):
        file.write_text(good.replace(old, new, 1), encoding="utf-8")
        with pytest.raises(InvalidArgument, match=said):
            read_run(file)
    with pytest.raises(InvalidArgument, match="a file that can be read"):
        read_run(tmp_path / "nowhere.toml")
    weights = good
    for weight, name in enumerate(("h0", "h1", "h2", "h3"), start=1):
        weights = weights.replace(f"[holders.{name}]", f"[holders.{name}]\nweight = {weight}.0")
    file.write_text(weights, encoding="utf-8")
    assert read_run(file).weights == {"h0": 1.0, "h1": 2.0, "h2": 3.0, "h3": 4.0}
    other = read_run(file).terms.digest
    file.write_text(good, encoding="utf-8")
    assert read_run(file).terms.digest != other


def test_identities_are_files_of_their_owners(tmp_path: Path) -> None:
    path = tmp_path / "me.key"
    mine = Identity.create()
    mine.save(path)
    assert path.stat().st_mode & 0o077 == 0
    assert Identity.load(path).public == mine.public
    with pytest.raises(InvalidArgument, match="never overwritten"):
        mine.save(path)
    path.write_text("nothing", encoding="utf-8")
    with pytest.raises(InvalidArgument, match="an Ed25519 key"):
        Identity.load(path)
    for missing in (tmp_path / "none", tmp_path / "no" / "key"):
        with pytest.raises(InvalidArgument):
            Identity.load(missing)
    with pytest.raises(InvalidArgument, match="a place that can be written"):
        mine.save(tmp_path / "no" / "key")
    assert mine.public.hex() not in repr(mine)

"""The file of high-water marks: many writers, cut-off lines, forks, and a file that is written anew."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from pathlib import Path

import pytest

from chronodp.errors import LedgerUnavailable
from chronodp.ledger import marks
from chronodp.ledger.marks import MarkFile


def test_the_highest_number_counts_in_whatever_order_lines_come(tmp_path: Path) -> None:
    file = MarkFile(tmp_path / "marks")
    assert file.read() == {}
    for numbers in ({"a": 2}, {"a": 5, "b": 1}, {"a": 3}):
        file.add(numbers, sync=False)
    assert MarkFile(tmp_path / "marks").read() == {"a": 5, "b": 1}


@pytest.mark.parametrize("rest", ["", '\n{"saw":{"a":9', "\x00" * 40, '\n{"saw":', "\n7x"])
def test_a_line_that_was_cut_off_spoils_no_other(rest: str, tmp_path: Path) -> None:
    file = MarkFile(tmp_path / "marks")
    file.add({"a": 4}, sync=True)
    with (tmp_path / "marks").open("a", encoding="utf-8") as end:
        end.write(rest)
    file.add({"b": 5}, sync=True)
    assert MarkFile(tmp_path / "marks").read() == {"a": 4, "b": 5}


def test_a_file_that_has_grown_is_written_anew_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marks, "_LARGE", 2000)
    path = tmp_path / "marks"
    path.write_text('{"signing": "kept", "ledger": "x"}', encoding="utf-8")
    writers = [MarkFile(path) for _ in range(4)]

    def write(file: MarkFile, name: str) -> None:
        for number in range(1, 301):
            file.add({name: number}, sync=False)

    threads = [threading.Thread(target=write, args=(one, f"n{place}")) for place, one in enumerate(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert MarkFile(path).read() == {f"n{place}": 300 for place in range(4)}
    assert path.stat().st_size < 6000
    assert path.read_text(encoding="utf-8").startswith('{"signing": "kept", "ledger": "x"}\n')
    assert path.stat().st_mode & 0o077 == 0
    assert [one.name for one in tmp_path.iterdir()] == ["marks"]


def _fill(path: Path, name: str) -> None:
    marks._LARGE = 2000
    file = MarkFile(path)
    for number in range(1, 201):
        file.add({name: number}, sync=False)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # forking is the point of the test
def test_processes_and_forked_children_share_a_file(tmp_path: Path) -> None:
    own = MarkFile(tmp_path / "marks")
    own.add({"own": 1}, sync=True)
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=_fill, args=(tmp_path / "marks", f"c{place}")) for place in range(3)]
    children.append(context.Process(target=own.add, args=({"child": 7},), kwargs={"sync": True}))
    for child in children:
        child.start()
    for number in range(2, 100):
        own.add({"own": number}, sync=False)
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0] * 4
    assert own.read() == {"own": 99, "child": 7, "c0": 200, "c1": 200, "c2": 200}


def test_trouble_is_named(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(LedgerUnavailable, match="folder cannot be read"):
        MarkFile(tmp_path / "folder").read()
    for path in (tmp_path / "folder", tmp_path / "nowhere" / "marks"):
        with pytest.raises(LedgerUnavailable, match=f"{path.name} cannot be written"):
            MarkFile(path).check_writable()
    (tmp_path / "damaged").write_text("a secret text", encoding="utf-8")
    with pytest.raises(LedgerUnavailable, match="damaged is damaged") as refused:
        MarkFile(tmp_path / "damaged").read()
    assert "secret" not in str(refused.value)


def test_marks_are_synced_when_it_is_asked_for_and_else_once_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fdatasync", synced.append)
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    file = MarkFile(tmp_path / "marks")
    file.add({"a": 1}, sync=False)  # the first in a while
    assert len(synced) == 1
    for number in range(2, 20):
        file.add({"a": number}, sync=False)
    assert len(synced) == 1
    file.add({"a": 20}, sync=True)
    assert len(synced) == 2
    file.add({"a": 21}, sync=False)
    assert len(synced) == 2
    clock[0] += 1.1
    file.add({"a": 22}, sync=False)
    assert len(synced) == 3
    file.add({"a": 23}, sync=False)
    file.close()
    assert len(synced) == 4


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system does not list open files")
def test_a_file_that_nobody_closed_is_let_go(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        MarkFile(tmp_path / "marks").add({"a": 1}, sync=False)
    assert len(os.listdir("/proc/self/fd")) <= before + 1

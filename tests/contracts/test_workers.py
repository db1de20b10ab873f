"""Tests run in processes side by side as they would one after another, and none is lost with its process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.processes

ROOT = Path(__file__).parents[2]
FIRST = """
import os, signal
from pathlib import Path

import pytest

NOTES = Path(__file__).parent / "notes"

@pytest.fixture(scope="session")
def server(tmp_path_factory):
    yield tmp_path_factory.mktemp("server")
    (NOTES / f"closed by {os.getpid()}").touch()

@pytest.fixture(scope="module")
def module():
    (NOTES / f"made by {os.getpid()}").touch()

def test_passes(server, module): pass
def test_dies(module): os.kill(os.getpid(), signal.SIGKILL)
def test_fails_after_it(module, server): print("seen"); assert 1 == 2
@pytest.mark.skip(reason="for a reason")
def test_is_skipped(): pass
"""
SECOND = """
import os

import pytest

@pytest.mark.parametrize("number", range(5))
def test_passes(number, tmp_path): pass
@pytest.mark.spark
def test_apart(): raise OSError(os.getpid())
@pytest.mark.spark
def test_apart_too(): raise OSError(os.getpid())
def test_asks_for_what_is_not_there(nothing): pass
"""


def ran(folder: Path, *options: str) -> str:
    (folder / "notes").mkdir()
    (folder / "test_first.py").write_text(FIRST, encoding="utf-8")
    (folder / "test_second.py").write_text(SECOND, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = spark\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "tests.workers", *options, f"--rootdir={folder}", str(folder)]
    alone = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # plugins of others take longer than these tests
    done = subprocess.run(command, cwd=ROOT, env=alone, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


def test_every_test_is_told_whatever_dies(tmp_path: Path) -> None:
    text = ran(tmp_path, "--workers", "3")
    assert re.search(r"4 failed, 6 passed, 1 skipped, 1 error in", text)
    assert "the process of this test ended by signal 9" in text
    assert "fixture 'nothing' not found" in text
    assert text.count("Captured stdout call") == 1  # what a test prints stays its own
    assert len({*re.findall(r"OSError: (\d+)", text)}) == 1  # both that must stay together had one process
    made, closed = (len(list((tmp_path / "notes").glob(f"{word} by *"))) for word in ("made", "closed"))
    assert (made, closed) == (2, 1)  # again after a process had died with both, and closed once by who came after it


def test_ends_where_that_is_asked_for(tmp_path: Path) -> None:
    text = ran(tmp_path, "--workers", "1", "--exitfirst")
    assert re.search(r"1 failed(, \d+ passed)? in", text)
    assert "stopping after 1 failures" in text


def test_one_after_another_they_end_alike(tmp_path: Path) -> None:
    text = ran(tmp_path, "--deselect", "test_first.py::test_dies")
    assert re.search(r"3 failed, 6 passed, 1 skipped, 1 deselected, 1 error in", text)

"""The API's own description, tried out: no server error, and no answer that it does not describe."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.conftest import SCALE
from tests.service.town import COUNT, ROOT, SUM, House, open_house, write_policy

pytestmark = pytest.mark.slow

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


FUZZ = """
import json, sys

from schemathesis.cli import schemathesis

code = 0
for words in json.loads(sys.argv[1]):
    try:
        schemathesis(words)
    except SystemExit as end:
        code = code or end.code
    print(sys.argv[2])
sys.exit(code)
"""
END = "one caller is done"


@pytest.mark.parametrize("callers", [("ana",), ("olga",)] if SCALE >= 1 else [("ana", "olga")], ids=" and ".join)
def test_no_server_error_and_no_undocumented_answer(tmp_path: Path, callers: tuple[str, ...]) -> None:
    each = 250 if SCALE >= 1 else 2  # the first of a route is its simplest call, the next of any shape
    with ExitStack() as stack:
        asked = [words(stack.enter_context(furnished(tmp_path / who)), who, each=each) for who in callers]
        said = fuzz(asked, folder=tmp_path)
    for one in said:
        assert " passed" in one, one
        assert "server error" not in one.lower(), one
        assert re.search(r"(\d+) generated, (\d+) passed", one), one
        generated, passed = map(int, re.findall(r"(\d+) generated, (\d+) passed", one)[0])
        assert generated == passed, one
        assert generated >= 20 * each, one


@contextmanager
def furnished(folder: Path) -> Iterator[House]:
    """Open a house with two releases."""
    folder.mkdir()
    policy = write_policy(folder, epsilon=1e5, parts={"ana": 1e5})
    with open_house(policy) as house:
        for number, question in enumerate((SUM, COUNT)):
            house.ended("ana", f"r{number}", question)
        yield house


def words(house: House, who: str, *, each: int) -> list[str]:
    """What Schemathesis is told to make so many calls of each route."""
    url = f"http://127.0.0.1:{house.http.base_url.port}/api/v1/openapi.json"
    told = ["run", url, "--checks", CHECKS, "--header", f"Authorization: Bearer {house.tokens[who]}"]
    told += ["--phases", "fuzzing", "--max-examples", str(each), "--generation-deterministic", "--no-color"]
    # Owners place holds, by which health becomes 503.
    return [*told, "--exclude-path", "/api/v1/health"] if who == "olga" else told


def fuzz(asked: list[list[str]], *, folder: Path) -> list[str]:
    """Let Schemathesis make the calls of one caller after the other, and return what it says of each."""
    # Loading it takes longer than many calls, and so does listing all characters, which Hypothesis keeps.
    kept = os.environ | {"HYPOTHESIS_STORAGE_DIRECTORY": str(ROOT / ".hypothesis")}
    command = [sys.executable, "-c", FUZZ, json.dumps(asked), END]
    finished = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=kept)
    assert finished.returncode == 0, finished.stdout[-6000:] + finished.stderr[-2000:]
    said = finished.stdout.split(END)[:-1]
    assert len(said) == len(asked), finished.stdout
    return said

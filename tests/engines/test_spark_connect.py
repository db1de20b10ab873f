"""Sparks of several processes: one reached over the network, through Connect, and a cluster that runs a task twice."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from chronodp.engines import DuckDB, find_source
from tests import forkserver
from tests.conftest import Trials
from tests.engines.cluster import Cluster
from tests.engines.test_lives import MemoryTally, book_reference, booked_digest, priced, random_batch, summed
from tests.engines.worlds import digest, random_question, random_table, to_arrow

CLIENT = """
import random, sys
from pyspark.sql import SparkSession
from chronodp.engines import Spark, find_source
from tests.engines.test_lives import MemoryTally, booked_digest, priced, summed
from tests.engines.worlds import digest, random_question
session = SparkSession.builder.remote(f"sc://127.0.0.1:{sys.argv[1]}").getOrCreate()
for number, path in enumerate(sys.argv[3:]):
    question, source = random_question(random.Random(number)), find_source(session.read.parquet(path))
    print(digest(Spark().totals(source, question, key="key")), Spark().tally(source, question, key="key"))
asked, source = priced(summed(groups=2), life=2), find_source(session.read.parquet(sys.argv[2]))
print(booked_digest(Spark().book(source, asked, MemoryTally(), key="key")))
"""
ROWS = 2_000


@pytest.mark.kill
def test_totals_over_connect_have_equal_digests(spark: Any, tmp_path: Path, trials: Trials) -> None:
    pytest.importorskip("grpc", reason="what Connect needs is not installed")
    paths, expected = [], []
    for number in range(trials(20)):
        question = random_question(random.Random(number))
        table = random_table(random.Random(f"table {number}"), question.calendar, ROWS)
        paths.append(str(tmp_path / f"{number}.parquet"))
        pyarrow.parquet.write_table(table, paths[-1])
        duck, source = DuckDB(threads=2), find_source(table)
        expected.append(f"{digest(duck.totals(source, question, key='key'))} {duck.tally(source, question, key='key')}")
    records, lives = random_batch(random.Random(1), 300, 20), str(tmp_path / "lives.parquet")
    pyarrow.parquet.write_table(to_arrow(records, ["region"]), lives)
    asked = priced(summed(groups=2), life=2)
    expected.append(booked_digest(book_reference(records, asked, MemoryTally(), key="key")))
    port = spark.sparkContext.getConf().get("spark.connect.grpc.binding.port")
    told = forkserver.run("-c", CLIENT, port, lives, *paths)
    assert told.returncode == 0, told.stderr
    assert told.stdout.splitlines() == expected


# A slow task that runs twice, on two hosts, changes no total.


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

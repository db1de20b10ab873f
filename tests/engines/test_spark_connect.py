"""A Spark that is only reached over the network, through Connect, gives the same totals."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from chronodp.engines import DuckDB, find_source
from tests.conftest import Trials
from tests.engines.tables import digest, random_question, random_table

pytestmark = pytest.mark.processes

CLIENT = """
import random, sys
from pyspark.sql import SparkSession
from chronodp.engines import Spark, find_source
from tests.engines.tables import digest, random_question
session = SparkSession.builder.remote(f"sc://127.0.0.1:{sys.argv[1]}").getOrCreate()
for number, path in enumerate(sys.argv[2:]):
    question, source = random_question(random.Random(number)), find_source(session.read.parquet(path))
    print(digest(Spark().totals(source, question, key="key")), Spark().tally(source, question, key="key"))
"""
ROWS, ROOT = 20_000, Path(__file__).parents[2]


def test_totals_over_connect_have_equal_digests(spark: Any, tmp_path: Path, trials: Trials) -> None:
    pytest.importorskip("grpc", reason="what Connect needs is not installed")
    paths, expected = [], []
    for number in range(trials(20, least=2)):
        question = random_question(random.Random(number))
        table = random_table(random.Random(f"table {number}"), question.calendar, ROWS)
        paths.append(str(tmp_path / f"{number}.parquet"))
        pyarrow.parquet.write_table(table, paths[-1])
        duck, source = DuckDB(threads=2), find_source(table)
        expected.append(f"{digest(duck.totals(source, question, key='key'))} {duck.tally(source, question, key='key')}")
    port = spark.sparkContext.getConf().get("spark.connect.grpc.binding.port")
    client = [sys.executable, "-W", "ignore", "-c", CLIENT, port, *paths]
    told = subprocess.run(client, cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert told.stdout.splitlines() == expected

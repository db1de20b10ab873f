"""A Spark that is only reached over the network, through Connect, gives the same totals."""

from __future__ import annotations

import random
import socket
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest

from chronodp.engines import DuckDB, find_source
from tests.conftest import Trials
from tests.engines.tables import digest, random_question, random_table

pytestmark = pytest.mark.processes

SERVER = """
import sys
from chronodp.engines import local_session
settings = {
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": sys.argv[1],
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}
session = local_session(settings=settings)
print("ready", flush=True)
sys.stdin.read()
"""

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


def test_totals_over_connect_have_equal_digests(tmp_path: Path, trials: Trials) -> None:
    pytest.importorskip("grpc", reason="what Connect needs is not installed")
    paths, expected = [], []
    for number in range(trials(20, least=2)):
        question = random_question(random.Random(number))
        table = random_table(random.Random(f"table {number}"), question.calendar, ROWS)
        paths.append(str(tmp_path / f"{number}.parquet"))
        pyarrow.parquet.write_table(table, paths[-1])
        duck, source = DuckDB(threads=2), find_source(table)
        expected.append(f"{digest(duck.totals(source, question, key='key'))} {duck.tally(source, question, key='key')}")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    server = [sys.executable, "-c", SERVER, port]
    with subprocess.Popen(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        client = [sys.executable, "-W", "ignore", "-c", CLIENT, port, *paths]
        told = subprocess.run(client, cwd=ROOT, capture_output=True, text=True, check=False)
        running.communicate()
    assert told.returncode == 0, told.stderr
    assert told.stdout.splitlines() == expected

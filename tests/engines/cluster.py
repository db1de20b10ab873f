"""A Spark cluster of two hosts on this machine, and drivers that use a Java which is there before and after them.

Run as a program it has a slow task copied to the other host, and prints how many tries were given up because another
was faster, and the digest of the totals.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

HOSTS = ("127.0.0.1", "127.0.0.2")  # Spark copies a slow task to another host only
SLOW = 6.0  # seconds
QUICK = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"  # small queries, each asked once
SETTINGS = {
    "spark.driver.extraJavaOptions": QUICK, "spark.executor.extraJavaOptions": QUICK, "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1", "spark.executor.memory": "512m", "spark.executor.cores": "1",
    "spark.cores.max": "2", "spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false", "spark.executorEnv.PYTHONPATH": str(Path(__file__).parents[2]),
}  # fmt: skip
COPYING = {
    "spark.speculation": "true", "spark.speculation.interval": "100ms", "spark.speculation.minTaskRuntime": "0ms",
    "spark.speculation.multiplier": "1.1", "spark.speculation.quantile": "0.1",
}  # fmt: skip


@dataclass(frozen=True)
class Driver:
    """A Java with a context of the cluster, which programs attach to: it outlives them."""

    process: subprocess.Popen[bytes]
    environment: Mapping[str, str]

    def kill(self) -> None:
        """Kill it with SIGKILL; whatever its executors do is lost."""
        # Scripts that begin it replace themselves, so it has the number of the first.
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        assert self.process.stdin is not None
        self.process.stdin.close()


@dataclass
class Cluster:
    """A master and two workers.

    Attributes:
        master: its address.
        folder: in which its executors run.
    """

    master: str
    folder: Path
    _drivers: list[Driver] = field(default_factory=list)

    def driver(self) -> Driver:
        """Return the driver of the cluster, which is started when it is first asked for."""
        if not self._drivers:
            self._drivers.append(_start_driver(SETTINGS | COPYING | {"spark.master": self.master}))
        return self._drivers[0]

    def end_driver(self) -> None:
        """Kill the driver, if there is one."""
        while self._drivers:
            self._drivers.pop().kill()

    def executors(self) -> list[int]:
        """Return the numbers of executors' processes."""
        found = []
        for process in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                words = (process / "cmdline").read_bytes() if process.name.isdigit() else b""
                at = Path(os.readlink(process / "cwd")) if b"CoarseGrainedExecutorBackend" in words else Path("/")
                if at.is_relative_to(self.folder):
                    found.append(int(process.name))
        return found


@contextlib.contextmanager
def cluster(session: Any, folder: Path) -> Iterator[Cluster]:
    """Run a master and two workers within the Java of a session; executors are processes of their own."""
    jvm = session._jvm
    deploy, settings, nothing = jvm.org.apache.spark.deploy, jvm.org.apache.spark.SparkConf(False), jvm.scala.Option
    settings.set("spark.master.rest.enabled", "false")
    running = [deploy.master.Master.startRpcEnvAndEndpoint(HOSTS[0], 0, 0, settings)._1()]
    address = running[0].address().toSparkURL()
    masters = session.sparkContext._gateway.new_array(jvm.java.lang.String, 1)
    masters[0] = address
    # One core would do, but at stated counts a driver comes while the one before still goes.
    cores, megabytes = 4, 4096
    given = (0, 0, cores, megabytes, masters, str(folder), nothing.empty(), settings, nothing.empty())
    running += [deploy.worker.Worker.startRpcEnvAndEndpoint(host, *given) for host in HOSTS]
    found = Cluster(address, folder)
    try:
        yield found
    finally:
        found.end_driver()
        for one in reversed(running):
            one.shutdown()
            one.awaitTermination()


def _start_driver(settings: dict[str, str]) -> Driver:
    from pyspark.java_gateway import launch_gateway

    launch: Any = launch_gateway
    gateway = launch(SimpleNamespace(getAll=settings.items))
    told = gateway.java_parameters
    gateway.close()
    environment = {"PYSPARK_GATEWAY_PORT": str(told.port), "PYSPARK_GATEWAY_SECRET": told.auth_token}
    return Driver(gateway.proc, environment)


@contextlib.contextmanager
def door(session: Any) -> Iterator[dict[str, str]]:
    """Open a second door to a session's Java, for programs that are given what is returned in their environment.

    The first one has a way back, to the functions of this process, which the newest to come in takes over.
    """
    jvm = session._jvm
    server = jvm.org.apache.spark.api.python.Py4JServer(session._jsc.sc().conf())
    server.start()
    try:
        yield {"PYSPARK_GATEWAY_PORT": str(server.getListeningPort()), "PYSPARK_GATEWAY_SECRET": server.secret()}
    finally:
        server.server().shutdown()


def attached() -> Any:
    """Return the session of the Java that the environment names, and stop what a program before left running there."""
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    SparkContext._ensure_initialized()
    jvm = SparkContext._jvm
    assert jvm is not None
    before = jvm.org.apache.spark.sql.classic.SparkSession.getDefaultSession()
    if before.isDefined():
        context = before.get().sparkContext()
        found = jvm.org.apache.spark.api.java.JavaSparkContext.fromSparkContext(context)
        SparkContext(jsc=found, conf=SparkConf(_jconf=found.getConf()), gateway=SparkContext._gateway)
    session: Any = SparkSession.builder.getOrCreate()
    for query in session.streams.active:
        query.stop()
    return session


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
    from pyspark.sql.functions import udf

    from chronodp.engines import Spark, find_source
    from tests.engines.worlds import digest, random_question

    session = attached()
    context = session.sparkContext
    frame = session.read.parquet(sys.argv[1]).repartition(4)
    frame = frame.withColumn("who", udf(slowly, "string", useArrow=False)(frame["who"]))
    context.setJobGroup("copied", "")
    totals = Spark().totals(find_source(frame), random_question(random.Random(3)), key="key")
    context._jsc.sc().listenerBus().waitUntilEmpty()
    store, tracker = context._jsc.sc().statusStore(), context.statusTracker()
    stages = {stage for job in tracker.getJobIdsForGroup("copied") for stage in tracker.getJobInfo(job).stageIds}
    tasks = [store.lastStageAttempt(stage) for stage in stages]
    # Each set of tasks looks at this anew; others need no copies.
    context._jsc.sc().conf().set("spark.speculation", "false")
    print(sum(stage.numKilledTasks() for stage in tasks), digest(totals), flush=True)


if __name__ == "__main__":
    main()

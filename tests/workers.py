"""Tests in processes side by side: ``--workers 3`` collects them once, and forks.

Finding fourteen thousand tests and importing what they test takes longer than most rooms; a process that is forked
after it has all of it at once. What is started once, Spark and the browser, gets a process of its own beside the
others (`tests/rings.py` marks those tests). Other tests are handed out a file at a time, so that what a file sets up is
set up once.

Used as ``python -m pytest -p tests.workers --workers 3``.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import signal
import sys
import threading
import traceback
import warnings
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any

import pytest

from tests import warm

__all__ = ["pytest_addoption", "pytest_runtestloop"]

_Unit = list[int]  # places of tests that one process runs one after another

_APART = ("browser", "spark")  # marks; the first that a test has decides


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--workers``."""
    parser.addoption("--workers", type=int, default=0, metavar="N", help="run tests in N processes, forked from one")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run all tests in processes, if any are asked for."""
    many = session.config.getoption("--workers")
    if many < 1 or session.config.option.collectonly or not hasattr(os, "fork"):
        return None
    if session.testsfailed and not session.config.option.continue_on_collection_errors:
        raise session.Interrupted(f"{session.testsfailed} errors while tests were collected")
    if any(item.get_closest_marker("processes") for item in session.items):
        warm.prepare()  # once, for all processes of tests
    _Loop(session, many).run()
    return True


@dataclass
class _Worker:
    """A process, as the one that started it sees it.

    Attributes:
        number: of the process.
        pipe: both ways: units there, reports back.
        waiting: the units that it runs from; others take theirs from the same.
        ahead: the places of tests that it was given, in their order, and has not ended.
    """

    number: int
    pipe: Connection
    waiting: deque[_Unit]
    ahead: deque[int] = field(default_factory=deque)


class _Loop:
    """Hands out units, and shows reports as if tests had run here."""

    def __init__(self, session: pytest.Session, many: int) -> None:
        self._session = session
        self._many = many
        self._workers: dict[Connection, _Worker] = {}
        config: Any = session.config
        config._tmp_path_factory.getbasetemp()  # the folder in which each process has its own
        units: list[tuple[str, bool, _Unit]] = []
        places = range(len(session.items))
        for (name, _, quick), those in itertools.groupby(places, lambda place: _unit(session.items[place])):
            units.append((name, quick, list(those)))
        units.sort(
            key=lambda unit: (unit[1], -len(unit[2]))
        )  # small ones last: no process is left alone with a large one
        queues = {name: deque(unit for apart, _, unit in units if apart == name) for name in (*_APART, "")}
        self._apart = deque(queues[name] for name in _APART if queues[name])
        self._others = queues[""]

    def run(self) -> None:
        """Run everything; stop where `--maxfail` says so."""
        try:
            while self._fill() or self._workers:
                for pipe in wait(list(self._workers)):
                    assert isinstance(pipe, Connection)
                    self._hear(self._workers[pipe])
                    if self._session.shouldfail:
                        raise self._session.Failed(self._session.shouldfail)
                    if self._session.shouldstop:
                        raise self._session.Interrupted(self._session.shouldstop)
        finally:
            for worker in self._workers.values():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker.number, signal.SIGKILL)
                os.waitpid(worker.number, 0)

    def _fill(self) -> bool:
        """Start processes while there are places for them and tests that none runs."""
        while len(self._workers) < self._many and (self._apart or self._others):
            self._start(self._apart.popleft() if self._apart else self._others)
        return bool(self._apart or self._others)

    def _start(self, waiting: deque[_Unit]) -> None:
        ours, theirs = Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():
            # Libraries of linear algebra have threads by now, and mend themselves after a fork.
            warnings.filterwarnings("ignore", message=".*multi-threaded, use of fork", category=DeprecationWarning)
            number = os.fork()
        if not number:
            for other in (ours, *self._workers):
                other.close()
            _become_worker(self._session, theirs, f"worker-{os.getpid()}")
        theirs.close()
        worker = self._workers[ours] = _Worker(number, ours, waiting)
        for _ in range(2):  # one to run, and one to know what comes after it
            self._hand(worker)

    def _hand(self, worker: _Worker) -> None:
        unit = worker.waiting.popleft() if worker.waiting else []
        worker.ahead.extend(unit)
        with contextlib.suppress(BrokenPipeError):  # it is gone: that is seen when it is listened to
            worker.pipe.send(unit)

    def _hear(self, worker: _Worker) -> None:
        config = self._session.config
        try:
            kind, told = worker.pipe.recv()
        except (EOFError, ConnectionResetError):
            self._end(worker)
            return
        if kind == "unit":
            self._hand(worker)
            return
        item = self._session.items[worker.ahead.popleft()]
        config.hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for data in told:
            report = config.hook.pytest_report_from_serializable(config=config, data=data)
            config.hook.pytest_runtest_logreport(report=report)
        config.hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _end(self, worker: _Worker) -> None:
        """Take a process off the list; if it did not end by itself, the test that it ran has failed."""
        del self._workers[worker.pipe]
        worker.pipe.close()
        _, status = os.waitpid(worker.number, 0)
        if not worker.ahead:
            return
        item = self._session.items[worker.ahead.popleft()]
        code = os.waitstatus_to_exitcode(status)
        why = f"ended by signal {-code}" if code < 0 else f"ended with code {code}"
        lost = pytest.TestReport(item.nodeid, item.location, {}, "failed", f"the process of this test {why}", "call")
        self._session.config.hook.pytest_runtest_logreport(report=lost)
        if worker.ahead:
            worker.waiting.appendleft(list(worker.ahead))
        if worker.waiting and worker.waiting is not self._others:
            self._apart.append(worker.waiting)


def _unit(item: pytest.Item) -> tuple[str, str, bool]:
    """Return what tests that stay together have in common: what must be started once, the file, and the ring."""
    apart = next((name for name in _APART if item.get_closest_marker(name)), "")
    quick = not (item.get_closest_marker("processes") or item.get_closest_marker("long"))
    return apart, "" if apart else str(item.path), quick


class _Reports:
    """What a worker adds to pytest: it keeps the reports of a test until they are sent, all at once."""

    def __init__(self, session: pytest.Session) -> None:
        self._config = session.config
        self._kept: list[Any] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a report."""
        self._kept.append(self._config.hook.pytest_report_to_serializable(config=self._config, report=report))

    def taken(self) -> list[Any]:
        """Return what was kept, and keep it no longer."""
        kept, self._kept = self._kept, []
        return kept


def _become_worker(session: pytest.Session, pipe: Connection, name: str) -> None:
    """Run units until there are none, and end this process."""
    config: Any = session.config
    code = 1
    try:
        config.pluginmanager.unregister(name="terminalreporter")
        reports = _Reports(session)
        config.pluginmanager.register(reports)
        capture = config.pluginmanager.getplugin("capturemanager")
        capture.stop_global_capturing()  # its files are the other process's, too
        capture.start_global_capturing()
        base = config._tmp_path_factory.getbasetemp() / name
        base.mkdir()
        config._tmp_path_factory._basetemp = base
        _work(session, pipe, reports)
        capture.stop_global_capturing()
        code = 0
    except BaseException:
        traceback.print_exc()
    threading._shutdown()  # type: ignore[attr-defined]  # what the end of an interpreter does
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _work(session: pytest.Session, pipe: Connection, reports: _Reports) -> None:
    now: Sequence[int] = pipe.recv()
    while now:
        after: Sequence[int] | None = None
        for order, place in enumerate(now):
            if order + 1 < len(now):
                following = now[order + 1]
            else:
                after = pipe.recv()
                following = after[0] if after else -1
            item = session.items[place]
            item.config.hook.pytest_runtest_protocol(
                item=item, nextitem=session.items[following] if following >= 0 else None
            )
            pipe.send(("ended", reports.taken()))
        pipe.send(("unit", None))
        now = after or ()

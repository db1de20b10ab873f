"""Python programs that start at once: the standard library's fork server has loaded what they import.

`run` and `start` take what would come after ``python``: ``-m module words...`` or ``-c code words...``. The program is
a process of its own, with its own memory, descriptors, noise and exit code, and can be killed like any other. What it
does not show is whether a fresh interpreter finds what it imports; tests of that start one.
"""

from __future__ import annotations

import contextlib
import os
import runpy
import subprocess
import sys
import threading
from collections.abc import Sequence
from multiprocessing import get_context, process as processes
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO

__all__ = ["Program", "run", "start"]

ROOT = Path(__file__).parents[1]
_CONTEXT = get_context("forkserver")
_LOADED = "alerts correlated dataset ledger.postgres live state_space temporal cli.shell engines.tables service.app"
_CONTEXT.set_forkserver_preload(
    [f"chronodp.{room}" for room in _LOADED.split()]
    + ["dp_accounting", "duckdb", "mpmath.ctx_iv", "pandas", "pyarrow.dataset", "pyarrow.parquet", "scipy.stats"]
    + ["plotly.graph_objects", "psycopg", "rich.console", "sqlglot.dialects.duckdb", "typer._adapters"]
)


class Program:
    """A running program, used like a ``Popen`` of text: its pipes, its exit code, and how to end it."""

    def __init__(self, arguments: Sequence[str], *, cwd: Path, environment: dict[str, str]) -> None:
        ends = [os.pipe(), os.pipe(), os.pipe()]
        (stdin, ours), (stdout, theirs), (stderr, aside) = ends
        given = [
            Connection(stdin, writable=False),
            Connection(theirs, readable=False),
            Connection(aside, readable=False),
        ]
        self.stdin: IO[str] = os.fdopen(ours, "w", encoding="utf-8")
        self.stdout: IO[str] = os.fdopen(stdout, encoding="utf-8")
        self.stderr: IO[str] = os.fdopen(stderr, encoding="utf-8", errors="replace")
        self._process = _CONTEXT.Process(target=_become, args=(given, arguments, str(cwd), environment), daemon=True)
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid
        for end in given:
            end.close()

    @property
    def returncode(self) -> int | None:
        """The exit code, negative if a signal ended the program, None as long as it runs."""
        return self._process.exitcode

    def wait(self, timeout: float = 120.0) -> int:
        """Return the exit code, once the program has ended."""
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout)
        return self.returncode

    def terminate(self) -> None:
        """Ask the program to end, by SIGTERM."""
        self._process.terminate()

    def kill(self) -> None:
        """End the program by SIGKILL."""
        self._process.kill()

    def communicate(self, text: str = "", timeout: float = 120.0) -> tuple[str, str]:
        """Give a text to the program, and return all that it prints, once it has ended."""
        errors: list[str] = []
        threads = [threading.Thread(target=lambda: errors.append(self.stderr.read()))]
        threads += [threading.Thread(target=self._feed, args=(text,))]
        for thread in threads:
            thread.start()
        printed = self.stdout.read()
        for thread in threads:
            thread.join(timeout)
        self.wait(timeout)
        self.close()
        return printed, errors[0]

    def close(self) -> None:
        """Close the pipes."""
        for pipe in (self.stdin, self.stdout, self.stderr):
            with contextlib.suppress(OSError):
                pipe.close()

    def _feed(self, text: str) -> None:
        with contextlib.suppress(OSError):  # a program may end before it has read everything
            self.stdin.write(text)
            self.stdin.close()


def start(*arguments: str, cwd: Path = ROOT, environment: dict[str, str] | None = None) -> Program:
    """Start a program, given as the words that come after ``python``."""
    return Program(arguments, cwd=cwd, environment=dict(os.environ) | (environment or {}))


def run(*arguments: str, text: str = "", cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a program to its end."""
    program = start(*arguments, cwd=cwd)
    printed, errors = program.communicate(text)
    return subprocess.CompletedProcess(arguments, program.wait(), printed, errors)


def _become(pipes: list[Connection], arguments: Sequence[str], cwd: str, environment: dict[str, str]) -> None:
    """Run the program as if the interpreter had been started for it."""
    for number, pipe in enumerate(pipes):
        os.dup2(pipe.fileno(), number)
        pipe.close()
    sys.stdin = os.fdopen(0, "r", encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", closefd=False)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    processes.current_process()._config["daemon"] = False  # type: ignore[attr-defined]  # it may start its own
    kind, what, *words = arguments
    sys.argv = [what if kind == "-m" else "-c", *words]
    if kind == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})

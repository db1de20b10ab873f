"""Python programs that start at once: each is forked from a process that has the library loaded already.

`run` and `start` take what would come after ``python``: ``-m module words...`` or ``-c code words...``. The program is
a process of its own, with its own memory, descriptors and exit code, and can be killed like any other. What it does not
show is whether a fresh interpreter finds what it imports; tests of that start one.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from tests import luck

__all__ = ["Program", "keep_commands", "prepare", "run", "start"]

ROOT = Path(__file__).parents[1]
_LOADED = (
    *("chronodp.accounting", "chronodp.alerts", "chronodp.correlated", "chronodp.dataset", "chronodp.engines"),
    *("chronodp.state_space", "chronodp.ledger", "chronodp.live", "chronodp.selection", "chronodp.series"),
    *("chronodp.temporal", "chronodp.cli.shell", "chronodp.live.sources", "chronodp.live.sinks", "chronodp.report"),
    *("chronodp.ledger.postgres", "confluent_kafka", "duckdb", "dp_accounting", "mpmath.ctx_iv", "pandas"),
    *(
        "pyarrow.parquet",
        "plotly.graph_objects",
        "plotly.io",
        "psycopg",
        "rich.console",
        "scipy.linalg",
        "scipy.optimize",
        "scipy.stats",
    ),
    "typer._adapters",  # with all of pydantic, which Typer would load in every program that is given an option
    *("chronodp.service.app", "chronodp.service.edge.server"),
)


class Program:
    """A running program, used like a ``Popen`` of text: its pipes, its exit code, and how to end it."""

    def __init__(self, arguments: Sequence[str], *, cwd: Path, environment: dict[str, str]) -> None:
        stdin, stdout, stderr = os.pipe(), os.pipe(), os.pipe()
        self._told, theirs = socket.socketpair()
        asked = {"arguments": list(arguments), "cwd": str(cwd), "environment": environment}
        header = json.dumps(asked | {"luck": luck.for_a_program()}).encode()
        with theirs:
            given = (theirs.fileno(), stdin[0], stdout[1], stderr[1])
            _nursery().ask(header, given)
        for end in (stdin[0], stdout[1], stderr[1]):
            os.close(end)
        self.stdin: IO[str] = os.fdopen(stdin[1], "w", encoding="utf-8")
        self.stdout: IO[str] = os.fdopen(stdout[0], encoding="utf-8")
        self.stderr: IO[str] = os.fdopen(stderr[0], encoding="utf-8", errors="replace")
        self._lines = self._told.makefile(encoding="ascii")
        self.pid = int(self._lines.readline())
        self.returncode: int | None = None

    def wait(self, timeout: float = 120.0) -> int:
        """Return the exit code, negative if a signal ended the program."""
        if self.returncode is None:
            self._told.settimeout(timeout)
            self.returncode = int(self._lines.readline())
            self._lines.close()
            self._told.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal to the program."""
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask the program to end, by SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the program by SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def communicate(self, text: str = "", timeout: float = 120.0) -> tuple[str, str]:
        """Give a text to the program, and return all that it prints, once it has ended."""
        errors: list[str] = []
        aside = threading.Thread(target=lambda: errors.append(self.stderr.read()))
        aside.start()
        feeding = threading.Thread(target=self._feed, args=(text,))
        feeding.start()
        printed = self.stdout.read()
        for thread in (aside, feeding):
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


def prepare() -> None:
    """Load the library for all programs to come, also for those of processes that are forked from this one."""
    _nursery()


def keep_commands() -> None:
    """Put the commands together once: Typer does so at every call, which takes longer than most of them."""
    import typer.main
    import typer.testing

    from chronodp.cli.shell import app

    kept = functools.cache(typer.main.get_command)
    typer.main.get_command = typer.testing._get_command = kept  # type: ignore[attr-defined]
    kept(app)


class _Nursery:
    """The process that has everything loaded, and forks."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        quiet = {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # no threads before a fork
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.warm", str(theirs.fileno())],
                cwd=ROOT,
                env=os.environ | quiet,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        self._owner = os.getpid()
        atexit.register(self._end)

    def ask(self, header: bytes, descriptors: Sequence[int]) -> None:
        """Have a program started."""
        socket.send_fds(self._ours, [header], list(descriptors))

    def _end(self) -> None:
        self._ours.close()
        if os.getpid() == self._owner:
            self._process.wait()


@functools.cache
def _nursery() -> _Nursery:
    return _Nursery()


def _serve(control: socket.socket) -> None:
    """Fork for every request, until nobody can ask any more."""
    for name in _LOADED:
        with contextlib.suppress(ImportError):  # an extra that is not installed here
            importlib.import_module(name)
    keep_commands()
    _check_noise()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        header, given, _, _ = socket.recv_fds(control, 2**20, 4)
        if not header:
            os._exit(0)
        if not os.fork():
            control.close()
            _keep(json.loads(header), given)
        for one in given:
            os.close(one)


def _check_noise() -> None:
    """Look at this machine's logarithms once, and not in every program that draws: nothing is drawn here."""
    from chronodp.randomness.start_check import checked
    from chronodp.randomness.variates import exponential, gaussian, laplace

    for kind in (exponential, gaussian, laplace):
        checked(kind())


def _keep(asked: dict[str, Any], given: list[int]) -> None:
    """Fork the program, and tell its number and then how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    told, *pipes = given
    program = os.fork()
    if not program:
        os.close(told)
        _become(asked, pipes)
    for pipe in pipes:
        os.close(pipe)
    with socket.socket(fileno=told) as back:
        back.sendall(f"{program}\n".encode())
        _, status = os.waitpid(program, 0)
        with contextlib.suppress(OSError):  # the test may have gone on
            back.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _become(asked: dict[str, Any], pipes: list[int]) -> None:
    """Run the program as if the interpreter had been started for it."""
    for number, pipe in enumerate(pipes):
        os.dup2(pipe, number)
        os.close(pipe)
    sys.stdin = os.fdopen(0, "r", encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", closefd=False)
    os.chdir(str(asked["cwd"]))
    os.environ.clear()
    os.environ.update(asked["environment"])
    luck.begin(asked["luck"])
    kind, what, *words = asked["arguments"]
    code = 0
    try:
        if kind == "-m":
            sys.argv = [what, *words]
            runpy.run_module(what, run_name="__main__", alter_sys=True)
        else:
            sys.argv = ["-c", *words]
            exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]  # what the end of an interpreter does
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))

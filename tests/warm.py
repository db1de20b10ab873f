"""Python programs that start at once: each is forked from a process that has the library loaded already.

`run` and `start` take what would come after ``python``: ``-m module words...`` or ``-c code words...``. The program is
a process of its own, with its own memory, descriptors and exit code, and can be killed like any other. What it does not
show is whether a fresh interpreter finds what it imports; tests of that start one. Those that train ask for PyTorch: a
second process has that loaded, too, so that it does not make all others large.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from tests import luck

__all__ = ["Program", "keep_commands", "prepare", "run", "start"]

ROOT = Path(__file__).parents[1]


class Program:
    """A running program, used like a ``Popen`` of text: its pipes, its exit code, and how to end it."""

    def __init__(self, arguments: Sequence[str], *, cwd: Path, environment: dict[str, str], torch: bool) -> None:
        stdin, stdout, stderr = os.pipe(), os.pipe(), os.pipe()
        self._told, theirs = socket.socketpair()
        asked = {"arguments": list(arguments), "cwd": str(cwd), "environment": environment, "torch": torch}
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


def start(*arguments: str, cwd: Path = ROOT, environment: dict[str, str] | None = None, torch: bool = False) -> Program:
    """Start a program, given as the words that come after ``python``, with PyTorch loaded if so asked."""
    return Program(arguments, cwd=cwd, environment=dict(os.environ) | (environment or {}), torch=torch)


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
                [sys.executable, "-m", "tests.nursery", str(theirs.fileno())],
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

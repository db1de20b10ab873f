"""Runs parts side by side, and says what held and what did not."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from checks.parts import ROOT, Part

__all__ = ["Outcome", "run", "summary"]

_MEMORY = Path("/dev/shm")
_COUNTED = re.compile(r"\d+ (passed|failed|skipped|errors?|deselected)\b.* in \d+[.\d]*s")  # how pytest ends
_ENOUGH = 4 * 2**30  # bytes that tests may leave in temporary folders at once


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a part ended.

    Attributes:
        part: which one.
        held: whether every command succeeded.
        seconds: how long it took; 0 if it held before and was left out.
        output: what its commands printed, where that was not shown as it came.
    """

    part: Part
    held: bool
    seconds: float
    output: str = ""

    @property
    def last_line(self) -> str:
        """The end of what was printed: of tests, how many passed and how many were left out.

        Libraries may print more while Python ends, after the line that counts.
        """
        lines = [line.strip("= ") for line in self.output.splitlines() if line.strip()]
        counted = [line for line in lines if _COUNTED.search(line)]
        return (counted or lines or [""])[-1][:100]


def run(parts: Sequence[Part], tell: Callable[[Outcome], None], *, at_once: int = 2) -> list[Outcome]:
    """Run parts, so many at a time and those that must be alone at the end, and tell each as it ends."""
    lock = threading.Lock()
    done: list[Outcome] = []

    def one(part: Part) -> Outcome:
        outcome = _run(part)
        with lock:
            done.append(outcome)
            tell(outcome)
        return outcome

    with _quick_folder(), ThreadPoolExecutor(at_once) as pool:
        for finished in as_completed([pool.submit(one, part) for part in parts if not part.alone]):
            finished.result()
    for part in parts:
        if part.alone:
            one(part)
    return done


@contextmanager
def _quick_folder() -> Iterator[None]:
    """Keep temporary files in memory where there is room: hundreds of ledgers wait for a disk at every step.

    Tests that kill processes lose nothing by it: what a process has written outlives it on either.
    """
    if "TMPDIR" in os.environ or not _MEMORY.is_dir() or not os.access(_MEMORY, os.W_OK):
        yield
        return
    told = os.statvfs(_MEMORY)
    if told.f_bavail * told.f_frsize < _ENOUGH or told.f_flag & os.ST_NOEXEC:
        yield
        return
    folder = tempfile.mkdtemp(prefix="chronodp-", dir=_MEMORY)
    os.environ["TMPDIR"] = folder
    try:
        yield
    finally:
        del os.environ["TMPDIR"]
        shutil.rmtree(folder, ignore_errors=True)


def summary(outcomes: Sequence[Outcome]) -> str:
    """Return a line a part: whether it held, and how long it took."""
    width = max(len(outcome.part.name) for outcome in outcomes)
    lines = [
        f"  {'held  ' if outcome.held else 'FAILED'}  {outcome.part.name:<{width}}  "
        + (f"{outcome.seconds:7.0f} s  {outcome.last_line}" if outcome.seconds else "before, with the same files")
        for outcome in outcomes
    ]
    failed = [outcome.part.name for outcome in outcomes if not outcome.held]
    end = f"Did not hold: {', '.join(failed)}." if failed else "Everything held."
    return "\n".join([*lines, end])


def _run(part: Part) -> Outcome:
    began, printed = time.monotonic(), []
    # Tests start hundreds of Pythons: compiled files are kept, whatever is set here.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= part.environment
    held = True
    for command in part.commands:
        pipe = None if part.live else subprocess.PIPE
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=None if part.live else subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        printed.append(done.stdout or "")
        if done.returncode:
            held = False
            break
    sys.stdout.flush()
    return Outcome(part, held, max(time.monotonic() - began, 0.1), "".join(printed))

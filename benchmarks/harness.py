"""How a benchmark measures and shows: one table, or one JSON object."""

from __future__ import annotations

import json
import multiprocessing
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
ABSENT = "not installed"
EVERYWHERE = "every machine"
TURNS = "a second is one of the processor; ratios: the median of rounds run turn by turn"


@dataclass
class Topic:
    """One table with what it was run by; `everywhere` if its figures are computed or counted, whatever the machine."""

    title: str
    command: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    everywhere: bool = False

    def to_json(self) -> str:
        """Return one JSON object."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return json.dumps({"title": self.title, "command": self.command, "rows": rows, "notes": self.notes})

    def lines(self) -> tuple[str, ...]:
        """Return the table in Markdown, line by line."""
        rows = [[_text(cell) for cell in row] for row in self.rows]
        return tuple(map(_line, (self.columns, ["---"] * len(self.columns), *rows)))

    def to_markdown(self) -> str:
        """Return a Markdown section."""
        lines = [f"## {self.title}", "", f"`{self.command}`", "", *self.lines()]
        lines += ["", *(f"- {note}" for note in self.notes)]
        return "\n".join(lines).rstrip() + "\n"


def show(measure: Callable[[], Topic]) -> None:
    """Run one benchmark from its command line."""
    topic = measure()
    print(topic.to_json() if "--json" in sys.argv[1:] else topic.to_markdown())


def rate(work: Callable[[], object], size: int, *, seconds: float = 0.15) -> float:
    """Return how many items ``work`` makes in a second of one core when it is called again and again.

    The processor's time, of all threads together: what else the machine does is not counted.
    """
    start, done = time.process_time(), 0
    while (elapsed := time.process_time() - start) < seconds:
        work()
        done += size
    return done / elapsed


def duel(
    ours: Callable[[], object], theirs: Callable[[], object], size: int, other: int | None = None, *, rounds: int = 9
) -> tuple[float, ...]:
    """Return our best rate, theirs, and the median ratio of rounds run turn by turn: the machine's noise hits both."""
    ours(), theirs()
    pairs = [(rate(ours, size), rate(theirs, size if other is None else other)) for _ in range(rounds)]
    return (
        max(pair[0] for pair in pairs),
        max(pair[1] for pair in pairs),
        statistics.median(one / two for one, two in pairs),
    )


def alone(work: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
    """Return what ``work`` returns in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *args, **kwargs).result()


def peak() -> float:
    """Return the most memory that this process has held, in GiB."""
    status = Path("/proc/self/status")
    if status.exists():  # where it does, the other figure would count what the parent held too
        lines = dict(line.split(":", 1) for line in status.read_text(encoding="utf-8").splitlines())
        return int(lines["VmHWM"].split()[0]) / 2**20
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)


def machine() -> tuple[str, str]:
    """Return the kind of the machine on which this runs, and what it is."""
    listed = subprocess.run(["lscpu"], capture_output=True, text=True, check=False).stdout if which("lscpu") else ""
    model = next((text.partition(":")[2].strip() for text in listed.splitlines() if text.startswith("Model name")), "")
    kind = platform.machine()
    what = [platform.system(), f"{os.cpu_count()} cores", *([model] if model else [])]
    return {"AMD64": "x86_64", "arm64": "aarch64"}.get(kind, kind), ", ".join(
        [*what, f"Python {platform.python_version()}"]
    )


def commit() -> str:
    """Return the commit that is measured, and whether the files differ from it."""
    try:
        found = [_git("rev-parse", "--short=8", "HEAD"), _git("status", "--porcelain", "--", "src", "benchmarks/*.py")]
    except (OSError, subprocess.CalledProcessError):
        return "no commit"
    return found[0] + (" with changes" if found[1] else "")


def _git(*words: str) -> str:
    here = Path(__file__).parent.parent
    return subprocess.run(["git", *words], cwd=here, check=True, capture_output=True, text=True).stdout.strip()


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _text(cell: object) -> str:
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell)

"""How a benchmark measures and shows: one table, or one JSON object."""

from __future__ import annotations

import json
import multiprocessing
import platform
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


@dataclass
class Topic:
    """One table with what it was run by."""

    title: str
    command: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> str:
        """Return one JSON object."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return json.dumps({"title": self.title, "command": self.command, "rows": rows, "notes": self.notes})

    def to_markdown(self) -> str:
        """Return a Markdown section."""
        lines = [
            f"## {self.title}",
            "",
            f"`{self.command}`",
            "",
            _line(self.columns),
            _line(["---"] * len(self.columns)),
        ]
        lines += [_line([_text(cell) for cell in row]) for row in self.rows]
        lines += ["", *(f"- {note}" for note in self.notes)]
        return "\n".join(lines).rstrip() + "\n"


def show(measure: Callable[[], Topic]) -> None:
    """Run one benchmark from its command line."""
    topic = measure()
    print(topic.to_json() if "--json" in sys.argv[1:] else topic.to_markdown())


def rate(work: Callable[[], object], size: int, *, seconds: float = 0.15) -> float:
    """Return how many items a second ``work`` makes when it is called again and again."""
    start, done = time.perf_counter(), 0
    while (elapsed := time.perf_counter() - start) < seconds:
        work()
        done += size
    return done / elapsed


def duel(ours: Callable[[], object], theirs: Callable[[], object], size: int, *, rounds: int = 9) -> tuple[float, ...]:
    """Return our best rate, theirs, and the median ratio of rounds run turn by turn: the machine's noise hits both."""
    ours(), theirs()
    pairs = [(rate(ours, size), rate(theirs, size)) for _ in range(rounds)]
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


def machine() -> str:
    return f"Python {platform.python_version()}, {platform.machine()}, {platform.system()}"


def _line(cells: list[str] | tuple[str, ...]) -> str:
    return "| " + " | ".join(cells) + " |"


def _text(cell: object) -> str:
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell)

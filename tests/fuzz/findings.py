"""What a run over one parser found, one example of each fault, and the text that took longest."""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["Findings", "limit_memory", "parse_run"]

_MEMORY = 6 * 2**30  # bytes of addresses: what asks for so many more fails, and that is a finding
_STATE = Path("/proc/self/statm")


class Findings:
    """How many texts a parser was given, the shortest text for each fault, and the slowest of all."""

    def __init__(self, target: str, judge: Callable[[bytes], str | None]) -> None:
        self.target, self.cases = target, 0
        self._judge = judge
        self._begun = time.perf_counter()
        self._faults: dict[str, tuple[str, bytes]] = {}
        self._slowest = 0.0, b""

    def give(self, content: bytes) -> None:
        """Give the parser a text, and keep what is wrong about what it does."""
        begun = time.process_time()  # of the processor: it may be busy with other things
        fault = self._judge(content)
        self._slowest = max(self._slowest, (time.process_time() - begun, content))
        self.cases += 1
        if fault is None:
            return
        kind = fault.partition(": ")[0]
        known = self._faults.get(kind)
        if known is None or len(content) < len(known[1]):
            self._faults[kind] = fault, content

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        seconds, text = self._slowest
        return {
            "target": self.target,
            "cases": self.cases,
            "seconds": round(time.perf_counter() - self._begun, 1),
            "slowest": {"seconds": round(seconds, 2), "text": repr(text[:500])},
            "findings": [{"fault": fault, "text": repr(text[:500])} for fault, text in self._faults.values()],
        }


def limit_memory() -> None:
    """Let this process ask for no more than any text should need, beside what it has loaded.

    That alone is no small thing: libraries for a graphics card, or threads of sixteen cores, take gigabytes.
    """
    pages = int(_STATE.read_text(encoding="ascii").split()[0]) if _STATE.is_file() else 0
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + _MEMORY, hard))


def parse_run(arguments: list[str]) -> argparse.Namespace:
    """Return which target is given how many texts, from which seed, and where the findings go."""
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("--cases", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args(arguments)

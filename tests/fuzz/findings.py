"""What a run over one parser found, one example of each fault."""

from __future__ import annotations

import argparse
import resource
from pathlib import Path
from typing import Any

__all__ = ["Findings", "limit_memory", "parse_run"]

_MEMORY = 6 * 2**30  # bytes of addresses: what asks for more fails, and that is a finding


class Findings:
    """How many texts a parser was given, and the shortest text for each fault."""

    def __init__(self, target: str) -> None:
        self.target, self.cases = target, 0
        self._faults: dict[str, tuple[str, bytes]] = {}

    def add(self, content: bytes, fault: str | None) -> None:
        """Count a text and keep its fault, if it has one."""
        self.cases += 1
        if fault is None:
            return
        kind = fault.partition(": ")[0]
        known = self._faults.get(kind)
        if known is None or len(content) < len(known[1]):
            self._faults[kind] = fault, content

    def to_dict(self, seconds: float) -> dict[str, Any]:
        """Return plain data for JSON."""
        faults = [{"fault": fault, "text": repr(text[:500])} for fault, text in self._faults.values()]
        return {"target": self.target, "cases": self.cases, "seconds": round(seconds, 1), "findings": faults}


def limit_memory() -> None:
    """Let this process ask for no more than any text should need."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, hard))


def parse_run(arguments: list[str]) -> argparse.Namespace:
    """Return which target is given how many texts, from which seed, and where the findings go."""
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("--cases", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args(arguments)

"""Runs parts side by side, two at a time, and says what held and what did not."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from checks.parts import ROOT, Part

__all__ = ["Outcome", "run", "summary"]

_LANES = 2


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


def run(parts: Sequence[Part], tell: Callable[[Outcome], None]) -> list[Outcome]:
    """Run parts, those that must be alone at the end, and tell each as it ends."""
    lock = threading.Lock()
    done: list[Outcome] = []

    def one(part: Part) -> Outcome:
        outcome = _run(part)
        with lock:
            done.append(outcome)
            tell(outcome)
        return outcome

    with ThreadPoolExecutor(_LANES) as pool:
        for finished in as_completed([pool.submit(one, part) for part in parts if not part.alone]):
            finished.result()
    for part in parts:
        if part.alone:
            one(part)
    return done


def summary(outcomes: Sequence[Outcome]) -> str:
    """Return a line a part: whether it held, and how long it took."""
    width = max(len(outcome.part.name) for outcome in outcomes)
    lines = [
        f"  {'held  ' if outcome.held else 'FAILED'}  {outcome.part.name:<{width}}  "
        + (f"{outcome.seconds:7.0f} s" if outcome.seconds else "before, with the same files")
        for outcome in outcomes
    ]
    failed = [outcome.part.name for outcome in outcomes if not outcome.held]
    end = f"Did not hold: {', '.join(failed)}." if failed else "Everything held."
    return "\n".join([*lines, end])


def _run(part: Part) -> Outcome:
    began, printed = time.monotonic(), []
    environment = os.environ | part.environment
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

"""Several processes, each started again if it dies."""

from __future__ import annotations

import multiprocessing
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.context import SpawnContext, SpawnProcess

__all__ = ["supervise"]

_LOOK = 0.2
_BRIEF = 2.0  # a worker that lived for less is not started again at once
_PATIENCE = 45.0


def supervise(make: Callable[[SpawnContext], SpawnProcess], *, workers: int) -> None:
    """Keep so many processes alive until this one is told to stop; then let each finish what it has begun."""
    context = multiprocessing.get_context("spawn")
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())

    def start() -> tuple[SpawnProcess, float]:
        process = make(context)
        process.start()
        return process, time.monotonic()

    alive = [start() for _ in range(workers)]
    while not stop.wait(_LOOK):
        for place, (process, since) in enumerate(alive):
            if not process.is_alive() and time.monotonic() - since > _BRIEF:
                alive[place] = start()
    for process, _ in alive:
        process.terminate()
    for process, _ in alive:
        process.join(_PATIENCE)

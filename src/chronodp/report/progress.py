"""A progress bar for people who wait at a terminal, and silence for everyone else."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chronodp.display import shown

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["watched", "watching"]

_PATIENCE = 2.0  # seconds: a shorter wait needs no bar


@contextlib.contextmanager
def watching(title: str) -> Iterator[Callable[[float], None]]:
    """Yield a function to tell the fraction done, from 0 to 1; a bar shows it on standard error if that is a terminal.

    The bar comes after two seconds and is gone at the end. The function may be called from any thread and never raises.

    >>> with watching("counting") as tell:
    ...     tell(0.5)
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield _tell_nobody
        return
    bar = _Bar(shown(title))
    timer = threading.Timer(_PATIENCE, bar.show)
    timer.daemon = True
    timer.start()
    try:
        yield bar.tell
    finally:
        timer.cancel()
        bar.close()
        timer.join()  # no thread of ours outlives the work


@contextlib.contextmanager
def watched(progress: Callable[[float], None] | None, title: str) -> Iterator[Callable[[float], None]]:
    """Yield the caller's own function to tell the fraction done, or, if there is none, that of `watching`."""
    if progress is not None:
        yield progress
        return
    with watching(title) as tell:
        yield tell


def _tell_nobody(fraction: float) -> None:
    """Drop the fraction: nobody is watching."""


@dataclass(slots=True)
class _Bar:
    title: str
    fraction: float = 0.0
    closed: bool = False
    drawn: Progress | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)

    def tell(self, fraction: float) -> None:
        # Work must not fail because its bar did.
        with contextlib.suppress(Exception), self.lock:
            self.fraction = min(max(0.0, float(fraction)), 1.0)  # in this order, what is not a number counts as nothing
            if self.drawn is not None:
                self.drawn.update(self.drawn.task_ids[0], completed=self.fraction)

    def show(self) -> None:
        with contextlib.suppress(Exception):
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

            # Prints of the program stay where they go: rich would otherwise send them through the bar.
            drawn = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TextColumn("{task.percentage:>3.0f} %"),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            with self.lock:
                if not self.closed:
                    task = drawn.add_task(self.title, total=1.0)
                    drawn.update(task, completed=self.fraction)
                    drawn.start()
                    self.drawn = drawn

    def close(self) -> None:
        with contextlib.suppress(Exception), self.lock:
            self.closed = True
            if self.drawn is not None:
                self.drawn.stop()

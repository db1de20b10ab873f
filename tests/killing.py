"""Processes that kill themselves where a test tells them to."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

__all__ = ["die_at"]


def die_at(point: str, count: int = 1) -> Callable[[str], None]:
    """Return what a ledger tells its points to; the process ends there, by SIGKILL, the ``count``-th time it comes by.

    With a count of 0 it never does.
    """
    left = count

    def reached(name: str) -> None:
        nonlocal left
        if name == point:
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    return reached

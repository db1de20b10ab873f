"""What would slow a live stream at the wrong moment, done at another: imports, and collecting garbage."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collecting_later", "import_for_releases"]

_LATER = ("scipy.optimize", "scipy.signal", "scipy.special")  # a second, imported where they are first used


def import_for_releases() -> None:
    """Import what releases need when a stream is opened: the first window that is due does not wait for it."""
    for name in _LATER:
        importlib.import_module(name)


@contextmanager
def collecting_later() -> Iterator[None]:
    """Look for no cycles of objects meanwhile: while many messages are alive, that takes a third of all time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()

"""Batches change threads: Spark calls in one of its own, and the ledger, sinks and listeners stay in that of `run`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

__all__ = ["Turns"]


class Turns:
    """Lets one thread do what another one asks for and waits for."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._asked: tuple[Any, ...] | None = None
        self._ended = False

    def ask(self, *what: Any) -> None:
        """Wait until it was done; raise if it never will be."""
        with self._changed:
            self._asked = what
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._asked is None or self._ended)
            if self._ended:
                raise InterruptedError("the run has ended")

    def serve(self, do: Callable[..., None], *, wait: float) -> bool:
        """Do what is asked, if anything is within so many seconds; return whether it was."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._asked is not None, wait):
                return False
            assert self._asked is not None
            do(*self._asked)
            self._asked = None
            self._changed.notify_all()
            return True

    def end(self) -> None:
        """Let nobody wait any more."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

"""How often strangers may come: each address, and all of them together, so that their number does not matter."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from chronodp.service.limits import Limits

__all__ = ["Strangers"]

_MANY = 5  # new connections, and files of the page, of one address, for each call that it may make without a token
_TOGETHER = 5  # what all strangers may do, for each call that one of them may make
_LATELY = 300.0  # seconds for which an address counts as one that people with tokens come from
_PATIENCE = 10.0  # seconds for which a file of the page waits
_KEPT = 10_000
_ALL = "all strangers"


class Strangers:
    """Counts calls without a token, pieces of their answers, and new connections, whose tokens nobody knows yet.

    An address that somebody with a token came from lately is counted by itself alone: a flood from elsewhere does not
    keep them from connecting again.
    """

    def __init__(self, rate: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._calls = Limits(rate, clock=clock)
        self._connections, self._files = (Limits(_MANY * rate, clock=clock) for _ in range(2))
        self._pieces = Limits(rate, clock=clock)
        together = (Limits(_TOGETHER * rate, clock=clock) for _ in range(4))
        self._all_calls, self._all_connections, self._all_files, self._all_pieces = together
        self._lately: OrderedDict[str, float] = OrderedDict()
        self._clock, self._lock = clock, threading.Lock()

    def vouch(self, origin: str) -> None:
        """Remember that somebody with a token came from there."""
        with self._lock:
            self._lately[origin] = self._clock()
            self._lately.move_to_end(origin)
            if len(self._lately) > _KEPT:
                self._lately.popitem(last=False)

    def count_call(self, origin: str) -> None:
        """Count a call, or raise if there were too many."""
        self._calls.take(origin)
        if not self._vouched(origin):
            self._all_calls.take(_ALL)

    def wait_for_file(self, origin: str) -> float:
        """Count a call for a file of the page, and return the seconds until it may be answered, or raise.

        The page needs many files at once and does not work without one of them, so they wait for a while.
        """
        own = self._files.borrow(origin, most=_PATIENCE)
        return own if self._vouched(origin) else max(own, self._all_files.borrow(_ALL, most=_PATIENCE))

    def wait_for_piece(self, origin: str) -> float:
        """Count a piece of a long answer, and return the seconds until it may be sent."""
        own = self._pieces.borrow(origin)
        return own if self._vouched(origin) else max(own, self._all_pieces.borrow(_ALL))

    def lets_in(self, origin: str) -> bool:
        """Count a new connection, and return whether it is one of those that are let in."""
        if self._vouched(origin):
            return self._connections.has_left(origin) and self._connections.allows(origin)
        # In a flood nothing is left for all of them, and whoever else comes is refused by one look.
        return self._all_connections.has_left(_ALL) and (
            self._connections.allows(origin) and self._all_connections.allows(_ALL)
        )

    def _vouched(self, origin: str) -> bool:
        since = self._lately.get(origin)  # one look, which needs no lock
        return since is not None and self._clock() - since <= _LATELY

"""How often one caller may call: a bucket that fills at the policy's rate."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from chronodp.errors import TooManyCalls

__all__ = ["Limits"]

_KEPT = 10_000
_BURST = 2.0  # seconds' worth of calls that may come at once


class Limits:
    """A bucket for each caller, in this worker; the newest callers are remembered.

    >>> limits = Limits(1.0, clock=lambda: 0.0)
    >>> limits.take("ana"), limits.allows("ana"), limits.allows("ana")
    (None, True, False)
    >>> limits.take("ana")
    Traceback (most recent call last):
        ...
    chronodp.errors.TooManyCalls: more than 1 calls a second
    """

    def __init__(self, rate: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, caller: str) -> None:
        """Count a call, or raise if there were too many."""
        if not self.allows(caller):
            raise self._refusal()

    def allows(self, caller: str) -> bool:
        """Count a call, and return whether it is one of those that are allowed; others count for nothing."""
        with self._lock:
            left = self._left(caller)
            self._buckets[caller] = (left - 1 if left >= 1 else left, self._clock())
        return left >= 1

    def has_left(self, caller: str) -> bool:
        """Return whether a call would be allowed now, and count nothing."""
        left, since = self._buckets.get(caller, (1.0, 0.0))
        return left + (self._clock() - since) * self._rate >= 1

    def borrow(self, caller: str, *, most: float = math.inf) -> float:
        """Count a call, and return the seconds after which it is one of those that are allowed; raise if above most."""
        with self._lock:
            left = self._left(caller)
            wait = max(0.0, (1 - left) / self._rate)
            self._buckets[caller] = (left - 1 if wait <= most else left, self._clock())
        if wait > most:
            raise self._refusal()
        return wait

    def _refusal(self) -> TooManyCalls:
        return TooManyCalls(f"more than {self._rate:g} calls a second", mend="wait a second and ask again")

    def _left(self, caller: str) -> float:
        moment, most = self._clock(), max(1.0, self._rate * _BURST)
        if len(self._buckets) > _KEPT:
            self._buckets.popitem(last=False)
        left, since = self._buckets.pop(caller, (most, moment))
        return min(most, left + max(0.0, moment - since) * self._rate)

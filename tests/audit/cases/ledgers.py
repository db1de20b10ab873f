"""A table and a ledger for one audit: the ledger on disk like any other, and gone afterwards."""

from __future__ import annotations

import contextlib
import functools
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chronodp.dataset import TimeSeries
from chronodp.ledger import Fulfilled, Kind, Ledger, read_numbers
from chronodp.owner import owner_told
from chronodp.privacy import Unit, User
from chronodp.randomness import Entropy

_NAME = "budget.db"


def daily(rows: Any, *, first: int = 1, days: int = 1, **options: Any) -> TimeSeries:
    """Return a series of rows by day, from a day of January 2026 on; people are protected unless a unit is given."""
    start, end = (f"2026-01-{day:02}" for day in (first, first + days))
    return TimeSeries(rows, time="at", user="who", every="1D", start=start, end=end, **{"unit": User(), **options})


class WatchedLedger(Ledger):
    """A ledger that shows what it stored: an adversary sees every release, also one that is only processed further."""

    seen: tuple[str, ...] = ()
    parts: tuple[tuple[bytes, ...], ...] = ()

    def fulfil(self, *args: Any, **options: Any) -> Fulfilled:
        """Pay, store and remember what was stored."""
        made = super().fulfil(*args, **options)
        self.seen, self.parts = (*self.seen, made.release), (*self.parts, made.parts)
        return made


@contextlib.contextmanager
def temporary_ledger(
    unit: Unit, *, delta: float = 0.0, rule: Kind | None = None, reserve: float | None = None, epsilon: float = 1e6
) -> Iterator[WatchedLedger]:
    """Yield a ledger whose budget for ``"audit"`` never runs out, if no epsilon is given."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in _untouched(unit, delta, rule, reserve, epsilon).items():
            (Path(folder) / name).write_bytes(content)
        with WatchedLedger(Path(folder) / _NAME) as ledger:
            yield ledger


@functools.lru_cache(maxsize=64)
def _untouched(unit: Unit, delta: float, rule: Kind | None, reserve: float | None, epsilon: float) -> dict[str, bytes]:
    """Return the files of a ledger that has paid for nothing: making one takes longer than most of what is audited."""
    with tempfile.TemporaryDirectory() as folder:
        with Ledger(Path(folder) / _NAME) as ledger:
            ledger.open("audit", unit=unit, epsilon=epsilon, delta=delta, rule=rule, reserve=reserve)
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def stored_release(plan: Any, entropy: Entropy, *, unit: Unit, delta: float) -> Any:
    """Release a plan by its public call, ledger and all, and return the document that was stored."""
    # Tables of an audit are made up, some without a row: nobody owns what is read.
    with temporary_ledger(unit, delta=delta) as ledger, owner_told(lambda _: None):
        plan.release(ledger, dataset="audit", request="audit", entropy=entropy, progress=lambda _: None)
        stored = json.loads(ledger.seen[0])
    if isinstance(stored.get("noisy"), dict):  # many numbers stand beside the text
        kinds = len(stored["design"]["noises"])
        stored["noisy"] = read_numbers(stored["noisy"], (kinds, stored["noisy"]["cells"] // kinds), ledger.parts[0])
    return stored

"""A ledger for one audit: on disk like any other, and gone afterwards."""

from __future__ import annotations

import contextlib
import functools
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chronodp.ledger import Fulfilled, Kind, Ledger, read_numbers
from chronodp.owner import owner_told
from chronodp.privacy import Unit
from chronodp.randomness import Entropy

__all__ = ["WatchedLedger", "stored_release", "temporary_ledger"]

_NAME = "budget.db"


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
    unit: Unit, *, delta: float = 0.0, rule: Kind | None = None, reserve: float | None = None
) -> Iterator[WatchedLedger]:
    """Yield a ledger whose budget for ``"audit"`` never runs out."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in _untouched(unit, delta, rule, reserve).items():
            (Path(folder) / name).write_bytes(content)
        with WatchedLedger(Path(folder) / _NAME) as ledger:
            yield ledger


@functools.lru_cache(maxsize=64)
def _untouched(unit: Unit, delta: float, rule: Kind | None, reserve: float | None) -> dict[str, bytes]:
    """Return the files of a ledger that has paid for nothing: making one takes longer than most of what is audited."""
    with tempfile.TemporaryDirectory() as folder:
        with Ledger(Path(folder) / _NAME) as ledger:
            ledger.open("audit", unit=unit, epsilon=1e6, delta=delta, rule=rule, reserve=reserve)
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

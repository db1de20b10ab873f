"""A ledger for one audit: on disk like any other, and gone afterwards."""

from __future__ import annotations

import contextlib
import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path

from chronodp.ledger import Ledger
from chronodp.privacy import Unit

__all__ = ["numbers", "temporary_ledger"]


@contextlib.contextmanager
def temporary_ledger(unit: Unit, *, delta: float = 0.0) -> Iterator[Ledger]:
    """Yield a ledger whose budget for ``"audit"`` never runs out."""
    with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "budget.db") as ledger:
        ledger.open("audit", unit=unit, epsilon=1e6, delta=delta)
        yield ledger


def numbers() -> Iterator[str]:
    """Yield names that are used once."""
    return (f"{number}" for number in itertools.count())

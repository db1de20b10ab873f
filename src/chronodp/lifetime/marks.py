"""The mark that is left in a tally's folder before an issue is told that another process stored."""

from __future__ import annotations

from pathlib import Path

from chronodp.ledger import Ledger
from chronodp.lifetime.memory import Memory
from chronodp.lifetime.tally import LifeTally

__all__ = ["mark_told"]


def mark_told(ledger: Ledger, name: str, *, tally: str | Path) -> None:
    """Mark how far a series has come: who stored its last issue may have died between the transaction and the mark.

    No entry of the tally is read.
    """
    stored = ledger.resume_stream(name)
    life = Memory.from_bytes(stored.state, name).design.life
    LifeTally(Path(tally), ledger.keys, stored.dataset, name, life).announce(stored.step)

"""What anybody may know of a series, read from the ledger alone, and the mark that is left before it is told."""

from __future__ import annotations

from pathlib import Path

from chronodp.ledger import Ledger
from chronodp.lifetime.memory import Memory, Step
from chronodp.lifetime.owner import LifetimeStatus
from chronodp.lifetime.tally import LifeTally

__all__ = ["mark_told", "status_of"]


def status_of(ledger: Ledger, name: str) -> LifetimeStatus:
    """Return what anybody may know of a series: its terms, and which issues there were. The tally is not looked at."""
    stored = ledger.resume_stream(name)
    memory = Memory.from_bytes(stored.state, name)
    steps = [Step.from_text(text) for text in ledger.stored.steps(name, until=stored.step)]
    requests = tuple(step.request for step in steps if step.request is not None)
    return LifetimeStatus(name, stored.dataset, memory.design, requests, memory.seeded)


def mark_told(ledger: Ledger, name: str, *, tally: str | Path) -> None:
    """Mark in a tally's folder how far its ledger has come, before an issue is told that another process stored.

    That process may have died between its transaction and the mark. No entry of the tally is read.
    """
    stored = ledger.resume_stream(name)
    life = Memory.from_bytes(stored.state, name).design.life
    LifeTally(Path(tally), ledger.keys, stored.dataset, name, life).announce(stored.step)

"""What anybody may know of a series, read from the ledger alone."""

from __future__ import annotations

from chronodp.ledger import Ledger
from chronodp.lifetime.memory import Memory, Step
from chronodp.lifetime.owner import LifetimeStatus

__all__ = ["status_of"]


def status_of(ledger: Ledger, name: str) -> LifetimeStatus:
    """Return what anybody may know of a series: its terms, and which issues there were. The tally is not looked at."""
    stored = ledger.resume_stream(name)
    memory = Memory.from_bytes(stored.state, name)
    steps = [Step.from_text(text) for text in ledger.released_steps(name)]
    requests = tuple(step.request for step in steps if step.request is not None)
    return LifetimeStatus(name, stored.dataset, memory.design, requests, memory.seeded)

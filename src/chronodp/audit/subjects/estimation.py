"""What is read from releases draws no noise about anyone: nothing to claim."""

from __future__ import annotations

from chronodp.audit.registry import Entry
from chronodp.estimation import rehearse

__all__ = ["ENTRIES"]

ENTRIES = (
    Entry(
        name="rehearsal",
        covers=(rehearse,),
        precision="as the mechanisms it tries",
        unclaimed="it runs on an example that is public, and must not be given the private series",
    ),
)

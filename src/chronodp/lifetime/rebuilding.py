"""A lost tally, made again: it follows from the key, the tables, the terms and the events, and from nothing else.

*Rebuilding* of "Lifetimes" in ``docs/explanation/proofs/ledger.md``.
"""

from __future__ import annotations

from collections.abc import Callable

from chronodp.errors import TallyMismatch
from chronodp.lifetime.entries import Entries
from chronodp.lifetime.segments import BEGINNING
from chronodp.lifetime.tally import LifeTally

__all__ = ["rebuild"]


def rebuild(tally: LifeTally, step: int, head: bytes, entries: Callable[[int, LifeTally], Entries]) -> None:
    """Make a lost tally again from what each step took, and accept it only if every MAC agrees.

    The ledger's head is a digest of all MACs in their order, so it agrees if and only if each of them does. A process
    that dies meanwhile leaves a tally that lacks steps, and is refused.

    Args:
        tally: whose folder is missing or empty.
        step: how many steps the ledger knows.
        head: of the chain after them, as the ledger has it.
        entries: returns who paid what in a step, given its number and the tally as it stood before; of events, what the
            ledger keeps of them (`read_events`).
    """
    tally.make()
    tally.verify(0, BEGINNING)
    found = BEGINNING
    try:
        for number in range(1, step + 1):
            found = tally.write(number, entries(number, tally))
            tally.announce(number)
        if found != head:
            raise TallyMismatch(
                f"the tables do not give what was booked in the tally of {tally.name!r}: rows were changed or erased "
                "since, or the terms are others. Without its tally this series has ended; nothing was released"
            )
    except BaseException:
        tally.discard()
        raise

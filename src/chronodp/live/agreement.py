"""Whether a state and a ledger belong together.

s ≤ t_o ≤ c of "Once, and in order" in ``docs/explanation/proofs/live.md``.
"""

from __future__ import annotations

from collections.abc import Iterable

from chronodp.errors import StreamConflict
from chronodp.live.state import State
from chronodp.live.streams import TotalsStream

__all__ = ["check_agreement"]


def check_agreement(state: State, streams: Iterable[TotalsStream], *, partitions: int | None = None) -> None:
    """Refuse a state and a ledger that do not belong together: people would count twice, or not at all.

    What came for open windows, and who has counted, is in the state or, with ``partitions``, in Spark's checkpoint:
    whoever began in one of them goes on there.
    """
    known = state.fact("partitions")
    if known != (None if partitions is None else str(partitions)):
        if known is not None or state.fact("positions") is not None or state.settled or state.closing:
            begun = "in one process" if known is None else f"on Spark, in {known} partitions"
            raise StreamConflict(f"the stream was begun {begun}: go on with it there, or choose another name")
        state.write(partitions=str(partitions))
    settled, closing = state.settled, state.closing
    for stream in streams:
        if stream.period > max(settled, closing):
            raise StreamConflict(
                f"the ledger has released {stream.period} windows, the state knows of {max(settled, closing)}: the "
                "state is missing or was set back, and going on would count people again. Put the newest state "
                "back, or choose another name"
            )
        if not stream.finished and stream.period < settled:
            raise StreamConflict(
                f"the state has settled {settled} windows, the ledger has released {stream.period}: the ledger "
                "was set back. Put the newest ledger back, or choose another name"
            )

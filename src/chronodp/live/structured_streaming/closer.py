"""What the driver does with a batch: steps the streams of the windows that it closes, once, whatever dies.

"More than one machine" in ``docs/explanation/proofs/live.md``: what is about to be stepped is on disk before any step,
so a batch that runs again is known, and one that tells something else is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable

from chronodp.errors import StreamConflict
from chronodp.live.contribution import Limits
from chronodp.live.key_limits import KeyLimits
from chronodp.live.releasing import Releases
from chronodp.live.state import State
from chronodp.live.structured_streaming.query import Told
from chronodp.live.structured_streaming.shares import join, make_tally

__all__ = ["Closer"]

_AT_ONCE = 256  # windows stepped in one go after a pause


class Closer:
    """Steps and hands on what batches close.

    Args:
        limits: whose windows these are.
        releases: the streams, and where their rows go.
        state: what the driver must not lose.
        key: of digests.
        reached: called with the name of each gap that a crash could fall into.
    """

    def __init__(
        self,
        limits: Limits | KeyLimits,
        *,
        releases: Releases,
        state: State,
        key: bytes,
        reached: Callable[[str], None],
    ) -> None:
        self._limits, self._releases, self._state = limits, releases, state
        self._key, self._reached = key, reached
        self._tally = make_tally(limits, key)

    def close(self, number: int, told: Told) -> None:
        """Release the windows that a batch closes; those that it released before it died are handed on from there."""
        closing = json.dumps({"batch": number, "first": told.first, "due": told.due, "digest": self._digest(told)})
        settled, begun = self._state.settled, self._state.closing
        if begun > settled or told.first != settled:
            # The batch whose steps were begun, once more: the same records, and so the same totals and people.
            if closing != self._state.fact("batch"):
                raise StreamConflict(
                    f"batch {number} of Spark closes windows {told.first} to {told.due - 1}, and is not what was begun "
                    "or settled before: the checkpoint is missing or was set back, or records changed, and going on "
                    "would count people again. Put the newest checkpoint back, or choose another name"
                )
        elif told.due > told.first:
            self._state.write(closing=str(told.due), batch=closing)
            self._reached("closing written")
        self._release(told)

    def _release(self, told: Told) -> None:
        for begin in range(self._state.settled, told.due, _AT_ONCE):
            end = min(told.due, begin + _AT_ONCE)
            if self._releases.finished:
                return
            rows = self._releases.step(begin, end, self._tally.values(join(self._limits, begin, end, told.yields)))
            self._reached("stepped")
            self._state.settle((), settled=end)
            self._reached("settled")
            self._releases.hand_on(end, rows)
            self._reached("told")

    def _digest(self, told: Told) -> str:
        """Return what tells a batch that counts other things, or other people, apart."""
        found = hashlib.blake2b(key=self._key, digest_size=16, person=b"closing".ljust(16))
        for one in told.yields:
            found.update(json.dumps([one.window, one.content.hex(), one.people.hex()]).encode())
        return found.hexdigest()

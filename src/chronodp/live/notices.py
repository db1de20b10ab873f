"""What the owner is told of a live stream: each trouble once, and once when it is over."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Notices"]

_STRANGE = 200  # records in a row that cannot be read, after which the owner is told


class Notices:
    """Remembers what was said.

    Args:
        say: called with sentences for the owner.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say
        self._trouble: dict[str, str] = {}
        self._strange = 0

    def notice(self, what: str, trouble: str, mended: str) -> None:
        """Tell of trouble that is tried again, and that it is over."""
        self._changed(what, trouble, f"{trouble}; trying again", f"{what}: {mended}")

    def wait(self, what: str, reason: str, mended: str) -> None:
        """Tell of something that is waited for, and that it has come."""
        self._changed(what, reason, reason, f"{what}: {mended}")

    def notice_strangers(self, readable: int, malformed: int) -> None:
        """Tell when no record can be read any more."""
        before = self._strange
        self._strange = 0 if readable else before + malformed
        if before < _STRANGE <= self._strange:
            self.say("no record can be read any more: do the fields in the settings still fit what is sent?")
        elif before >= _STRANGE and readable:
            self.say("records can be read again")

    def _changed(self, what: str, trouble: str, begun: str, over: str) -> None:
        before = self._trouble.get(what, "")
        if trouble != before:
            self._trouble[what] = trouble
            self.say(begun if trouble else over)

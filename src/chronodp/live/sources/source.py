"""Where records come from: one way to read them, whatever carries them."""

from __future__ import annotations

from typing import Protocol

from chronodp.live.records import Batch

__all__ = ["Source"]


class Source(Protocol):
    """Records in the order of their arrival, with a place that reading can go on from.

    When the clock closes a window, `mark` fixes what has come by then, and `read` stops there until `unmark`. So what a
    window holds depends on when each record came to the source, and not on how fast others are read.
    """

    prompt: bool
    """Whether the sender waits for `confirm` before it sends more."""

    @property
    def trouble(self) -> str:
        """Why nothing comes, in plain words without data; empty if all is well."""
        ...

    @property
    def waiting(self) -> int | None:
        """How many messages are known to wait, for the owner's eyes only; None if that is not known."""
        ...

    @property
    def positions(self) -> str:
        """How far it was read, as text for `begin`."""
        ...

    def begin(self, positions: str, *, key: bytes = b"") -> None:
        """Start reading where ``positions`` says; empty at first.

        Args:
            positions: of the process before.
            key: of digests in positions.
        """
        ...

    def read(self, most: int, *, wait: float) -> Batch:
        """Return at most about so many messages' records, waiting at most so many seconds for the first."""
        ...

    def mark(self) -> bool:
        """Fix what has come by now; False if that cannot be told now."""
        ...

    @property
    def at_mark(self) -> bool:
        """Whether everything up to the mark was read."""
        ...

    def unmark(self) -> None:
        """Let reading go on beyond the mark."""
        ...

    def take_gaps(self) -> list[str]:
        """Return where records may be missing, as noticed since this was last asked, in plain words for the owner."""
        ...

    def confirm(self) -> None:
        """Tell the sender that what was read is on disk."""
        ...

    def close(self) -> None:
        """Let go."""
        ...

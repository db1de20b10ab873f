"""Ending a proxy's connection so that the answer arrives, though the call has not: the rest of it is let go by.

A socket that is closed while there is something to read resets its connection, and with it an answer that is on its
way. A caller who was refused may miss a sentence by that; a proxy tells its caller of a bad gateway instead. So what a
declared proxy still sends is taken and forgotten, for as long as a head may take.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

__all__ = ["Farewell"]


class Farewell:
    """A transport that says the end of an answer when it is closed in the middle of a call, and goes on to read.

    Args:
        transport: the true one, on which one side can end.
        unread: whether more of a call is to come.
    """

    def __init__(self, transport: asyncio.Transport, unread: Callable[[], bool]) -> None:
        self._transport, self._unread = transport, unread
        self._said = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        """Return whether nothing more is answered."""
        return self._said or self._transport.is_closing()

    def close(self) -> None:
        """End, at once or when the other side has."""
        if self.is_closing():
            return
        if not self._unread():
            self._transport.close()
            return
        self._said = True
        self._transport.write_eof()
        self._transport.resume_reading()

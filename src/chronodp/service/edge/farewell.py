"""Ending a proxy's connection so that the answer arrives, though the call has not: the rest of it is let go by.

A socket that is closed while there is something to read resets its connection, and with it an answer that is on its
way. A caller who was refused may miss a sentence by that; a proxy tells its caller of a bad gateway instead. So what a
declared proxy still sends is taken and forgotten, for as long as a head may take. And the answer goes out in one piece:
a proxy that has handed on its head may end the call, and its own connection, before the rest has come.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11

__all__ = ["Farewell"]

_MOST = 1 << 16  # bytes of an answer that are kept until it is whole


class Farewell:
    """A transport that says the end of an answer when it is closed in the middle of a call, and goes on to read.

    Args:
        transport: the true one, on which one side can end.
        http: what has been said on it.
    """

    def __init__(self, transport: asyncio.Transport, http: h11.Connection) -> None:
        self._transport, self._http = transport, http
        self._kept, self._said = b"", False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    @property
    def _unread(self) -> bool:
        """Whether more of a call is to come."""
        return self._http.their_state is h11.SEND_BODY

    @property
    def _answers(self) -> bool:
        """Whether an answer has begun; that a body may come is none."""
        return self._http.our_state not in {h11.IDLE, h11.SEND_RESPONSE}

    def is_closing(self) -> bool:
        """Return whether nothing more is answered."""
        return self._said or self._transport.is_closing()

    def write(self, data: bytes) -> None:
        """Send, or keep what answers a call that has not wholly come until the answer ends."""
        self._kept += data
        if not (self._unread and self._answers) or len(self._kept) > _MOST:
            self._send()

    def close(self) -> None:
        """End, at once or when the other side has."""
        if self.is_closing():
            return
        self._send()
        if not self._unread:
            self._transport.close()
            return
        self._said = True
        try:
            self._transport.write_eof()
        except OSError:  # the other side is gone
            self._transport.abort()
        else:
            self._transport.resume_reading()

    def _send(self) -> None:
        kept, self._kept = self._kept, b""
        self._transport.write(kept)

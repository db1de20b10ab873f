"""Ending a connection without a goodbye: the system forgets it at once, and what it still had to send."""

from __future__ import annotations

import contextlib
import socket
import struct
from asyncio.trsock import TransportSocket

__all__ = ["reset_on_close"]

_AT_ONCE = struct.pack("ii", 1, 0)


def reset_on_close(line: socket.socket | TransportSocket) -> None:
    """Let the next close of a socket be a reset."""
    with contextlib.suppress(OSError):  # gone already
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)

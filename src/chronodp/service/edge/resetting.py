"""Ending a connection without a goodbye: the system forgets it at once, and what it still had to send."""

from __future__ import annotations

import contextlib
import socket
import struct
from asyncio.trsock import TransportSocket

__all__ = ["reset_on_close", "say_goodbye"]

_AT_ONCE = struct.pack("ii", 1, 0)
_IN_TURN = struct.pack("ii", 0, 0)


def reset_on_close(line: socket.socket | TransportSocket) -> None:
    """Let the next close of a socket be a reset."""
    with contextlib.suppress(OSError):  # gone already
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)


def say_goodbye(line: socket.socket) -> None:
    """Let the next close of a socket be an ordinary one, after all that was sent."""
    with contextlib.suppress(OSError):  # gone already
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _IN_TURN)

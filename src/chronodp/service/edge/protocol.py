"""HTTP on one connection, with a clock beside it: heads that do not end and answers that nobody takes are cut off."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

import h11
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from chronodp.service.edge.connections import Connections, Line
from chronodp.service.edge.farewell import Farewell
from chronodp.service.edge.resetting import reset_on_close
from chronodp.service.edge.settings import EdgeLimits
from chronodp.service.refusals import refusal

__all__ = ["EdgeProtocol"]

_PIECES = 64  # in which a head may come: a byte at a time would cost more than the rest of the call
_IDLE_KNOWN = 75  # seconds: a busy worker must not hang up on who waits for it


class EdgeProtocol(H11Protocol):
    """One connection, from its first byte on. The guard finds it as ``scope["state"]["connection"]``."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        *,
        connections: Connections,
        line: Line,
        limits: EdgeLimits,
    ) -> None:
        super().__init__(config, server_state, {**app_state, "connection": self})
        self._lines, self._line, self._limits = connections, line, limits
        self._address = line.owner
        self._clock: asyncio.TimerHandle | None = None
        self._pieces = 0

    def belongs_to(self, caller: str | None) -> bool:
        """Note whose token the call at hand came with, None for nobody's, and return whether they may have one more."""
        known = caller is not None
        self.timeout_keep_alive = _IDLE_KNOWN if known or self._line.shared else max(1, int(self._limits.head))
        owner = f"token {caller}" if known else self._address
        return self._lines.settle(self._line, busy=self._answering, owner=owner, known=known)

    @property
    def gone(self) -> bool:
        """Whether nothing more can be sent."""
        return self.transport.is_closing()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Begin to wait for a head."""
        if self._line.shared and transport.can_write_eof():
            transport = Farewell(transport, self.conn)  # type: ignore[assignment]
        super().connection_made(transport)
        self._line.drop = self._cut
        self._wait(self._limits.head)

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room."""
        self._wait(None)
        self._lines.leave(self._line)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Go on with a head or a body; a head must end soon after it has begun."""
        if self.transport.is_closing():
            return
        self._pieces += 1
        if self._in_head and self._pieces > _PIECES:
            self._cut()
            return
        super().data_received(data)
        if not self._in_head:
            self._pieces = 0
        if not self.flow.write_paused and not self.transport.is_closing():
            self._wait_for_head()
        self._lines.settle(self._line, busy=self._answering)

    def on_response_complete(self) -> None:
        """Wait for the next call, or for the end: whoever has not sent the whole of this one is not waited for."""
        if self.conn.their_state is h11.SEND_BODY:
            self.transport.close()
        self._pieces = 0
        super().on_response_complete()
        self._lines.settle(self._line, busy=self._answering)
        if self.transport.is_closing():
            self._wait(self._limits.head)

    def pause_writing(self) -> None:
        """Wait for the reader, so long."""
        super().pause_writing()
        self._wait(self._limits.body)

    def resume_writing(self) -> None:
        """Go on."""
        super().resume_writing()
        if not self.transport.is_closing():
            self._wait(None)
            self._wait_for_head()

    def timeout_keep_alive_handler(self) -> None:
        """End what was idle for too long, even if the last answer was never taken."""
        super().timeout_keep_alive_handler()
        self._wait(self._limits.head)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  # the words are our own
        """Refuse what is no HTTP, in the one shape."""
        self._refuse("malformed", "the request is not HTTP", "send HTTP/1.1")

    @property
    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def _in_head(self) -> bool:
        """Whether a part of a head has come and not the whole, or nothing yet."""
        return self.conn.their_state is h11.IDLE and not self._answering and self.timeout_keep_alive_task is None

    def _wait_for_head(self) -> None:
        """Keep the clock of a head that is on its way, as it is; stop it if none is."""
        if not self._in_head:
            self._wait(None)
        elif self._clock is None:
            self._wait(self._limits.head)

    def _wait(self, seconds: float | None) -> None:
        if self._clock is not None:
            self._clock.cancel()
        self._clock = None if seconds is None else self.loop.call_later(seconds, self._expire)

    def _expire(self) -> None:
        self._clock = None
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0] and not self.transport.is_closing():
            self._refuse("too_slow", "the head of the request did not come in time", "send it at once")
            self._wait(self._limits.head)
        else:
            self._cut()

    def _cut(self) -> None:
        """End it at once, with whatever the system still holds of an answer."""
        reset_on_close(self.transport.get_extra_info("socket"))
        self.transport.abort()

    def _refuse(self, kind: str, message: str, mend: str) -> None:
        status, content = refusal(kind, message, mend)
        body = json.dumps(content).encode()
        headers = [("content-type", "application/json"), ("content-length", str(len(body))), ("connection", "close")]
        with contextlib.suppress(h11.LocalProtocolError):  # an answer has begun already
            for event in (h11.Response(status_code=status, headers=headers), h11.Data(body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

"""The server: connections are counted when they arrive, before TLS and before a byte is read."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl
import sys
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from chronodp.service.edge.connections import Connections, Line
from chronodp.service.edge.origins import Proxies, origin_of
from chronodp.service.edge.protocol import EdgeProtocol
from chronodp.service.edge.resetting import reset_on_close, say_goodbye
from chronodp.service.edge.settings import EdgeLimits
from chronodp.service.edge.strangers import Strangers

__all__ = ["EdgeServer"]

_AT_ONCE = 8  # arrivals taken before others have their turn
_RETRY = 0.1  # seconds, where the system has no more files
_TURN = 0.0005  # seconds
_TLS_END = 2.0  # seconds to say goodbye in

_Make = Callable[[Line], EdgeProtocol]


class EdgeServer(uvicorn.Server):
    """uvicorn with an edge before it.

    Args:
        app: an application of `make_app`.
        doors: the sockets to answer at, listening already.
        tls: certificate and key, if connections are to be under TLS.
    """

    def __init__(self, app: FastAPI, doors: list[socket.socket], *, tls: tuple[str, str] | None = None) -> None:
        config = uvicorn.Config(
            app,
            # Another protocol would leave the edge behind; and uvloop forgets a connection that gives way while it is
            # being made, whose end the server then waits for in vain.
            loop="asyncio",
            http="h11",
            ws="none",
            proxy_headers=False,  # the guard takes declared proxies' words, and nobody else's
            access_log=False,  # addresses hold names of requests
            server_header=False,
            log_level="error",  # strangers must not be able to fill the log
            timeout_graceful_shutdown=30,
        )
        super().__init__(config)
        self._app, self._doors, self._tls = app, doors, None if tls is None else _context(*tls)
        self._turn = sys.getswitchinterval()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:  # noqa: ARG002  # they are known
        """Begin to answer."""
        await super().startup(sockets=[])
        gc.freeze()  # what is loaded stays: looking through it for garbage stops every call for a third of a second
        # At each send the event loop waits for so long until a thread that computes lets it go on: by default 5 ms, and
        # half a second where a hundred strangers are refused at once.
        sys.setswitchinterval(_TURN)
        limits: EdgeLimits = self._app.state.curator.policy.running.edge
        connections = Connections(most=limits.connections, per_caller=limits.per_caller)

        def make(line: Line) -> EdgeProtocol:
            state = self.lifespan.state
            return EdgeProtocol(
                self.config, self.server_state, state, connections=connections, line=line, limits=limits
            )

        arrivals = _Arrivals(make, connections, self._app.state.strangers, limits, self._tls)
        self.servers = [_Door(door, arrivals) for door in self._doors]  # type: ignore[misc]  # uvicorn closes them

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:  # noqa: ARG002  # they are known
        """Answer what has begun, and end."""
        await super().shutdown(sockets=self._doors)
        sys.setswitchinterval(self._turn)
        gc.unfreeze()  # libraries look for what is left of them when the process ends


class _Arrivals:
    """Decides about each new connection, and makes those that are let in."""

    def __init__(
        self,
        make: _Make,
        connections: Connections,
        strangers: Strangers,
        limits: EdgeLimits,
        tls: ssl.SSLContext | None,
    ) -> None:
        self._make, self._connections, self._strangers, self._tls = make, connections, strangers, tls
        self._proxies, self._head = Proxies(limits.proxies), limits.head
        self._loop = asyncio.get_running_loop()
        self._beginning: set[asyncio.Task[None]] = set()

    def take(self, arrived: socket.socket, host: str) -> None:
        """Let one in, or end it at once, which costs a twentieth of that."""
        origin, shared = origin_of(host), self._proxies.has(host)
        if not (shared or self._strangers.lets_in(origin)):
            arrived.close()
            return
        line = Line(origin, arrived.close, shared=shared)
        if not self._connections.enter(line):
            arrived.close()
            return
        say_goodbye(arrived)
        arrived.setblocking(False)
        task = self._loop.create_task(self._begin(arrived, line))
        line.drop = task.cancel
        self._beginning.add(task)

        def begun(task: asyncio.Task[None]) -> None:
            self._beginning.discard(task)
            if task.cancelled() or task.exception() is not None:  # no room any more, no TLS, or too slow
                self._connections.leave(line)
                _reset(arrived)

        task.add_done_callback(begun)

    def make_room(self) -> None:
        """Drop the connection that gives way first."""
        self._connections.make_room()

    def close(self) -> None:
        """End what has not begun."""
        for task in list(self._beginning):
            task.cancel()

    async def _begin(self, arrived: socket.socket, line: Line) -> None:
        patience = {"ssl_handshake_timeout": self._head, "ssl_shutdown_timeout": _TLS_END} if self._tls else {}
        await self._loop.connect_accepted_socket(lambda: self._make(line), arrived, ssl=self._tls, **patience)


class _Door:
    """One listening socket, as uvicorn holds its servers."""

    def __init__(self, door: socket.socket, arrivals: _Arrivals) -> None:
        self._door, self._arrivals = door, arrivals
        self._loop = asyncio.get_running_loop()
        door.setblocking(False)
        reset_on_close(door)  # connections inherit it, so that to refuse one takes no call more
        self._open()

    def close(self) -> None:
        """Answer nobody new."""
        self._loop.remove_reader(self._door)
        self._arrivals.close()

    async def wait_closed(self) -> None:
        """Nothing is left to wait for."""

    def _open(self) -> None:
        if self._door.fileno() >= 0:
            self._loop.add_reader(self._door, self._accept)

    def _accept(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                arrived, address = self._door.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError:  # the system has no more files: strangers give theirs back
                self._arrivals.make_room()
                self._loop.remove_reader(self._door)
                self._loop.call_later(_RETRY, self._open)
                return
            self._arrivals.take(arrived, address[0])


def _context(certificate: str, key: str) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    return context


def _reset(arrived: socket.socket) -> None:
    reset_on_close(arrived)
    arrived.close()

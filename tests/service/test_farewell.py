"""How an answer ends on a proxy's connection whose call has not wholly come."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable

import h11
import pytest

from chronodp.service.edge.farewell import Farewell

CALL = b"POST /verify HTTP/1.1\r\nHost: curator\r\nContent-Length: 9\r\n%s\r\n%s"
ANSWER = (h11.Response(status_code=401, headers=[("content-length", "4")]), h11.Data(b"sign"), h11.EndOfMessage())

_Said = Callable[[Farewell, h11.Connection, socket.socket], Awaitable[None]]


def talk(said: _Said, *, extra: bytes = b"", body: bytes = b"half") -> None:
    """Let a curator's side of a connection say something once a call has come."""

    async def run() -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            theirs.settimeout(5)
            transport, _ = await asyncio.get_running_loop().create_connection(asyncio.Protocol, sock=ours)
            http = h11.Connection(h11.SERVER)
            http.receive_data(CALL % (extra, body))
            while http.next_event() is not h11.NEED_DATA and http.their_state is not h11.DONE:
                pass
            await said(Farewell(transport, http), http, theirs)
            transport.abort()
            await asyncio.sleep(0)

    asyncio.run(run())


def send(line: Farewell, http: h11.Connection, *events: h11.Event) -> None:
    for event in events:
        line.write(http.send(event) or b"")


def received(theirs: socket.socket) -> bytes:
    theirs.setblocking(False)
    try:
        return theirs.recv(1 << 20)
    except BlockingIOError:
        return b"nothing yet"


def test_an_answer_to_half_a_call_goes_out_in_one_piece() -> None:
    async def said(line: Farewell, http: h11.Connection, theirs: socket.socket) -> None:
        for event in ANSWER:
            send(line, http, event)
            assert received(theirs) == b"nothing yet"
        line.close()
        told = received(theirs)
        assert told.startswith(b"HTTP/1.1 401 ")
        assert told.endswith(b"\r\n\r\nsign")
        assert received(theirs) == b""  # the answer has ended, and the call may go on
        theirs.sendall(b"more.")
        await asyncio.sleep(0)
        assert line.is_closing()

    talk(said)


def test_an_answer_to_a_whole_call_goes_out_as_it_is_made() -> None:
    async def said(line: Farewell, http: h11.Connection, theirs: socket.socket) -> None:
        send(line, http, ANSWER[0])
        assert received(theirs).startswith(b"HTTP/1.1 401 ")
        send(line, http, *ANSWER[1:])
        assert received(theirs) == b"sign"

    talk(said, body=b"whole now")


def test_what_was_kept_goes_out_when_the_call_has_come() -> None:
    async def said(line: Farewell, http: h11.Connection, theirs: socket.socket) -> None:
        send(line, http, ANSWER[0])
        assert received(theirs) == b"nothing yet"
        http.receive_data(b" now.")
        while http.their_state is not h11.DONE:
            http.next_event()
        send(line, http, *ANSWER[1:])
        assert received(theirs).endswith(b"\r\n\r\nsign")

    talk(said)


def test_a_body_is_asked_for_at_once() -> None:
    async def said(line: Farewell, http: h11.Connection, theirs: socket.socket) -> None:
        send(line, http, h11.InformationalResponse(status_code=100, headers=[]))
        assert received(theirs).startswith(b"HTTP/1.1 100 ")

    talk(said, extra=b"Expect: 100-continue\r\n", body=b"")


def test_a_long_answer_is_not_kept() -> None:
    async def said(line: Farewell, http: h11.Connection, theirs: socket.socket) -> None:
        send(line, http, h11.Response(status_code=200, headers=[("content-length", str(1 << 20))]))
        send(line, http, h11.Data(b"x" * (1 << 17)))
        assert len(received(theirs)) > 1 << 16

    talk(said)


@pytest.mark.slow
def test_a_proxy_that_is_gone_is_no_failure() -> None:
    async def run() -> None:
        lost = asyncio.Event()

        class Ours(asyncio.Protocol):
            def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
                lost.set()

        with socket.create_server(("127.0.0.1", 0)) as door, socket.socket() as theirs:
            theirs.connect(door.getsockname())
            loop = asyncio.get_running_loop()
            transport, _ = await loop.create_connection(Ours, sock=door.accept()[0])
            http = h11.Connection(h11.SERVER)
            http.receive_data(CALL % (b"", b"half"))
            http.next_event()
            line = Farewell(transport, http)
            theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            theirs.close()
            line.close()
            await asyncio.wait_for(lost.wait(), 5)

    asyncio.run(run())

"""Strangers without a token who try to be in the way; each kind of them is one coroutine, run in great numbers.

python -m benchmarks.strangers KIND PORT SECONDS CORE    prints how often they tried
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import random
import resource
import socket
import struct
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

API = "/api/v1"
LARGE = 1 << 20
RESET = struct.pack("ii", 1, 0)

Act = Callable[["Line"], Awaitable[None]]


class Line:
    """One connection of a stranger's."""

    def __init__(self, port: int, source: str) -> None:
        self._port, self._source = port, source
        self._loop = asyncio.get_running_loop()
        self._socket = socket.socket()
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    async def open(self) -> None:
        """Connect."""
        self._socket.bind((self._source, 0))
        await self._loop.sock_connect(self._socket, ("127.0.0.1", self._port))

    async def send(self, content: bytes) -> None:
        """Send bytes."""
        await self._loop.sock_sendall(self._socket, content)

    async def ask(self, method: str, path: str, *fields: str) -> None:
        """Send the head of a request."""
        await self.send("\r\n".join([f"{method} {path} HTTP/1.1", "Host: curator", *fields, "", ""]).encode())

    async def take(self, size: int = 1 << 16) -> bytes:
        """Return what comes next; raise at the end."""
        part = await self._loop.sock_recv(self._socket, size)
        if not part:
            raise ConnectionResetError
        return part

    def close(self) -> None:
        """Reset it."""
        self._socket.close()


async def slow_head(line: Line) -> None:
    await line.send(f"GET {API}/me HTTP/1.1\r\nHost: curator\r\nX-Slow: ".encode())
    while True:
        await asyncio.sleep(0.5)
        await line.send(b"x")


async def dribbled_head(line: Line) -> None:
    while True:
        await line.send(b"G")
        await asyncio.sleep(0)


async def slow_body(line: Line) -> None:
    path = random.choice((f"{API}/datasets/meters/plan", f"{API}/session"))
    await line.ask("POST", path, "Content-Type: application/json", "Content-Length: 900")
    while True:
        await line.send(b" ")
        await asyncio.sleep(0.5)


async def large_body(line: Line) -> None:
    await line.ask("POST", f"{API}/datasets/meters/plan", "Content-Type: application/json", f"Content-Length: {LARGE}")
    await line.send(b"[" + b"[0]," * (LARGE // 4 - 1) + b"0 ]")
    await line.take()


async def guesses(line: Line) -> None:
    while True:
        await line.ask("GET", f"{API}/me", f"Authorization: Bearer cdp_{random.randbytes(6).hex()}_guess")
        await line.take()


async def looks_at_the_page(line: Line) -> None:
    while True:
        await line.ask("GET", "/plotly.js")
        for _ in range(100):
            await line.take()


async def slow_reader(line: Line) -> None:
    await line.ask("GET", "/plotly.js")
    while True:
        await line.take(1000)
        await asyncio.sleep(1.0)


async def reconnect(line: Line) -> None:
    """The connection was all that was wanted."""


async def one_call(line: Line) -> None:
    await line.ask("GET", f"{API}/health")
    await line.take()


@dataclass(frozen=True)
class Kind:
    """How many do what at a time, and from how many addresses; one address is the analyst's own."""

    act: Act
    at_once: int
    addresses: int


KINDS = {
    "half-sent heads": Kind(slow_head, 1000, 1000),
    "half-sent heads, her address": Kind(slow_head, 1000, 1),
    "heads byte by byte": Kind(dribbled_head, 200, 200),
    "slow bodies": Kind(slow_body, 1000, 1000),
    "bodies of 1 MiB": Kind(large_body, 10, 10),
    "guessed tokens": Kind(guesses, 100, 1000),
    "guessed tokens, her address": Kind(guesses, 100, 1),
    "the page's script, 4 MiB": Kind(looks_at_the_page, 20, 20),
    "slow readers of it": Kind(slow_reader, 500, 500),
    "reconnects": Kind(reconnect, 100, 1000),
    "reconnects, her address": Kind(reconnect, 100, 1),
    "10,000 strangers, a call each": Kind(one_call, 200, 10_000),
}
ALL = "all of these at once"


async def attack(kinds: list[Kind], port: int, seconds: float) -> int:
    """Return how often strangers connected, or tried to."""
    until, tries = time.monotonic() + seconds, 0

    async def stranger(kind: Kind, numbers: itertools.count[int]) -> None:
        nonlocal tries
        while (left := until - time.monotonic()) > 0:
            number = next(numbers) % kind.addresses
            source = (
                "127.0.0.1"
                if kind.addresses == 1
                else f"127.{9 + number // 62_500}.{number // 250 % 250}.{1 + number % 250}"
            )
            line, tries = Line(port, source), tries + 1
            try:
                with contextlib.suppress(OSError, TimeoutError):
                    async with asyncio.timeout(left):
                        await line.open()
                        await kind.act(line)
            finally:
                line.close()
            await asyncio.sleep(0)

    each = [(kind, itertools.count()) for kind in kinds]
    await asyncio.gather(*(stranger(kind, numbers) for kind, numbers in each for _ in range(kind.at_once)))
    return tries


def main() -> None:
    name, port, seconds, core = sys.argv[1:]
    os.sched_setaffinity(0, {int(core)})
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    kinds = list(KINDS.values()) if name == ALL else [KINDS[name]]
    print(asyncio.run(attack(kinds, int(port), float(seconds))))


if __name__ == "__main__":
    main()

"""Strangers in great numbers, slow, silent or loud: whoever has a token is answered all the same."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import resource
import select
import socket
import struct
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import h11
import httpx
import pytest
from fastapi import FastAPI

from chronodp.errors import InvalidArgument, TooManyCalls
from chronodp.service import read_policy
from chronodp.service.edge import EdgeServer, Proxies, Strangers, allow_files
from chronodp.service.edge.connections import Connections, Line
from chronodp.service.edge.farewell import Farewell
from tests.cases import raising
from tests.service.certificate import write_certificate
from tests.service.town import API, SUM, House, open_house, write_policy

HALF = b"GET /api/v1/me HTTP/1.1\r\nHost: curator\r\nX-Slow: "
PATIENCE = 20.0  # seconds until a test gives up


@contextmanager
def open_edge(folder: Path, *, tls: bool = False, **limits: object) -> Iterator[House]:
    """Run a curator with limits of the edge, and allow this process the files that its strangers need."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard < 1 << 16 else 1 << 16, hard))
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in limits.items())
    policy = write_policy(folder)
    policy.write_text(f"{policy.read_text(encoding='utf-8')}\n[service.edge]\n{lines}", encoding="utf-8")
    certificate = (folder / "cert.pem", folder / "key.pem")
    if tls:
        write_certificate(*certificate)
    pair = (str(certificate[0]), str(certificate[1])) if tls else None
    try:
        with open_house(policy, certificate=pair) as house:
            yield house
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def connect(house: House, *, source: str = "127.0.0.1", buffer: int | None = None) -> socket.socket:
    line = socket.socket()
    if buffer is not None:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    line.settimeout(PATIENCE)
    line.bind((source, 0))
    line.connect(("127.0.0.1", house.http.base_url.port))
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return line


def head(house: House, who: str | None, line: str, *more: str) -> bytes:
    token = [f"Authorization: Bearer {house.tokens[who]}"] if who else []
    return "\r\n".join([f"{line} HTTP/1.1", "Host: curator", *token, *more, "", ""]).encode()


def everything(line: socket.socket) -> bytes:
    """Return what comes until the other side ends it; it must within a while."""
    parts = []
    with contextlib.suppress(ConnectionError):
        while part := line.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)


def one_answer(line: socket.socket) -> tuple[int, bytes]:
    """Return status and body of the next answer, whose connection may stay open."""
    text = b""
    while b"\r\n\r\n" not in text:
        part = line.recv(1 << 16)
        assert part, text
        text += part
    top, _, body = text.partition(b"\r\n\r\n")
    fields = dict(field.lower().split(b": ", 1) for field in top.split(b"\r\n")[1:])
    while len(body) < int(fields[b"content-length"]):
        body += line.recv(1 << 16)
    return int(top.split()[1]), body


def sends(line: socket.socket, size: int) -> bool:
    """Return whether so much is taken, by the other side or what stands before it."""
    with contextlib.suppress(ConnectionError):
        for _ in range(size >> 16):
            line.sendall(b"x" * (1 << 16))
        return True
    return False


def wait_until_cut(line: socket.socket) -> None:
    """Wait until nothing more is taken."""
    until = time.monotonic() + PATIENCE
    while sends(line, 1 << 16):
        assert time.monotonic() < until


def wait_until_ended(lines: list[socket.socket], *, but: int) -> None:
    """Wait until all connections but so many are ended by the other side."""
    watch = select.poll()
    for line in lines:
        watch.register(line, select.POLLRDHUP)
    until = time.monotonic() + PATIENCE
    while len(watch.poll(100)) < len(lines) - but:
        assert time.monotonic() < until


@pytest.mark.slow
@pytest.mark.parametrize("addresses", [1, 520])
def test_half_sent_heads_keep_nobody_out(tmp_path: Path, addresses: int) -> None:
    with open_edge(tmp_path) as house, ExitStack() as lines:
        assert house.get("ana", "/me").status_code == 200
        for number in range(520):
            place = number % addresses
            source = "127.0.0.1" if addresses == 1 else f"127.0.{1 + place // 250}.{1 + place % 250}"
            lines.enter_context(connect(house, source=source)).sendall(HALF)
        assert house.get("ana", "/me").status_code == 200  # on the connection that she has
        url = str(house.http.base_url)
        assert httpx.get(f"{url}{API}/me", headers=house.headers("ben")).status_code == 200  # on a new one
        assert httpx.get(f"{url}{API}/health").status_code == 200


@pytest.mark.slow
def test_a_strangers_body_is_refused_unread(house: House) -> None:
    for given in ([], ["Authorization: Bearer cdp_0011223344ff_x"], ["Cookie: chronodp_session=x"]):
        for length in ("Content-Length: 1048576", "Transfer-Encoding: chunked"):
            path, kind = f"POST {API}/datasets/meters/plan", "Content-Type: application/json"
            with connect(house) as line:
                line.sendall(head(house, None, path, *given, length, kind))  # and not a byte of the body
                status, body = one_answer(line)
            assert status == 401
            assert json.loads(body)["error"]["kind"] == "not_signed_in"


@pytest.mark.slow
def test_limits_of_time(tmp_path: Path) -> None:
    with open_edge(tmp_path, head=0.3, body=0.3) as house, ExitStack() as lines:
        half, silent, body, reader = (lines.enter_context(connect(house, buffer=4096)) for _ in range(4))
        half.sendall(HALF)
        asked = head(house, "ana", f"POST {API}/datasets/meters/plan", "Content-Length: 500")
        body.sendall(asked + b"{")
        reader.sendall(
            head(house, None, "GET /plotly.js") + HALF
        )  # megabytes, which nobody takes, and a half-sent head
        told = everything(half)
        assert told.startswith(b"HTTP/1.1 408 ")
        assert json.loads(told.partition(b"\r\n\r\n")[2])["error"]["kind"] == "too_slow"
        assert everything(silent) == b""
        told = everything(body)
        assert told.startswith(b"HTTP/1.1 408 ")
        assert b'"mend": "send it faster, or less at a time"' in told
        wait_until_ended([reader], but=0)


@pytest.mark.slow
def test_a_head_in_many_pieces_is_dropped(house: House) -> None:
    with connect(house) as line:
        line.sendall(HALF)
        until = time.monotonic() + PATIENCE
        with contextlib.suppress(ConnectionError):
            while time.monotonic() < until:
                line.sendall(b"x")
                time.sleep(0.002)
        assert time.monotonic() < until


@pytest.mark.slow
def test_who_is_known_may_be_idle_and_strangers_may_not(tmp_path: Path) -> None:
    with open_edge(tmp_path, head=1.0) as house, ExitStack() as lines:
        known, stranger = (lines.enter_context(connect(house)) for _ in range(2))
        known.sendall(head(house, "ana", f"GET {API}/me"))
        stranger.sendall(head(house, None, f"GET {API}/health"))
        assert {one_answer(line)[0] for line in (known, stranger)} == {200}
        assert everything(stranger) == b""
        known.sendall(head(house, "ana", f"GET {API}/me"))
        assert one_answer(known)[0] == 200
        known.sendall(head(house, "ana", f"POST {API}/datasets/meters/plan", "Content-Length: 2") + b"{")
        known.sendall(b"}")
        assert one_answer(known)[0] == 415
        known.sendall(head(house, None, f"GET {API}/me"))  # the token, not the connection, opens doors
        assert everything(known).startswith(b"HTTP/1.1 401 ")


@pytest.mark.slow
def test_one_address_and_one_token_hold_so_many_connections(tmp_path: Path) -> None:
    with open_edge(tmp_path, per_caller=4, connections=12) as house, ExitStack() as lines:
        mine = []
        for _ in range(9):
            mine.append(lines.enter_context(connect(house)))
            mine[-1].sendall(head(house, "ana", f"GET {API}/me"))
            assert one_answer(mine[-1])[0] == 200
        wait_until_ended(mine, but=4)  # those that were idle for longest
        strangers = [lines.enter_context(connect(house, source="127.0.0.2")) for _ in range(9)]
        wait_until_ended(strangers, but=4)
        others = [lines.enter_context(connect(house, source=f"127.0.1.{place}")) for place in range(1, 20)]
        wait_until_ended(strangers + others, but=8)
        mine[-1].sendall(head(house, "ana", f"GET {API}/me"))
        assert one_answer(mine[-1])[0] == 200


def test_no_other_loop_is_taken_though_one_is_installed() -> None:
    assert importlib.util.find_spec("uvloop") is not None
    factory = EdgeServer(FastAPI(), []).config.get_loop_factory()
    assert factory is not None
    assert factory.__module__.startswith("asyncio.")


@pytest.mark.slow
def test_strangers_sign_in_with_little_and_call_seldom(tmp_path: Path) -> None:
    with open_edge(tmp_path, strangers=3.0) as house:
        large = house.http.post(f"{API}/session", json={"token": "x" * 2000})
        assert (large.status_code, large.json()["error"]["kind"]) == (413, "too_large")
        assert house.http.post(f"{API}/session", json={"token": house.tokens["ana"]}).status_code == 200
        house.http.cookies.clear()
        spoofed = ({"X-Forwarded-For": f"192.0.2.{number}", "Forwarded": "for=192.0.2.9"} for number in range(10))
        answers = [house.http.get(f"{API}/health", headers=headers) for headers in spoofed]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert refused
        assert refused[0].headers["retry-after"] == "1"
        assert refused[0].json()["error"]["kind"] == "too_many_calls"
        assert {answer.status_code for answer in answers} <= {200, 429}
        unknown = [house.http.get(f"{API}/me", headers={"Authorization": f"Bearer cdp_x_{n}"}) for n in range(6)]
        assert {answer.status_code for answer in unknown} <= {401, 429}
        until = time.monotonic() + PATIENCE
        while house.get("ana", "/me").status_code != 200:  # never seen before, and from the same address
            assert time.monotonic() < until
            time.sleep(0.2)
        assert [house.get("ana", "/me").status_code for _ in range(20)] == [200] * 20


@pytest.mark.slow
def test_a_declared_proxy_says_who_calls(tmp_path: Path) -> None:
    with open_edge(tmp_path, strangers=1.0, proxies=["127.0.0.1"]) as house:

        def ask(hops: str) -> int:
            return house.http.get(f"{API}/health", headers={"X-Forwarded-For": hops}).status_code

        assert [ask(f"198.51.100.{number}") for number in range(8)] == [200] * 8
        assert 429 in [ask(f"192.0.2.{number}, 203.0.113.7, 127.0.0.1") for number in range(8)]  # one caller, who lies
        another = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "198.51.100.9"}

        def sign_in() -> httpx.Response:
            return house.http.post(f"{API}/session", json={"token": house.tokens["ana"]}, headers=another)

        until = time.monotonic() + PATIENCE
        while (answer := sign_in()).status_code == 429:  # all strangers are limited together
            assert time.monotonic() < until
            time.sleep(0.2)
        assert "secure" in answer.headers["set-cookie"].lower()
        assert "strict-transport-security" in answer.headers


@pytest.mark.slow
def test_a_declared_proxy_may_send_on_after_a_refusal_for_a_while(tmp_path: Path) -> None:
    """Reset under the answer, it would tell its caller of a bad gateway."""
    with open_edge(tmp_path, proxies=["127.0.0.1"], head=1.0) as house, ExitStack() as lines:
        large = f"POST {API}/verify", f"Content-Length: {1 << 30}", "Content-Type: application/json"
        for source, whole in (("127.0.0.1", True), ("127.0.0.2", False)):
            line = lines.enter_context(connect(house, source=source))
            line.sendall(head(house, None, *large) + b"x" * 100)
            assert one_answer(line)[0] == 401
            assert sends(line, 8 << 20) == whole
            wait_until_cut(line)


@pytest.mark.slow
def test_stalled_handshakes_count_and_end(tmp_path: Path) -> None:
    with open_edge(tmp_path, tls=True, head=0.5, connections=16) as house, ExitStack() as lines:
        assert house.get("ana", "/me").status_code == 200
        stalled = [lines.enter_context(connect(house, source=f"127.0.1.{1 + place}")) for place in range(40)]
        assert house.get("ana", "/me").status_code == 200
        assert httpx.get(f"{house.http.base_url}{API}/health", verify=False).status_code == 200
        wait_until_ended(stalled, but=0)
        assert house.post("ana", "/datasets/meters/plan", SUM).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("text", [b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n"])
def test_what_is_no_http_is_refused_in_the_one_shape(house: House, text: bytes) -> None:
    with connect(house) as line:
        line.sendall(text)
        told = everything(line)
    assert told.startswith(b"HTTP/1.1 400 ")
    assert json.loads(told.partition(b"\r\n\r\n")[2])["error"]["kind"] == "malformed"


def test_the_oldest_stranger_gives_way_and_calls_of_the_known_never() -> None:
    dropped: list[str] = []

    def line(name: str, *, known: bool = False, busy: bool = False) -> Line:
        return Line(name, lambda: dropped.append(name), known, busy)

    lines = Connections(most=4, per_caller=4)
    for one in (line("ana", known=True, busy=True), line("eve", known=True), line("page", busy=True), line("slow")):
        assert lines.enter(one)
    assert all(lines.enter(line(f"n{number}", known=True, busy=True)) for number in range(3))
    assert dropped == ["slow", "page", "eve"]
    assert not lines.enter(line("late"))
    assert len(lines) == 4


def test_a_flood_from_everywhere_leaves_addresses_of_the_known_alone() -> None:
    moment = 0.0
    strangers = Strangers(2.0, clock=lambda: moment)
    strangers.vouch("192.0.2.1")
    let_in = sum(strangers.lets_in(f"198.51.{number // 250}.{number % 250}") for number in range(10_000))
    assert let_in == 20  # two seconds' worth of five addresses
    assert strangers.lets_in("192.0.2.1")
    for number in range(20):
        strangers.count_call(f"198.51.100.{number}")
    with pytest.raises(TooManyCalls):
        strangers.count_call("198.51.100.20")
    assert [strangers.wait_for_piece(f"198.51.100.{number}") for number in range(22)][-3:] == [0.0, 0.1, 0.2]
    assert [strangers.wait_for_piece("192.0.2.1") for _ in range(6)] == [0.0, 0.0, 0.0, 0.0, 0.5, 1.0]
    strangers.count_call("192.0.2.1")
    moment = 301.0
    assert sum(strangers.lets_in("192.0.2.1") for _ in range(100)) == 20  # by itself, five a call


def test_files_of_the_page_wait_for_their_turn() -> None:
    strangers = Strangers(2.0, clock=lambda: 0.0)
    waits = [strangers.wait_for_file("198.51.100.1") for _ in range(120)]
    assert waits[:20] == [0.0] * 20
    assert waits[-1] == 10.0
    with pytest.raises(TooManyCalls):
        strangers.wait_for_file("198.51.100.1")
    strangers.count_call("198.51.100.1")  # who wants to sign in may


def test_more_connections_than_open_files_are_refused_before_anything_is_opened() -> None:
    with pytest.raises(InvalidArgument, match="ulimit -n"):
        allow_files(10**9)


def test_only_the_last_hop_that_a_proxy_saw_is_believed() -> None:
    cases: list[tuple[str, list[bytes], str]] = [
        ("10.0.0.1", [b"192.0.2.7"], "192.0.2.7"),
        ("10.0.0.1", [b"1.1.1.1, 192.0.2.7, 10.0.0.9"], "192.0.2.7"),
        ("10.0.0.1", [b"1.1.1.1", b"192.0.2.7"], "192.0.2.7"),
        ("10.0.0.1", [b"1.1.1.1, nobody"], "10.0.0.1"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("192.0.2.9", [b"1.1.1.1"], "192.0.2.9"),
    ]
    for peer, hops, caller in cases:
        scope = {"client": (peer, 1), "scheme": "http", "headers": [(b"x-forwarded-for", hop) for hop in hops]}
        Proxies(["10.0.0.0/8"]).resolve(scope)
        assert scope["client"][0] == caller, (peer, hops, caller)


def test_a_mistake_in_the_limits_is_told_with_its_line(tmp_path: Path) -> None:
    cases: list[tuple[str, str]] = [
        ('proxies = ["everyone"]', "a list of addresses or networks"),
        ("connections = 0", "at least 8"),
        ("head = 0", "from 0.1 to 600"),
        ("heads = 1", "(perhaps head)"),
    ]
    for line, words in cases:
        policy = write_policy(tmp_path)
        policy.write_text(f"{policy.read_text(encoding='utf-8')}\n[service.edge]\n{line}\n", encoding="utf-8")
        with raising(InvalidArgument, match=r"service\.edge", case=(line, words)) as raised:
            read_policy(policy)
        assert words in str(raised.value), (line, words)


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


def test_nothing_else_is_kept_back() -> None:
    long = h11.Response(status_code=200, headers=[("content-length", str(1 << 20))]), h11.Data(b"x" * (1 << 17))
    asks = [h11.InformationalResponse(status_code=100, headers=[])]
    cases: list[tuple[Sequence[h11.Event], bytes, dict[str, bytes]]] = [
        (ANSWER[:1], b"HTTP/1.1 401 ", {"body": b"whole now"}),  # the whole call has come
        (asks, b"HTTP/1.1 100 ", {"extra": b"Expect: 100-continue\r\n", "body": b""}),  # a body is asked for at once
        (long, b"HTTP/1.1 200 ", {}),  # a long answer
    ]
    for events, begins, call in cases:

        async def said(line: Farewell, http: h11.Connection, theirs: socket.socket) -> None:
            send(line, http, *events)  # noqa: B023
            assert received(theirs).startswith(begins)  # noqa: B023

        talk(said, **call)

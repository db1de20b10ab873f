"""The server at its addresses: tokens, sizes, other runs, restarts, holders that were told before."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from chronodp.errors import (
    AccessDenied,
    FederationError,
    MessageRefused,
    RoundConflict,
    ServerInconsistent,
    UnreadableSource,
)
from chronodp.federated.aggregation import Identity, Phase
from chronodp.federated.aggregation.wire import pack, unpack
from chronodp.federated.transport.application import application, longest_message
from chronodp.federated.transport.coordinator import Coordinator
from chronodp.federated.transport.journal import Journal
from chronodp.federated.transport.link import Link, _refusal
from chronodp.federated.transport.participant import Participant
from chronodp.federated.transport.tokens import holder_of, issue_token, read_token
from tests.federated.crowd import Toy
from tests.federated.network import Network


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Inside(httpx.BaseTransport):
    """Requests to the application itself, without a network."""

    def __init__(self, app: FastAPI) -> None:
        self._app = httpx.ASGITransport(app)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        async def ask() -> httpx.Response:
            response = await self._app.handle_async_request(request)
            return httpx.Response(response.status_code, headers=response.headers, content=await response.aread())

        return asyncio.run(ask())


def inside(coordinator: Coordinator, **headers: str) -> httpx.Client:
    return httpx.Client(transport=Inside(application(coordinator)), base_url="http://inside", headers=headers)


class Direct(Link):
    """A link without a network."""

    def __init__(self, coordinator: Coordinator, token: str) -> None:
        self._client = inside(coordinator, Authorization=f"Bearer {token}")
        self._patience, self._away = 0.0, None


class _Told:
    """Says the same whatever it is asked for."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    def __call__(self, round_number: int) -> bytes:
        del round_number
        return self._text


class Place:
    """A run whose server and holders act when they are told to."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.network = Network(folder, ("h0", "h1", "h2", "h3"), seconds=10.0, advertise=10.0, **options)
        self.clock = Clock()
        self.rounds: list[tuple[str, ...]] = []
        self.start()

    def start(self) -> None:
        run = self.network.run
        self.coordinator = Coordinator(run, clock=self.clock, progress=lambda made: self.rounds.append(made.survivors))
        self.web = inside(self.coordinator)

    def restart(self) -> None:
        self.coordinator.close()
        self.start()

    def token(self, name: str) -> str:
        return read_token(self.network.folder / f"{name}.token")

    def link(self, name: str) -> Direct:
        return Direct(self.coordinator, self.token(name))

    def holder(self, name: str) -> Participant:
        run, folder = self.network.run, self.network.folder
        identity = Identity.load(folder / f"{name}.key")
        journal = Journal(folder / f"{name}.journal", run.terms.digest.hex())
        return Participant(run, Toy(name, run.task), identity, self.link(name), journal)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path, rounds=2)
    yield made
    made.coordinator.close()


def test_a_token_is_asked_for_everywhere(place: Place) -> None:
    for path in ("/v1/standing", "/v1/parameters/1", "/v1/told/1/0/0"):
        for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": f"Basic {place.token('h0')}"}):
            refused = place.web.get(path, headers=headers)
            assert refused.status_code == 401
            assert refused.json()["error"] == "AccessDenied"
    assert place.web.post("/v1/messages/1/0/0", content=b"x").status_code == 401
    assert place.web.get("/v1/standing", headers={"Authorization": f"Bearer {place.token('h0')}"}).status_code == 200
    assert place.web.get("/docs").status_code == 404
    assert place.web.get("/openapi.json").status_code == 404


def test_tokens_expire_and_are_kept_as_digests(place: Place) -> None:
    tokens = place.network.run.tokens
    long_ago = datetime.now(UTC) - timedelta(days=40)
    old = issue_token(tokens, "h1", days=30, now=long_ago)
    with pytest.raises(AccessDenied, match="the token of h1 expired on"):
        holder_of(tokens, old)
    refused = place.web.get("/v1/standing", headers={"Authorization": f"Bearer {old}"})
    assert (refused.status_code, refused.json()["error"]) == (401, "AccessDenied")
    assert isinstance(_refusal(refused), AccessDenied)
    fresh = issue_token(tokens, "h1", days=30)
    assert holder_of(tokens, fresh) == "h1"
    with pytest.raises(AccessDenied, match="not known here"):
        holder_of(tokens, old)
    stranger = issue_token(tokens, "h9", days=1)
    refused = place.web.get("/v1/standing", headers={"Authorization": f"Bearer {stranger}"})
    assert "h9 is not in the roster" in refused.json()["message"]
    text = tokens.read_text(encoding="utf-8")
    assert not any(token in text for token in (old, fresh, stranger))
    assert tokens.stat().st_mode & 0o077 == 0
    tokens.write_text("[]", encoding="utf-8")
    with pytest.raises(UnreadableSource, match="does not hold tokens"):
        holder_of(tokens, fresh)
    refused = place.web.get("/v1/standing", headers={"Authorization": f"Bearer {fresh}"})
    assert refused.status_code == 503
    assert "its owner sees why" in refused.json()["message"]


def test_messages_are_bounded_and_must_be_the_holders_own(place: Place) -> None:
    link = place.link("h0")
    with pytest.raises(MessageRefused, match="at most"):
        link.send(1, 0, 0, bytes(longest_message(place.network.run.terms) + 1))
    with pytest.raises(MessageRefused, match="too short"):
        link.send(1, 0, 0, b"hello")
    sent: list[bytes] = []
    other = place.holder("h1")
    other._link.send = lambda *arguments: sent.append(arguments[-1])  # type: ignore[method-assign]
    other.step()
    with pytest.raises(AccessDenied, match="the token of h0 does not let it send messages of h1"):
        link.send(1, 0, 0, sent[0])
    with pytest.raises(RoundConflict, match="is not under way"):
        place.link("h1").send(1, 0, 1, sent[0])
    place.link("h1").send(1, 0, 0, sent[0])
    damaged = sent[0][:-1] + bytes([sent[0][-1] ^ 1])
    with pytest.raises(MessageRefused, match="forged or changed"):
        place.link("h1").send(1, 0, 0, damaged)


@pytest.mark.slow
def test_a_run_goes_through_and_a_slow_holder_is_left_out(place: Place) -> None:
    people = {name: place.holder(name) for name in place.network.names}
    for name in ("h0", "h1", "h2"):
        people[name].step()
    assert place.coordinator.describe()["phase"] == Phase.ADVERTISE
    place.clock.now = 10.1
    for _ in range(6):
        for name in ("h0", "h1", "h2"):
            people[name].step()
    assert place.rounds == [("h0", "h1", "h2")]
    for _ in range(6):
        for one in people.values():
            one.step()
    assert place.rounds[1] == place.network.names
    assert place.coordinator.done
    assert people["h3"].step()["done"]


@pytest.mark.slow
def test_a_holder_has_seen_the_end_when_it_has_what_came_of_it(tmp_path: Path) -> None:
    """A server that left as soon as all had heard of the end would leave the last of them without the model."""
    place = Place(tmp_path, rounds=1)
    people = [place.holder(name) for name in place.network.names]
    for _ in range(6):
        for one in people:
            one.step()
    app = application(place.coordinator)
    token = {"Authorization": f"Bearer {place.token('h0')}"}
    with httpx.Client(transport=Inside(app), base_url="http://inside", headers=token) as web:
        assert web.get("/v1/standing").json()["done"]
        assert app.state.seen_the_end == set()
        assert web.get("/v1/parameters/1").status_code == 409
        assert app.state.seen_the_end == set()
        assert web.get("/v1/parameters/2").status_code == 200
        assert app.state.seen_the_end == {"h0"}
    place.coordinator.close()


@pytest.mark.slow
def test_a_server_restarted_before_every_request_loses_nothing(place: Place) -> None:
    people = {name: place.holder(name) for name in place.network.names}
    for _ in range(12):
        for name, one in people.items():
            place.restart()
            one._link = place.link(name)
            one.step()
    assert place.rounds == [place.network.names] * 2


@pytest.mark.slow
def test_too_few_before_the_last_phase_start_over_with_fresh_keys(place: Place) -> None:
    people = {name: place.holder(name) for name in place.network.names}
    for phase in (Phase.SHARE, Phase.MASK):
        for one in people.values():
            one.step()
        assert place.coordinator.describe()["phase"] == phase
    for name in ("h0", "h1"):
        people[name].step()
    first = list(place.coordinator._store.messages(Phase.ADVERTISE))
    place.clock.now = 10.1
    place.coordinator.tick()
    standing = place.coordinator.describe()
    assert (standing["round"], standing["attempt"], standing["phase"]) == (1, 1, Phase.ADVERTISE)
    assert list(place.coordinator._store.messages(Phase.MASK)) == []
    for one in people.values():
        one.step()
    assert not set(place.coordinator._store.messages(Phase.ADVERTISE)) & set(first)
    for _ in range(4):
        for one in people.values():
            one.step()
    assert place.rounds == [place.network.names]


@pytest.mark.slow
def test_too_few_in_the_last_phase_end_the_run(place: Place) -> None:
    people = {name: place.holder(name) for name in place.network.names}
    for _ in range(4):
        for one in people.values():
            one.step()
    assert place.coordinator.describe()["phase"] == Phase.UNMASK
    for name in ("h0", "h1"):
        people[name].step()
    place.clock.now = 10.1
    place.coordinator.tick()
    with pytest.raises(FederationError, match="2 of 4 holders answered in phase unmask"):
        people["h2"].step()
    place.restart()  # the owner waits longer: the holders that are left can still end it
    people["h2"]._link = place.link("h2")
    people["h2"].step()
    place.clock.now = 30.0
    place.coordinator.tick()
    assert place.rounds == [place.network.names]


@pytest.mark.slow
def test_a_holder_does_not_tell_about_one_round_twice(place: Place) -> None:
    """A server that was set back asks for a round again: whoever has revealed shares in it refuses."""
    people = {name: place.holder(name) for name in place.network.names}
    for _ in range(5):
        for one in people.values():
            one.step()
    assert place.rounds == [place.network.names]
    place.coordinator.close()
    place.network.run.state.unlink()
    place.start()
    for one in (place.holder("h0"), place.holder("h1")):
        with pytest.raises(RoundConflict, match="asks for round 1 again"):
            one.step()


@pytest.mark.slow
def test_a_holder_with_another_model_refuses(place: Place) -> None:
    file = place.network.file
    file.write_text(file.read_text(encoding="utf-8").replace("toy 1", "toy 2"), encoding="utf-8")
    with pytest.raises(MessageRefused, match="its model is 'toy 1', here 'toy 2'"):
        place.holder("h0").step()
    with pytest.raises(FederationError, match="cannot be used: database is locked"):
        Coordinator(place.network.run)
    place.coordinator.close()
    with pytest.raises(RoundConflict, match="state of a run with other terms"):
        Coordinator(place.network.run)
    file.write_text(file.read_text(encoding="utf-8").replace("toy 2", "toy 1"), encoding="utf-8")
    place.start()


def test_a_server_that_gives_others_other_parameters_is_noticed(place: Place) -> None:
    holder = place.holder("h0")
    holder._link.parameters = _Told(bytes(39 * 4))  # type: ignore[method-assign]
    with pytest.raises(MessageRefused, match="must be 40 numbers"):
        holder.step()
    holder._link.parameters = _Told(bytes(39 * 4) + b"\0\0\0\1")  # type: ignore[method-assign]
    with pytest.raises(ServerInconsistent, match="not those it spoke of"):
        holder.step()


def test_a_holder_that_looks_while_the_server_moves_on_looks_again(place: Place) -> None:
    holder = place.holder("h0")
    link = holder._link
    truth = link.standing
    link.standing = lambda: {**truth(), "round": 7}  # type: ignore[method-assign]
    holder.step()
    link.standing = truth  # type: ignore[method-assign]
    holder.step()
    assert "h0" not in place.coordinator._server.missing


def test_a_server_that_talks_nonsense_is_refused(place: Place) -> None:
    truth = place.link("h0").standing()
    for change in ({"phase": 5}, {"round": -1}, {"attempt": 2**32}, {"members": 3}, {"run": None}, {"round": "1"}):
        link = place.link("h0")
        link._client = httpx.Client(
            transport=httpx.MockTransport(lambda _, told={**truth, **change}: httpx.Response(200, json=told)),
            base_url="http://inside",
        )
        with pytest.raises(MessageRefused, match="does not say how far the run is"):
            link.standing()


@pytest.mark.slow
def test_a_holder_that_refuses_stays_silent(place: Place) -> None:
    people = {name: place.holder(name) for name in place.network.names}
    for _ in range(4):
        for one in people.values():
            one.step()
    liar = people["h0"]._link
    truth = liar.told
    liar.told = lambda *where: pack(unpack(truth(*where))[:-2])  # type: ignore[method-assign]
    with pytest.raises(ServerInconsistent):
        people["h0"].step()
    liar.told = truth  # type: ignore[method-assign]
    people["h0"].step()
    assert "h0" in place.coordinator._server.missing

"""What travels between holders and a server: messages of secure aggregation, and questions to a curator."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from chronodp.federated.aggregation import AggregationClient, AggregationServer, Phase
from chronodp.federated.aggregation.envelope import HEADER_BYTES, seal
from chronodp.federated.aggregation.wire import unpack
from chronodp.privacy import load
from chronodp.series import Workload
from chronodp.service import read_policy
from chronodp.service.bodies import check_body
from chronodp.service.price import check_price
from chronodp.service.question import QueryRequest, ask
from chronodp.service.rules import allowed_grid, check_allowed, check_expressions
from tests.federated.crowd import Meeting, PeopleIndex, Places
from tests.fuzz.target import Target
from tests.service.town import write_policy

__all__ = ["NAMES", "make_client_messages", "make_question", "make_requests", "make_server_messages"]

NAMES = ("server_messages", "client_messages", "requests", "question")

_HOLDER = "h01"


@cache
def _meeting(phase: Phase) -> Meeting:
    meeting = Meeting(PeopleIndex(3))
    meeting.go_to(phase)
    return meeting


def make_server_messages(_folder: Path) -> Target:
    """The first byte names the phase; an odd one has the rest signed by a holder, as one that lies would."""
    seeds = []
    for phase in Phase:
        meeting = _meeting(phase)
        before = _kept(meeting.clients[_HOLDER])
        message = meeting.answer(_HOLDER)
        vars(meeting.clients[_HOLDER]).update(before)
        seeds += [bytes([2 * phase]) + message, bytes([2 * phase + 1]) + message[HEADER_BYTES:]]
    phases = list(Phase)

    def door(content: bytes) -> None:
        which, text = content[0] if content else 0, content[1:]
        phase = phases[which // 2 % len(phases)]
        meeting = _meeting(phase)
        if which % 2:
            text = seal(meeting.crowd.identities[_HOLDER], _HOLDER, meeting.crowd.context, phase, text)
        server: AggregationServer = copy.deepcopy(meeting.server)
        server.receive(text)

    return Target("server_messages", tuple(seeds), door)


def _kept(client: AggregationClient) -> dict[str, Any]:
    return {key: dict(value) if isinstance(value, dict) else value for key, value in vars(client).items()}


def make_client_messages(_folder: Path) -> Target:
    """What a server that lies tells a holder; the first byte names the phase."""
    phases = [phase for phase in Phase if phase is not Phase.ADVERTISE]
    seeds = [bytes([place]) + _meeting(phase).server.told(_HOLDER) for place, phase in enumerate(phases)]

    def door(content: bytes) -> None:
        meeting = _meeting(phases[content[0] % len(phases) if content else 0])
        client = meeting.clients[_HOLDER]
        before = _kept(client)
        try:
            meeting.answer(_HOLDER, content[1:])
        finally:
            vars(client).update(before)

    return Target("client_messages", tuple(seeds), door)


def make_requests(folder: Path) -> Target:
    """What a server asks a holder for, up to what secure aggregation reads of it."""
    places = Places(folder)
    honest = places.participants["h1"]

    def door(content: bytes) -> None:
        *_, first, told = honest._read(content)
        honest._parameters(first)
        unpack(told)

    return Target("requests", (places.coordinator.requests()["h1"],), door)


def make_question(folder: Path) -> Target:
    """Up to the plan, as the route does; the framework tells in our shape what pydantic refuses."""
    house = folder / "curated"
    house.mkdir(exist_ok=True)
    dataset = read_policy(write_policy(house)).datasets["meters"]
    seeds = (
        b'{"measure": {"kind": "sum", "column": "kwh", "clip": [0.0, 3.0]}, "by": {"region": ["north", "south"]}, '
        b'"tuned_for": {"kind": "each_period"}, "epsilon": 0.5, "delta": 1e-7}',
        b'{"measure": {"kind": "count", "at_most": 1}, "tuned_for": {"kind": "rolling", "periods": 3}, "epsilon": 1, '
        b'"every": "1D", "start": "2026-01-01", "end": "2026-01-03", "max_periods": 2}',
        b'{"measure": {"kind": "histogram", "column": "kwh", "edges": [0, 1, 2]}, "epsilon": 0.5}',
        b'{"measure": {"kind": "sum", "column": "kwh", "clip": [0, 1]}, "block": {"statistic": "peak", "every": "1D"}, '
        b'"tuned_for": {"kind": "ewm", "alpha": 0.5}, "epsilon": 1}',
    )

    def door(content: bytes) -> None:
        if check_body(content) is not None:
            return
        try:
            question = QueryRequest.model_validate_json(content)
        except ValidationError:
            return
        grid = allowed_grid(dataset, every=question.every, start=question.start, end=question.end)
        check_expressions(dataset, where=question.where, columns=question.columns)
        query = ask(dataset.series(grid, max_periods=question.max_periods), question)
        workload: Workload = load(question.tuned_for.model_dump(exclude_none=True), Workload)
        check_allowed(dataset, query, tuned_for=workload, missing=question.missing is not None)
        plan = query.plan(epsilon=question.epsilon, delta=question.delta, tuned_for=workload)
        check_price(dataset, plan.design.cost)

    return Target("question", seeds, door)

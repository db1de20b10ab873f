"""Holders that tests make up, and a run across holders in places of their own, whose messages a test carries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import FederationError
from chronodp.federated import Federation, Holder, Round, Task
from chronodp.federated.aggregation import AggregationClient, AggregationServer, Context, Identity, Phase, Terms
from chronodp.federated.aggregation.masks import RingVector
from chronodp.federated.aggregation.terms import RINGS, usual_threshold
from chronodp.federated.protocol import Coordinator, Participant, TrainingRun


class PeopleIndex:
    """Holders with identities, terms and random vectors."""

    def __init__(
        self, count: int, *, size: int = 5, bits: int = 32, threshold: int | None = None, seed: int = 1
    ) -> None:
        self.identities = {f"h{place:02}": Identity.create() for place in range(count)}
        roster = tuple((name, one.public) for name, one in self.identities.items())
        needed = usual_threshold(count) if threshold is None else threshold
        self.terms = Terms("test", "toy", roster, needed, size, bits)
        self.context = Context(self.terms.digest, 3, 1, bytes(32))
        random = np.random.default_rng(seed)
        top = 2**bits - 1
        self.vectors: dict[str, RingVector] = {
            name: random.integers(0, top, size, dtype=np.uint64, endpoint=True).astype(RINGS[bits])
            for name in self.identities
        }

    def plain(self, names: tuple[str, ...]) -> list[int]:
        """Sums by Python's whole numbers, which share nothing with the ring's arithmetic."""
        columns = zip(*(self.vectors[name].tolist() for name in names), strict=True)
        return [sum(column) % 2**self.terms.bits for column in columns]

    def client(self, name: str, context: Context | None = None) -> AggregationClient:
        return AggregationClient(self.identities[name], name, self.terms, context or self.context)


class Meeting:
    """A server with its clients, stopped before any phase."""

    def __init__(self, crowd: PeopleIndex) -> None:
        self.crowd = crowd
        self.server = AggregationServer(crowd.terms, crowd.context)
        self.clients = {name: crowd.client(name) for name in crowd.terms.names}

    def answer(self, name: str, told: bytes | None = None) -> bytes:
        client, phase = self.clients[name], self.server.phase
        heard = self.server.told(name) if told is None else told
        match phase:
            case Phase.ADVERTISE:
                return client.advertise()
            case Phase.SHARE:
                return client.share(heard)
            case Phase.MASK:
                return client.mask(heard, self.crowd.vectors[name])
            case Phase.CONSENT:
                return client.consent(heard)
            case Phase.UNMASK:
                return client.unmask(heard)

    def go_to(self, phase: Phase, *, silent: frozenset[str] = frozenset()) -> None:
        """Play all phases before this one; the silent fall out when they would send their masked vector."""
        while self.server.phase < phase:
            for name in self.server.members:
                if not (self.server.phase == Phase.MASK and name in silent):
                    self.server.receive(self.answer(name))
            self.server.advance()


class Toy:
    """A holder whose updates follow from its name, the round and the parameters."""

    def __init__(self, name: str, task: Task, factor: float = 1.0) -> None:
        self.name, self._task, self._factor = name, task, factor

    def update(self, round_number: int, parameters: NDArray[np.float32]) -> NDArray[np.float64]:
        random = np.random.default_rng([*self.name.encode(), round_number])
        fresh = random.normal(0, 0.2, self._task.size)
        return np.asarray(self._factor * (fresh - 0.1 * parameters.astype(np.float64)))


NAMES = ("h0", "h1", "h2", "h3")
TASK = Task(rounds=3, size=40, model="toy 1", clip=1.0, bits=32)


class Places:
    """A coordinator, and a folder for each holder's journal; a participant may be made anew at any time."""

    def __init__(self, folder: Path, names: Iterable[str] = NAMES, *, task: Task = TASK, **options: Any) -> None:
        self.folder, self.names = folder, tuple(names)
        self.identities = {name: Identity.create() for name in self.names}
        holders = {name: one.public for name, one in self.identities.items()}
        self.run = TrainingRun("test", task, holders, **options)
        self.made: list[Round] = []
        self.participants = {name: self.participant(name) for name in self.names}
        self.now = 100.0
        self.coordinator = self.server()

    def server(self, **options: Any) -> Coordinator:
        self.now += 1
        return Coordinator(self.run, clock=lambda: self.now, **options)

    def participant(
        self, name: str, run: TrainingRun | None = None, *, holder: Callable[[], Holder] | None = None
    ) -> Participant:
        return Participant(
            run or self.run,
            name,
            identity=self.identities[name],
            holder=holder or (lambda: Toy(name, self.run.task)),
            journal=self.folder / f"{name}.journal",
        )

    def carry(self, *silent: str) -> list[str]:
        """Ask all who are not silent, and return who refused."""
        refused = []
        for name, request in self.coordinator.requests().items():
            if name not in silent:
                try:
                    self.coordinator.receive(self.participants[name].answer(request))
                except FederationError:
                    refused.append(name)
        return refused

    def phase(self, *silent: str) -> list[str]:
        """Carry the messages of one phase, end it, and return who refused."""
        refused = self.carry(*silent)
        if (made := self.coordinator.advance()) is not None:
            self.made.append(made)
        return refused

    def to(self, phase: Phase) -> None:
        """Play all phases before this one."""
        while self.coordinator.phase is not phase:
            self.phase()

    def alone(self) -> NDArray[np.float32]:
        """Return what one process makes of the same holders, plainly, with the same silence."""
        survivors = {one.number: one.survivors for one in self.made}
        toys = [Toy(name, self.run.task) for name in self.names]
        return Federation(
            toys,
            self.run.task,
            aggregation="plain",
            threshold=self.run.terms.threshold,
            weights=self.run.weights,
            start=self.run.start,
            drop=lambda number, name: None if name in survivors[number] else Phase.MASK,
        ).run()

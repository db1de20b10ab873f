"""A run across holders in places of their own, whose messages a test carries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import FederationError
from chronodp.federated import Federation, Holder, Round, Task
from chronodp.federated.aggregation import Identity, Phase
from chronodp.federated.protocol import Coordinator, Participant, TrainingRun
from tests.federated.crowd import Toy

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

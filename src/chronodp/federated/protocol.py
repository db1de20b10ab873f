"""A run of training with secure sums between places, as messages in and messages out; a transport carries the bytes.

The `Coordinator` says what to ask each holder, and a `Participant` answers:

    for name, request in coordinator.requests().items():
        coordinator.receive(participants[name].answer(request))
    coordinator.advance()

until the coordinator is done. `chronodp.federated.flower` has Flower carry them. Every answer is an envelope that its
holder has signed, so a transport may lose, repeat or change what it carries, and the sum stays hidden or is refused.
"""

from __future__ import annotations

import json
import math
import sqlite3
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import (
    InvalidArgument,
    MessageRefused,
    RoundConflict,
    ServerInconsistent,
    TooFewHolders,
    UnreadableSource,
)
from chronodp.federated.aggregation import AggregationClient, AggregationServer, Context, Identity, Phase, Terms
from chronodp.federated.aggregation.terms import RINGS, usual_threshold
from chronodp.federated.aggregation.wire import pack, unpack
from chronodp.federated.checkpoint import load_checkpoint, save_checkpoint
from chronodp.federated.holder import Holder, Task, check_update
from chronodp.federated.quantise import Quantiser
from chronodp.federated.rounds import Round, check_weights, digest_of, moved, starting_point
from chronodp.privacy import check_kind, check_table, check_whole, settle
from chronodp.reading import check_path

__all__ = ["Coordinator", "Participant", "TrainingRun"]

_MAGIC = b"chronodp training 1\0"
_PLACE = struct.Struct(">IIB")  # round, attempt, phase
_JOURNAL = """
CREATE TABLE IF NOT EXISTS answered (run BLOB NOT NULL, round INTEGER NOT NULL, attempt INTEGER NOT NULL,
                                     phase INTEGER NOT NULL)
"""


@dataclass(frozen=True)
class TrainingRun:
    """What everybody agrees on before a run. Who has agreed on something else cannot take part.

    Attributes:
        name: of the run; a second run needs another name.
        task: what is trained.
        holders: each holder's public identity, exchanged by hand or on paper.
        threshold: how many holders must answer in every phase; above two thirds of them unless given.
        weights: public; as in `Federation`.
        start: the parameters to begin with; zeros unless given.
        terms: all of this, as secure aggregation binds it to every message.
    """

    name: str
    task: Task
    holders: Mapping[str, bytes]
    threshold: int | None = None
    weights: Mapping[str, float] | None = None
    start: ArrayLike | None = None
    terms: Terms = field(init=False)

    def __post_init__(self) -> None:
        check_kind("task", self.task, Task, "a Task")
        check_table("holders", self.holders, "a public identity by name")
        names = sorted(self.holders)
        weights, start = check_weights(self.weights, names), starting_point(self.start, self.task)
        agreed = {"task": self.task.to_json(), "weights": weights, "start": digest_of(start).hex()}
        terms = Terms(
            self.name,
            json.dumps(agreed, sort_keys=True),
            tuple((name, self.holders[name]) for name in names),
            usual_threshold(len(names)) if self.threshold is None else self.threshold,
            self.task.size,
            self.task.bits,
        )
        settle(self, weights=weights, start=start, terms=terms)
        _ = self.grid  # the sum of all holders must fit into the ring

    @property
    def grid(self) -> Quantiser:
        """How updates become whole numbers."""
        return Quantiser(self.task.clip, self.task.bits, len(self.holders))

    @property
    def first_parameters(self) -> NDArray[np.float32]:
        """The parameters from which the first round starts."""
        return starting_point(self.start, self.task)


class Coordinator:
    """The server of a run, without its network.

    A round is tried again, with keys that share nothing with the last, only if too few answered before the last phase:
    until then nobody has learnt anything.

    Args:
        run: as it was agreed.
        attempts: how many times a round is tried.
        checkpoint: a file that keeps the rounds that are done; the run goes on from there.
        clock: seconds, by which attempts are numbered: a server that starts again asks for a later one than before.
    """

    def __init__(
        self,
        run: TrainingRun,
        *,
        attempts: int = 3,
        checkpoint: str | Path | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.run = check_kind("run", run, TrainingRun, "a TrainingRun")
        self._attempts = check_whole("attempts", attempts, most=1000)
        self._checkpoint = None if checkpoint is None else check_path("checkpoint", checkpoint)
        self._clock = clock
        self.rounds_done, self.parameters = 0, run.first_parameters
        if self._checkpoint is not None and self._checkpoint.exists():
            self.rounds_done, self.parameters = load_checkpoint(self._checkpoint, run.terms.digest.hex())
        self._begin_round()

    @property
    def done(self) -> bool:
        """Whether all rounds are."""
        return self.rounds_done >= self.run.task.rounds

    @property
    def phase(self) -> Phase:
        """What is waited for."""
        return self._server.phase

    def requests(self) -> dict[str, bytes]:
        """Return what to ask each holder that has not answered in this phase; in the first, all are asked the same."""
        if self.done:
            return {}
        place = _PLACE.pack(self.rounds_done + 1, self._attempt, self.phase)
        first = self.parameters.astype("<f4").tobytes() if self.phase is Phase.ADVERTISE else b""
        head = [_MAGIC, self.run.terms.digest, place, first]
        return {name: pack([*head, self._server.told(name)]) for name in self._server.missing}

    def receive(self, answer: bytes) -> str:
        """Take a holder's answer and return whose it is.

        Raises:
            MessageRefused: it is not genuine, or does not belong here.
        """
        return self._server.receive(answer)

    def advance(self) -> Round | None:
        """End this phase with those who have answered; return the round that ends with it, if one does.

        Raises:
            TooFewHolders: fewer than the threshold answered, in the last phase or in the last attempt.
            MessageRefused: a holder gave false shares; nobody can tell the sum.
        """
        try:
            if self.phase is not Phase.UNMASK:
                self._server.advance()
                return None
            total = self._server.total()
        except TooFewHolders:
            # Once shares were asked for, another attempt could show single updates: holders would refuse it.
            if self.phase is Phase.UNMASK or self._tries >= self._attempts:
                raise
            self._tries += 1
            self._begin_attempt()
            return None
        self.parameters = moved(self.parameters, total, self.run.grid, self.run.weights)
        self.rounds_done += 1
        if self._checkpoint is not None:
            save_checkpoint(self._checkpoint, self.run.terms.digest.hex(), self.rounds_done, self.parameters)
        self._begin_round()
        return Round(self.rounds_done, self.parameters, total.survivors)

    def _begin_round(self) -> None:
        self._tries, self._attempt = 1, -1
        self._begin_attempt()

    def _begin_attempt(self) -> None:
        self._attempt = max(self._attempt + 1, math.floor(self._clock()))
        digest = self.run.terms.digest
        context = Context(digest, self.rounds_done + 1, self._attempt, digest_of(self.parameters))
        self._server = AggregationServer(self.run.terms, context)


class Participant:
    """One holder in a run.

    Between answers the keys of the attempt under way are in `state`. It belongs into this machine's memory: a process
    that serves one request gets it from the process before. What must survive restarts is in the journal.

    Args:
        run: as it was agreed.
        name: of the holder.
        identity: the holder's long-term key.
        holder: returns who trains; called when an update is needed.
        journal: a file that keeps which phase was answered last, so that none is answered twice.
    """

    def __init__(
        self, run: TrainingRun, name: str, *, identity: Identity, holder: Callable[[], Holder], journal: str | Path
    ) -> None:
        self._run = check_kind("run", run, TrainingRun, "a TrainingRun")
        check_kind("identity", identity, Identity, "an Identity")
        if run.holders.get(name) != identity.public:
            raise InvalidArgument("identity", name, "the private key of the public one in the run")
        self.name, self._identity, self._holder = name, identity, holder
        self._journal = check_path("journal", journal)
        self.state = b""

    def answer(self, request: bytes) -> bytes:
        """Return the answer to a request of the coordinator. A holder that has refused is silent in this attempt.

        Raises:
            MessageRefused: the server runs something else than was agreed.
            RoundConflict: it asks for something again, or out of order.
            ServerInconsistent: it told holders different things.
        """
        number, attempt, phase, first, told = self._read(request)
        self._claim(number, attempt, phase)
        state, self.state = self.state, b""  # until the answer stands
        if phase is Phase.ADVERTISE:
            parameters = self._parameters(first)
            context = Context(self._run.terms.digest, number, attempt, digest_of(parameters))
            holder = check_kind("holder", self._holder(), Holder, "an object with a name and an update")  # type: ignore[type-abstract]
            if holder.name != self.name:
                raise InvalidArgument("holder", holder.name, f"the one of this name, {self.name}")
            update = check_update(holder.update(number, parameters), self._run.task, holder=self.name)
            client = AggregationClient(self._identity, self.name, self._run.terms, context)
            vector = self._run.grid.encode(update).tobytes()
        else:
            place, digest, vector, keys = _unpacked_state(state)
            if place != _PLACE.pack(number, attempt, 0):
                raise RoundConflict(f"{self.name} has no keys of attempt {attempt} at round {number}")
            context = Context(self._run.terms.digest, number, attempt, digest)
            client = AggregationClient.restore(keys, self._identity, self.name, self._run.terms, context)
        answer = client.answer(phase, told, lambda: np.frombuffer(vector, RINGS[self._run.task.bits]))
        if phase is not Phase.UNMASK:
            kept = vector if phase < Phase.MASK else b""
            self.state = pack([_PLACE.pack(number, attempt, 0), context.parameters, kept, client.state()])
        return answer

    def _read(self, request: bytes) -> tuple[int, int, Phase, bytes, bytes]:
        parts = unpack(request)
        if len(parts) != 5 or parts[0] != _MAGIC or len(parts[2]) != _PLACE.size:
            raise MessageRefused("a request is not one of training, or of another version")
        if parts[1] != self._run.terms.digest:
            raise MessageRefused("the server runs other terms: compare task, holders, threshold, weights and start")
        number, attempt, phase = _PLACE.unpack(parts[2])
        if not 1 <= number <= self._run.task.rounds or phase > Phase.UNMASK:
            raise MessageRefused(f"the server asks for phase {phase} of round {number}, which this run does not have")
        return number, attempt, Phase(phase), parts[3], parts[4]

    def _parameters(self, text: bytes) -> NDArray[np.float32]:
        found = np.frombuffer(text, "<f4") if len(text) == 4 * self._run.task.size else None
        if found is None or not np.all(np.isfinite(found)):
            raise ServerInconsistent(f"the server's parameters must be {self._run.task.size:,} finite numbers")
        return found.astype(np.float32)

    def _claim(self, number: int, attempt: int, phase: Phase) -> None:
        """Note on disk that a phase is answered, before it is: two processes, or a server set back, get one answer."""
        try:
            base = sqlite3.connect(self._journal, isolation_level=None, timeout=60.0)
            try:
                base.execute("PRAGMA synchronous = FULL")
                base.execute(_JOURNAL)
                base.execute("BEGIN IMMEDIATE")
                with base:  # commits, or rolls back
                    found = base.execute("SELECT run, round, attempt, phase FROM answered").fetchone()
                    self._check_open(found, number, attempt, phase)
                    base.execute("DELETE FROM answered")
                    row = (self._run.terms.digest, number, attempt, int(phase))
                    base.execute("INSERT INTO answered VALUES (?, ?, ?, ?)", row)
            finally:
                base.close()
        except sqlite3.DatabaseError as error:
            raise UnreadableSource(f"the journal {self._journal.name} cannot be used: {error}") from None

    def _check_open(self, found: tuple[bytes, int, int, int] | None, number: int, attempt: int, phase: Phase) -> None:
        run, last, tried, answered = found or (self._run.terms.digest, 0, -1, int(Phase.ADVERTISE))
        if run != self._run.terms.digest:
            raise RoundConflict(f"{self._journal.name} is the journal of another run: give each run its own journal")
        if number < last or (number == last and answered == Phase.UNMASK):
            raise RoundConflict(
                f"the server asks for round {number} again, in which this holder has taken part to the end: a second "
                "sum over other holders would show single updates, so it does not answer"
            )
        fresh = phase is Phase.ADVERTISE and (number, attempt) > (last, tried)
        if not fresh and (number, attempt, phase) != (last, tried, answered + 1):
            raise RoundConflict(f"{self.name} was asked out of order, or again: it waits for the next attempt")


def _unpacked_state(state: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    parts = unpack(state)
    if len(parts) != 4:
        raise RoundConflict("the keys of this attempt are gone: it goes on without this holder")
    return parts[0], parts[1], parts[2], parts[3]

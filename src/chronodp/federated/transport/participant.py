"""A holder's part in a run: train, hide, send, round after round, until the server says that it is over."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import FederationError, InvalidArgument, MessageRefused, RoundConflict, ServerInconsistent
from chronodp.federated.aggregation import AggregationClient, Context, Identity, Phase
from chronodp.federated.aggregation.masks import RingVector
from chronodp.federated.holder import Holder, check_update
from chronodp.federated.rounds import digest_of
from chronodp.federated.transport.journal import Journal
from chronodp.federated.transport.link import Link
from chronodp.federated.transport.run_file import RunFile

__all__ = ["Participant", "take_part"]

_PAUSE = 0.2  # seconds between two looks at where the run stands


@dataclass(slots=True)
class _Attempt:
    """An attempt under way; its keys are in memory only."""

    place: tuple[int, int]
    client: AggregationClient
    vector: RingVector
    next_phase: Phase | None = Phase.ADVERTISE


class Participant:
    """One holder in a run. `step` does what there is to do now.

    Args:
        run: as it was agreed.
        holder: makes the updates.
        identity: the holder's long-term key.
        link: to the server.
        journal: what must be remembered over restarts.
    """

    def __init__(self, run: RunFile, holder: Holder, identity: Identity, link: Link, journal: Journal) -> None:
        if dict(run.terms.roster).get(holder.name) != identity.public:
            raise InvalidArgument("identity", holder.name, "the private key of the public one in the run's file")
        self._run, self._holder, self._identity = run, holder, identity
        self._link, self._journal = link, journal
        self._attempt: _Attempt | None = None

    def step(self) -> dict[str, Any]:
        """Look where the run stands, answer if an answer is due, and return where it stood.

        Raises:
            FederationError: the run was aborted; or, by its kind:
            MessageRefused: the server runs something else than was agreed.
            RoundConflict: the server asks for a round again.
            ServerInconsistent: it told holders different things.
        """
        standing = self._link.standing()
        if standing["run"] != self._run.terms.digest.hex():
            raise MessageRefused(
                f"the server runs other terms: its model is {standing['model']!r}, here {self._run.task.model!r}; if "
                "they are the same, compare task, holders and threshold"
            )
        if standing["aborted"]:
            raise FederationError(f"the server has aborted the run: {standing['aborted']}")
        if not standing["done"]:
            self._answer(standing, (standing["round"], standing["attempt"]), Phase(standing["phase"]))
        return standing

    def parameters(self, round_number: int, digest: str) -> NDArray[np.float32]:
        """Return the parameters from which a round starts, which must be those with the digest."""
        text = self._link.parameters(round_number)
        if len(text) != 4 * self._run.task.size:
            raise MessageRefused(f"the server's parameters must be {self._run.task.size:,} numbers")
        found = np.frombuffer(text, "<f4").astype(np.float32)
        if digest_of(found).hex() != digest:
            raise ServerInconsistent("the server's parameters are not those it spoke of")
        return found

    def _answer(self, standing: dict[str, Any], place: tuple[int, int], phase: Phase) -> None:
        if self._attempt is None or self._attempt.place != place:
            self._attempt = None
            if phase is not Phase.ADVERTISE:
                return  # come too late: wait for the next
            self._journal.check_open(place[0])
            if self._journal.knows(*place):
                return  # begun by a process that is gone, with its keys
            try:
                parameters = self.parameters(place[0], standing["parameters"])
            except RoundConflict:
                return  # it has moved on meanwhile
            self._attempt = self._begin(parameters, place)
        attempt = self._attempt
        if attempt.next_phase is not phase or self._holder.name not in standing["members"]:
            return
        try:
            told = self._link.told(*place, phase)
        except RoundConflict:
            return  # it has moved on meanwhile
        attempt.next_phase = None  # a client that refuses says nothing more in this attempt
        message = attempt.client.answer(phase, told, lambda: attempt.vector)
        if phase is Phase.UNMASK:
            self._journal.reveal(place[0])
        else:
            attempt.next_phase = Phase(phase + 1)
        try:
            self._link.send(*place, phase, message)
        except RoundConflict:
            return  # too late; or it had arrived, and only the answer was lost: the next look tells

    def _begin(self, parameters: NDArray[np.float32], place: tuple[int, int]) -> _Attempt:
        run = self._run
        update = self._holder.update(place[0], parameters.copy())
        context = Context(run.terms.digest, *place, digest_of(parameters))
        client = AggregationClient(self._identity, self._holder.name, run.terms, context)
        vector = run.grid.encode(check_update(update, run.task, holder=self._holder.name))
        self._journal.begin(*place)
        return _Attempt(place, client, vector)


def take_part(
    run: RunFile,
    holder: Holder,
    *,
    identity: Identity,
    token: str,
    journal: Path,
    patience: float = 600.0,
    pause: float = _PAUSE,
    progress: Callable[[int], None] | None = None,
    away: Callable[[str], None] | None = None,
) -> NDArray[np.float32]:
    """Take part in a run until it is over, and return the parameters after its last round.

    Args:
        run: as it was agreed.
        holder: makes the updates.
        identity: the holder's long-term key.
        token: of the holder.
        journal: a file that remembers, over restarts, what must not be told twice.
        patience: seconds after which a server that does not come back is given up.
        pause: seconds between two looks at where the run stands.
        progress: called with the number of rounds done whenever it has changed.
        away: called with the reason when the server is away and waited for.
    """
    link = Link(run.address, token, authority=run.authority, patience=patience, away=away)
    try:
        participant = Participant(run, holder, identity, link, Journal(journal, run.terms.digest.hex()))
        seen = 0
        while True:
            standing = participant.step()
            if standing["round"] != seen and progress is not None:
                progress(standing["round"] - 1)
            seen = standing["round"]
            if standing["done"]:
                return participant.parameters(standing["round"], standing["parameters"])
            time.sleep(pause)
    finally:
        link.close()

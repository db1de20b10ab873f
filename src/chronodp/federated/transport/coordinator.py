"""Keeps rounds going: takes messages, ends phases when all have spoken or time is up, starts over if it must."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from chronodp.errors import AccessDenied, FederationError, RoundConflict, TooFewHolders
from chronodp.federated.aggregation import AggregationServer, Context, Phase
from chronodp.federated.aggregation.envelope import sender_of
from chronodp.federated.rounds import Round, digest_of, moved
from chronodp.federated.transport.run_file import RunFile
from chronodp.federated.transport.store import Store

__all__ = ["Coordinator"]


class Coordinator:
    """The server of a run, without its network. Safe in threads.

    After a restart it goes on in the phase it was in, from the messages on disk. A round is tried again, with keys that
    share nothing with the last, only if too few answered before the last phase: until then nobody has learnt anything.

    Args:
        run: as it was agreed.
        progress: called with every round that is done.
        clock: seconds that only go forward.
    """

    def __init__(
        self,
        run: RunFile,
        *,
        progress: Callable[[Round], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.run = run
        self._lock = threading.RLock()
        self._store = Store(run.state, run.terms.digest, run.start)
        self._progress, self.clock = progress, clock
        self._tries = 1
        self.aborted: FederationError | None = None
        self._resume()

    @property
    def done(self) -> bool:
        """Whether all rounds are."""
        return self.rounds_done >= self.run.task.rounds

    def describe(self) -> dict[str, Any]:
        """Return where the run stands, as any holder may know."""
        with self._lock:
            standing = self._standing
            return {
                "run": self.run.terms.digest.hex(),
                "model": self.run.task.model,
                "round": standing.round_number,
                "attempt": standing.attempt,
                "phase": int(self._server.phase),
                "members": list(self._server.members),
                "parameters": digest_of(standing.parameters).hex(),
                "done": self.done,
                "aborted": None if self.aborted is None else str(self.aborted),
            }

    @property
    def rounds_done(self) -> int:
        """How many rounds are."""
        with self._lock:
            return self._standing.round_number - 1

    def parameters(self, round_number: int) -> bytes:
        """Return the parameters from which holders start in the round under way, or those after the last one."""
        with self._lock:
            if round_number != self._standing.round_number:
                raise RoundConflict(f"round {round_number} is not under way")
            return self._standing.parameters.astype("<f4").tobytes()

    def told(self, name: str, round_number: int, attempt: int, phase: int) -> bytes:
        """Return what a holder is told in a phase."""
        with self._lock:
            self._check_current(round_number, attempt, phase)
            if name not in self._server.members:
                raise RoundConflict(f"{name} was silent in an earlier phase and is out until the next round")
            return self._server.told(name)

    def take(self, name: str, round_number: int, attempt: int, phase: int, message: bytes) -> None:
        """Take a message of a holder; it is on disk when this returns."""
        with self._lock:
            self._check_current(round_number, attempt, phase)
            if (sender := sender_of(message)) != name:
                raise AccessDenied(f"the token of {name} does not let it send messages of {sender}")
            self._server.receive(message)
            self._store.keep(self._server.phase, name, message)
            self.tick()

    def tick(self) -> None:
        """End the phase if all have spoken or time is up."""
        with self._lock:
            while not self.done and self.aborted is None:
                if self._server.missing and self.clock() < self._deadline:
                    return
                self._end_phase()

    def close(self) -> None:
        """Let the state go."""
        self._store.close()

    def _end_phase(self) -> None:
        phase = self._server.phase
        try:
            if phase is Phase.UNMASK:
                self._finish()
                return
            self._server.advance()
            self._store.enter(self._server.phase)
        except TooFewHolders as error:
            # Once shares were asked for, another attempt could show single updates: holders would refuse it.
            if phase is Phase.UNMASK or self._tries >= self.run.attempts:
                self.aborted = error
                return
            self._tries += 1
            self._store.retry()
            self._resume()
            return
        except FederationError as error:  # a holder's false shares, or a disk that is full
            self.aborted = error
            return
        self._wait()

    def _finish(self) -> None:
        standing, total = self._standing, self._server.total()
        parameters = moved(standing.parameters, total, self.run.grid, self.run.weights)
        self._store.finish(total.survivors, parameters)
        self._tries = 1
        self._resume()
        if self._progress is not None:
            self._progress(Round(standing.round_number, parameters, total.survivors))

    def _resume(self) -> None:
        self._standing = standing = self._store.standing()
        context = Context(
            self.run.terms.digest, standing.round_number, standing.attempt, digest_of(standing.parameters)
        )
        self._server = AggregationServer(self.run.terms, context)
        for phase in Phase:
            for message in self._store.messages(phase):
                self._server.receive(message)
            if phase is standing.phase:
                break
            self._server.advance()
        self._wait()

    def _wait(self) -> None:
        self._deadline = self.clock() + self.run.seconds[self._server.phase]

    def _check_current(self, round_number: int, attempt: int, phase: int) -> None:
        if self.aborted is not None:
            raise self.aborted
        standing = self._standing
        if self.done or (round_number, attempt, phase) != (
            standing.round_number,
            standing.attempt,
            int(self._server.phase),
        ):
            raise RoundConflict(f"phase {phase} of round {round_number}, attempt {attempt}, is not under way")

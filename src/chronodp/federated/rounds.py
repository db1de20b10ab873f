"""Rounds of training in one process: parameters out, updates in, their sum added."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument, TooFewHolders
from chronodp.federated.aggregation import Context, Identity, Phase, Terms, Total, aggregate, usual_threshold
from chronodp.federated.aggregation.masks import RingSum, RingVector
from chronodp.federated.aggregation.terms import check_name, check_threshold
from chronodp.federated.checkpoint import load_checkpoint, save_checkpoint
from chronodp.federated.holder import Holder, Task, check_update
from chronodp.federated.quantise import Quantiser
from chronodp.privacy import as_numbers, check_listed, check_positive, check_whole, check_word
from chronodp.reading import check_path

__all__ = ["Federation", "Round", "check_weights", "digest_of", "moved", "starting_point"]


@dataclass(frozen=True, slots=True)
class Round:
    """What a round ends with.

    Attributes:
        number: from 1.
        parameters: after it.
        survivors: whose updates are in them.
    """

    number: int
    parameters: NDArray[np.float32]
    survivors: tuple[str, ...]


class Federation:
    """Trains with holders in this process, as a server would with holders elsewhere.

    Secure aggregation gives the same parameters as plain aggregation, bit for bit: both add up the same whole numbers.

    Args:
        holders: who trains.
        task: what.
        aggregation: "secure", or "plain" to leave the masks out; a holder alone can only do without.
        weights: public; holders multiply their updates by them, and the sum is divided by those of the survivors.
            Without, the sum is added as it is.
        threshold: how many holders must stay in every round; above two thirds of them unless given.
        start: the parameters to begin with; zeros unless given.
        checkpoint: a file that keeps where the run stands; it goes on from there.
        drop: from which phase on a holder is silent in a round, or None, to try drop-outs.

    >>> class Toy:
    ...     def __init__(self, name): self.name = name
    ...     def update(self, round_number, parameters): return np.full(2, 0.25)
    >>> task = Task(rounds=3, size=2, model="toy", clip=1.0, bits=32)
    >>> Federation([Toy("north"), Toy("south")], task).run().round(6).tolist()
    [1.5, 1.5]
    """

    def __init__(
        self,
        holders: Sequence[Holder],
        task: Task,
        *,
        aggregation: Literal["plain", "secure"] = "secure",
        weights: Mapping[str, float] | None = None,
        threshold: int | None = None,
        start: ArrayLike | None = None,
        checkpoint: str | Path | None = None,
        drop: Callable[[int, str], Phase | None] | None = None,
    ) -> None:
        check_word("aggregation", aggregation, ("plain", "secure"))
        if not isinstance(task, Task):
            raise InvalidArgument("task", task, "a Task")
        check_listed("holders", holders, Holder, "a list of objects with a name and an update")  # type: ignore[type-abstract]  # a protocol
        self._holders = {check_name("holders", one.name): one for one in holders}
        names = sorted(self._holders)
        if len(names) != len(holders):
            raise InvalidArgument("holders", "a list", "each of another name")
        check_whole("holders", len(names), least=2 if aggregation == "secure" else 1)
        self.task = task
        self._threshold = check_threshold(usual_threshold(len(names)) if threshold is None else threshold, len(names))
        self._identities = {name: Identity.create() for name in names}
        self._terms = self._agree() if aggregation == "secure" else None
        self._weights = check_weights(weights, names)
        self._grid = Quantiser(task.clip, task.bits, len(names))
        self._start = starting_point(start, task)
        self._checkpoint = None if checkpoint is None else check_path("checkpoint", checkpoint)
        self._drop = drop

    def rounds(self) -> Iterator[Round]:
        """Yield each round when it is done, from where the checkpoint stands."""
        done, parameters = self._standing()
        for number in range(done + 1, self.task.rounds + 1):
            total = self._total(number, parameters)
            parameters = moved(parameters, total, self._grid, self._weights)
            if self._checkpoint is not None:
                save_checkpoint(self._checkpoint, self.task.to_json(), number, parameters)
            yield Round(number, parameters, total.survivors)

    def run(self, progress: Callable[[Round], None] | None = None) -> NDArray[np.float32]:
        """Return the parameters after the last round; ``progress`` is called after each."""
        parameters = self._standing()[1]
        for made in self.rounds():
            parameters = made.parameters
            if progress is not None:
                progress(made)
        return parameters

    def _standing(self) -> tuple[int, NDArray[np.float32]]:
        if self._checkpoint is not None and self._checkpoint.exists():
            return load_checkpoint(self._checkpoint, self.task.to_json())
        return 0, self._start

    def _total(self, number: int, parameters: NDArray[np.float32]) -> Total:
        def vector_of(name: str) -> RingVector:
            update = self._holders[name].update(number, parameters.copy())
            return self._grid.encode(check_update(update, self.task, holder=name))

        ends = {name: self._drop(number, name) for name in self._holders} if self._drop is not None else {}
        silent = {name: phase for name, phase in ends.items() if phase is not None}
        if self._terms is not None:
            context = Context(self._terms.digest, number, 0, digest_of(parameters))
            return aggregate(self._identities, self._terms, context, vector_of, silent=silent)
        survivors = tuple(name for name in self._identities if silent.get(name, Phase.UNMASK) > Phase.MASK)
        if len(survivors) < self._threshold:
            raise TooFewHolders(f"{len(survivors)} holders answered in round {number}: {self._threshold} are needed")
        total = RingSum(self.task.size, self.task.bits)
        for name in survivors:
            total.add(vector_of(name))
        return Total(total.value, survivors)

    def _agree(self) -> Terms:
        roster = tuple((name, one.public) for name, one in self._identities.items())
        return Terms("in-process", self.task.to_json(), roster, self._threshold, self.task.size, self.task.bits)


def moved(
    parameters: NDArray[np.float32], total: Total, grid: Quantiser, weights: Mapping[str, float] | None
) -> NDArray[np.float32]:
    """Return the parameters after a round: the sum added, or the mean of the survivors by their weights."""
    step = grid.decode(total.values)
    if weights is not None:
        step /= sum(weights[name] for name in total.survivors)
    return (parameters + step).astype(np.float32)


def digest_of(parameters: NDArray[np.float32]) -> bytes:
    """Return the digest by which holders know that all start from the same parameters."""
    return hashlib.sha256(parameters.astype("<f4").tobytes()).digest()


def check_weights(weights: Mapping[str, float] | None, names: Sequence[str]) -> dict[str, float] | None:
    """Return the holders' weights if each has one above 0."""
    if weights is None:
        return None
    if not isinstance(weights, Mapping) or set(weights) != set(names):
        raise InvalidArgument("weights", weights, "one for each holder")
    return {name: check_positive("weights", weights[name]) for name in names}


def starting_point(start: ArrayLike | None, task: Task) -> NDArray[np.float32]:
    """Return the parameters to begin with."""
    if start is None:
        return np.zeros(task.size, dtype=np.float32)
    numbers = as_numbers("start", start, f"{task.size:,} finite numbers")
    if numbers.shape != (task.size,) or not np.all(np.isfinite(numbers)):
        raise InvalidArgument("start", start, f"{task.size:,} finite numbers")
    return numbers.astype(np.float32)

"""What a holder is to the rest: something that turns parameters into an update that is private already."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.federated.aggregation.terms import RINGS
from chronodp.privacy import check_positive, check_whole, settle

__all__ = ["Holder", "Task", "check_update"]


@dataclass(frozen=True)
class Task:
    """What is trained together. All of it is public, and the same at every holder.

    Attributes:
        rounds: how many.
        size: number of parameters.
        model: fingerprint of architecture and hyperparameters: holders with another refuse.
        clip: bound on each number of an update, for quantisation.
        bits: of the ring in which updates are added up: 16, 32 or 64.
    """

    rounds: int
    size: int
    model: str
    clip: float
    bits: int

    def __post_init__(self) -> None:
        check_whole("rounds", self.rounds, most=10**6)
        check_whole("size", self.size, most=2**28)
        if not isinstance(self.model, str) or not self.model:
            raise InvalidArgument("model", self.model, "the fingerprint of a model")
        settle(self, clip=check_positive("clip", self.clip))  # 1 and 1.0 are one task
        if type(self.bits) is not int or self.bits not in RINGS:
            raise InvalidArgument("bits", self.bits, f"one of {', '.join(map(str, RINGS))}")

    def to_json(self) -> str:
        """Return a text that no other task has."""
        return json.dumps(asdict(self), sort_keys=True)


@runtime_checkable
class Holder(Protocol):
    """Who holds data and trains on it."""

    @property
    def name(self) -> str:
        """Who it is, as in the roster."""
        ...

    def update(self, round_number: int, parameters: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the update of a round, counted from 1: clipped, noised and weighed by the holder's own trainer.

        Asked again for a round it returns the same stored update, so that nothing is paid or told twice.
        """
        ...


def check_update(update: object, task: Task, *, holder: str) -> NDArray[np.float64]:
    """Return a holder's update if it has the task's size and is finite. The message never shows a number of it."""
    numbers = np.asarray(update)
    if numbers.dtype.kind != "f" or numbers.shape != (task.size,) or not np.all(np.isfinite(numbers)):
        allowed = f"{task.size:,} finite floating-point numbers from holder {holder!r}"
        raise InvalidArgument("update", update, allowed, private=True)
    return numbers.astype(np.float64)

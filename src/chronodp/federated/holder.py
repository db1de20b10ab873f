"""What training and aggregation agree on: a task, and holders that answer each round with one private update."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = ["Holder", "Task"]


@dataclass(frozen=True, slots=True)
class Task:
    """What every holder and the server must have in common. All of it is public.

    Attributes:
        rounds: how many rounds there are.
        size: how many parameters the model has.
        model: a fingerprint of architecture and hyperparameters.
        clip: the bound on each coordinate of an update, for quantisation.
        bits: updates are added modulo 2^bits.
    """

    rounds: int
    size: int
    model: str
    clip: float
    bits: int


@runtime_checkable
class Holder(Protocol):
    """Someone who holds data and tells updates.

    An update is private when it leaves: clipped, noised, and weighted. The same round returns the same stored update.
    """

    @property
    def name(self) -> str:
        """Who it is."""
        ...

    def update(self, round_number: int, parameters: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the update of a round, computed from the model's parameters at its start."""
        ...

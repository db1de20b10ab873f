"""All rounds of a run with every holder in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.federated.holder import Holder, Task
from chronodp.federated.training.checkpoint import Checkpoint

__all__ = ["Adding", "Trained", "add_plainly", "train_together"]

Adding = Callable[[Task, int, list[NDArray[np.float64]]], NDArray[np.float64]]
"""Adds the holders' updates of a round."""


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A finished run: the task and the parameters, both public."""

    task: Task
    parameters: NDArray[np.float32]


def train_together(
    task: Task,
    holders: Sequence[Holder],
    start: NDArray[np.float32],
    *,
    add: Adding | None = None,
    checkpoint: str | Path | None = None,
    told: Callable[[int, NDArray[np.float32]], None] = lambda _, __: None,
) -> Trained:
    """Run every round: ask each holder for its update, add them up, move the model.

    Args:
        task: what the holders share.
        holders: who trains.
        start: the first parameters.
        add: how updates are added; plainly unless told otherwise.
        checkpoint: a file to go on from, if it is there, and to write after each round.
        told: called after each round with its number and the model.
    """
    if not holders or len({holder.name for holder in holders}) < len(holders):
        raise InvalidArgument("holders", len(holders), "at least one, each with a name of its own")
    if start.shape != (task.size,):
        raise InvalidArgument("start", str(start.shape), f"{task.size} parameters")
    sum_of = add_plainly if add is None else add
    done, at = 0, start.astype(np.float32)
    if checkpoint is not None and Path(checkpoint).exists():
        stored = Checkpoint.load(checkpoint, model=task.model)
        done, at = stored.round_number, stored.parameters
    for number in range(done + 1, task.rounds + 1):
        updates = [_checked(task, holder, holder.update(number, at)) for holder in holders]
        at = (at + sum_of(task, number, updates)).astype(np.float32)
        if checkpoint is not None:
            Checkpoint(task.model, number, at).save(checkpoint)
        told(number, at)
    return Trained(task, at)


def add_plainly(task: Task, round_number: int, updates: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the sum of updates in floating point."""
    if any(update.shape != (task.size,) for update in updates):
        raise InvalidArgument("updates", round_number, f"of {task.size} parameters in every round")
    total: NDArray[np.float64] = np.sum(updates, axis=0)
    return total


def _checked(task: Task, holder: Holder, update: NDArray[np.float64]) -> NDArray[np.float64]:
    allowed = f"{task.size} finite numbers from holder {holder.name!r}"
    if update.shape != (task.size,) or not np.all(np.isfinite(update)):
        raise InvalidArgument("update", str(update.shape), allowed)
    return update

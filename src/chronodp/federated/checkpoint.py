"""Where a run in one process stands, in a file that is whole at any moment."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument, RoundConflict, UnknownDocument, UnreadableSource
from chronodp.reading import parse_arrays

__all__ = ["load_checkpoint", "save_checkpoint"]


def save_checkpoint(path: Path, task: str, rounds_done: int, parameters: NDArray[np.float32]) -> None:
    """Write how many rounds are done and the parameters after them: all of it or nothing."""
    fresh = path.with_name(f"{path.name}.new")
    try:
        with fresh.open("wb") as file:
            np.savez(file, task=np.array(task), rounds_done=np.array(rounds_done), parameters=parameters)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as error:
        raise InvalidArgument("checkpoint", str(path), f"a file that can be written ({error.strerror})") from error


def load_checkpoint(path: Path, task: str) -> tuple[int, NDArray[np.float32]]:
    """Return how many rounds are done and the parameters after them; a checkpoint of another task is refused."""
    try:
        stored, done, parameters = parse_arrays(path.read_bytes(), "task", "rounds_done", "parameters")
    except (OSError, UnknownDocument):
        raise UnreadableSource(f"{path.name} is no checkpoint, or damaged") from None
    if done.shape or done.dtype.kind != "i" or done < 0 or parameters.dtype != np.float32 or parameters.ndim != 1:
        raise UnreadableSource(f"{path.name} is no checkpoint, or damaged")
    if str(stored) != task:
        raise RoundConflict(f"{path.name} is a checkpoint of another task: choose another file, or remove it")
    return int(done), parameters

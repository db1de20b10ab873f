"""Where a run in one process stands, in a file that is whole at any moment."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument, RoundConflict, UnreadableSource

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
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as found:
            same, done, parameters = str(found["task"]) == task, int(found["rounds_done"]), found["parameters"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        raise UnreadableSource(f"{path.name} is no checkpoint, or damaged") from None
    if not same:
        raise RoundConflict(f"{path.name} is a checkpoint of another task: choose another file, or remove it")
    return done, parameters.astype(np.float32)

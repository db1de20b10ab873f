"""Where a run stands, in a file: the plan's fingerprint, the round and the parameters. No data."""

from __future__ import annotations

import io
import os
import secrets
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument

__all__ = ["Checkpoint"]


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """The model after a round.

    Attributes:
        model: the fingerprint of the task that it belongs to.
        round_number: how many rounds are done.
        parameters: of the model.
    """

    model: str
    round_number: int
    parameters: NDArray[np.float32]

    def save(self, path: str | Path) -> None:
        """Write the file, whole or not at all."""
        buffer = io.BytesIO()
        np.savez(
            buffer,
            model=np.array(self.model),
            round_number=np.array(self.round_number),
            parameters=np.asarray(self.parameters, dtype=np.float32),
        )
        target = Path(path)
        draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
        try:
            with draft.open("xb") as file:
                file.write(buffer.getvalue())
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, target)
        except OSError as error:
            raise InvalidArgument("path", str(path), f"a file that can be written ({error.strerror})") from error
        finally:
            draft.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | Path, *, model: str) -> Self:
        """Read a file of the task with this fingerprint; one of another model is refused."""
        try:
            with np.load(Path(path), allow_pickle=False) as stored:
                found = cls(str(stored["model"]), int(stored["round_number"]), stored["parameters"])
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise InvalidArgument("path", str(path), "a checkpoint that can be read") from error
        if found.model != model:
            raise InvalidArgument("path", str(path), "a checkpoint of this plan and model; it is of another")
        return found

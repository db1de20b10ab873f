"""What a holder must remember over restarts, so that it never tells about one update twice."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from chronodp.errors import RoundConflict, UnreadableSource
from chronodp.reading import parse_json

__all__ = ["Journal"]


@dataclass(slots=True)
class _Entry:
    run: str
    round_number: int = 0
    attempt: int = -1
    revealed: int = 0

    def __post_init__(self) -> None:
        if not all(type(number) is int for number in (self.round_number, self.attempt, self.revealed)):
            raise TypeError


class Journal:
    """A small file with the last attempt a holder has begun, and the last round in which it has revealed shares.

    Each fact is on disk before it matters: an attempt before its keys are advertised, shares before they are sent.
    """

    def __init__(self, path: Path, run: str) -> None:
        self._path = path
        self._entry = _Entry(run)
        if not path.exists():
            self._write()
            return
        try:
            self._entry = _Entry(**parse_json(path.read_bytes()))
        except (OSError, ValueError, TypeError):
            raise UnreadableSource(f"{path.name} is no journal of a run, or damaged") from None
        if self._entry.run != run:
            raise RoundConflict(f"{path.name} is the journal of another run: give each run its own journal")

    def knows(self, round_number: int, attempt: int) -> bool:
        """Return whether this attempt was begun before, by a process that is gone."""
        return round_number == self._entry.round_number and attempt <= self._entry.attempt

    def check_open(self, round_number: int) -> None:
        """Refuse a round that is over for this holder.

        Raises:
            RoundConflict: it has revealed shares in it, or taken part in a later one.
        """
        if round_number <= self._entry.revealed or round_number < self._entry.round_number:
            raise RoundConflict(
                f"the server asks for round {round_number} again, in which this holder has taken part to the end: a "
                "second sum over other holders would show single updates, so it does not answer"
            )

    def begin(self, round_number: int, attempt: int) -> None:
        """Note an attempt before it begins; one at a round that is over is refused."""
        self.check_open(round_number)
        self._entry.round_number, self._entry.attempt = round_number, attempt
        self._write()

    def reveal(self, round_number: int) -> None:
        """Note that shares of a round are about to be sent."""
        self._entry.revealed = round_number
        self._write()

    def _write(self) -> None:
        fresh = self._path.with_name(f"{self._path.name}.new")
        with fresh.open("w", encoding="utf-8") as file:
            json.dump(asdict(self._entry), file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)

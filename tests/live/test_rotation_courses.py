"""Random courses of what may happen to a growing file: every line once where nothing is cut away, told where it is."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path

import pytest

from chronodp import Event
from chronodp.live import Limits, Windows
from chronodp.live.records import Reader
from chronodp.live.sources import FileSource
from tests.conftest import Trials
from tests.live.examples import fields_of, write

COUNTS = Limits(Event(), Windows("1s", "2026-01-01", count=10), at_most=1)
KINDS = ("append", "append", "append", "read", "read", "mark", "restart", "rename", "copytruncate", "save anew")
CUTS = ("cut", "refill", "exchange")


class Course:
    """A file, what is done to it, and what was read of it."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.path, self.chance = folder / "in.jsonl", chance
        self.sent: list[str] = []
        self.read: list[str] = []
        self.gaps: list[str] = []
        self._moment, self._rotated = 1_000_000_000, 0
        self.source = self._open("")

    def _open(self, positions: str) -> FileSource:
        source = FileSource(self.path, reader=Reader(fields_of(COUNTS)))
        source.begin(positions, key=b"k")
        return source

    def do(self, kind: str) -> None:
        getattr(self, f"_{kind.replace(' ', '_')}")()

    def _new(self) -> list[str]:
        names = [f"p{len(self.sent) + number}" for number in range(self.chance.randint(1, 200))]
        self.sent += names
        return names

    def _touch(self) -> None:
        """Let every change have a moment of its own, as far apart as rotations are."""
        self._moment += 10
        os.utime(self.path, (self._moment, self._moment))

    def _write(self, names: list[str]) -> None:
        write(self.path, *[json.dumps({"at": 1, "who": name}) for name in names])
        self._touch()

    def _append(self) -> None:
        self._write(self._new())

    def _read(self) -> None:
        self.read += self.source.read(self.chance.choice((1, 1000)), wait=0.0).names or ()
        self.gaps += self.source.take_gaps()

    def _mark(self) -> None:
        expected = set(self.sent)
        assert self.source.mark()
        later: list[str] = []
        if self.chance.random() < 0.5:
            later = self._new()
            self._write(later)
        for _ in range(100):
            if self.source.at_mark:
                break
            self._read()
        assert self.source.at_mark
        self.source.unmark()
        assert expected <= set(self.read)
        assert not set(later) & set(self.read)

    def _look(self) -> None:
        for _ in range(20):
            self._read()
        self._append()

    def _restart(self) -> None:
        positions = self.source.positions
        self.gaps += self.source.take_gaps()  # on disk together
        self.source.close()
        self.source = self._open(positions)

    def _rename(self) -> None:
        if self.path.exists():
            self._rotated += 1
            self.path.rename(self.path.with_name(f"in.jsonl.{self._rotated}"))
            self._append()

    def _copytruncate(self) -> None:
        if self.path.exists():
            self._rotated += 1
            shutil.copy2(self.path, self.path.with_name(f"in.jsonl.{self._rotated}"))
            os.truncate(self.path, 0)
            self._append()

    def _save_anew(self) -> None:
        if self.path.exists():
            shutil.copy2(self.path, self.path.with_name("other"))
            os.replace(self.path.with_name("other"), self.path)

    def _cut(self) -> None:
        """Cut away lines that were not read, of a file that was looked at."""
        self._look()
        os.truncate(self.path, 0)

    def _refill(self) -> None:
        self._cut()
        self._append()

    def _exchange(self) -> None:
        self._look()
        self.path.unlink()
        self._append()

    def finish(self) -> None:
        for _ in range(40):
            self._read()
        self.source.close()


def course(folder: Path, seed: int, kinds: tuple[str, ...]) -> Course:
    chance = random.Random(seed)
    made = Course(folder, chance)
    made._append()
    made._read()
    for kind in chance.choices(kinds, k=14):
        made.do(kind)
    made.finish()
    return made


@pytest.mark.slow
def test_every_line_is_read_once_where_nothing_is_cut_away(tmp_path: Path, trials: Trials) -> None:
    for seed in range(trials(400, least=20)):
        folder = tmp_path / str(seed)
        folder.mkdir()
        made = course(folder, seed, KINDS)
        assert (seed, made.read, made.gaps) == (seed, made.sent, [])
        shutil.rmtree(folder)


@pytest.mark.slow
def test_what_was_cut_away_is_told_and_nothing_is_read_twice(tmp_path: Path, trials: Trials) -> None:
    told = 0
    for seed in range(trials(400, least=20)):
        folder = tmp_path / str(seed)
        folder.mkdir()
        made = course(folder, seed, ("append", "append", "read", "restart", "rename", *CUTS))
        assert len(set(made.read)) == len(made.read), seed
        if set(made.sent) - set(made.read):
            assert made.gaps, seed
            told += 1
        shutil.rmtree(folder)
    assert told

"""Files that are rotated, cut short, exchanged or gone: every line once, or a gap that is told."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from chronodp import Event, Ledger
from chronodp.errors import InvalidArgument
from chronodp.live import Limits, State, Windows
from chronodp.live.records import Reader
from chronodp.live.sinks import CsvSink
from chronodp.live.sources import FileSource
from chronodp.live.sources.read_bytes import ReadBytes
from tests.conftest import Trials
from tests.live.examples import NAME, Bench, at, fields_of, write

COUNTS = Limits(Event(), Windows("1s", "2026-01-01", lateness="1s", skew="2s", count=1000), at_most=1000)
CUT = "in.jsonl was cut short or written anew, and no copy of what it held was found: lines may be missing"
OTHER = "in.jsonl is another file than the one that was read, which is gone: lines may be missing"
WITHIN = "in.jsonl was rotated within a line, which is left out: lines may be missing"
PACKED = "in.jsonl was rotated and compressed before all of it was read: lines may be missing"
GREW = "in.jsonl was written to under its old name after the new file was: lines may be missing"
BEHIND = "in.jsonl was cut short behind what was read of it: lines may be missing"


def line(number: int) -> str:
    return json.dumps({"at": number / 1000, "who": f"p{number}"})


def lines(begin: int, end: int) -> str:
    return "".join(f"{line(number)}\n" for number in range(begin, end))


def people(begin: int, end: int) -> list[str]:
    return [f"p{number}" for number in range(begin, end)]


class Followed:
    """A file source that can be stopped and started again between any two things that happen to its file."""

    def __init__(self, folder: Path, *, restart: bool) -> None:
        self.path, self.restart = folder / "in.jsonl", restart
        self.gaps: list[str] = []
        self.source = self._open("")

    def _open(self, positions: str) -> FileSource:
        source = FileSource(self.path, reader=Reader(fields_of(COUNTS)))
        source.begin(positions, key=b"k" * 32)
        return source

    def read(self) -> list[str]:
        """Return who is in the lines that are new."""
        if self.restart:
            positions = self.source.positions
            self.source.close()
            self.source = self._open(positions)
        names = [name for _ in range(8) for name in self.source.read(1000, wait=0.0).names or ()]
        self.gaps += self.source.take_gaps()
        return names


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Followed]:
    made = Followed(tmp_path, restart=False)
    yield made
    made.source.close()


@pytest.fixture
def restarted(tmp_path: Path) -> Iterator[Followed]:
    made = Followed(tmp_path, restart=True)
    yield made
    made.source.close()


@pytest.fixture(params=["running", "restarted"])
def followed(request: pytest.FixtureRequest) -> Followed:
    made: Followed = request.getfixturevalue(request.param)
    write(made.path, *map(line, range(10)))
    assert made.read() == people(0, 10)
    return made


def age(path: Path, seconds: int) -> None:
    """Let a file have been written some time ago: those of a test are all written within a moment."""
    moment = path.stat().st_mtime - seconds
    os.utime(path, (moment, moment))


@pytest.mark.parametrize("end", [150, 101])  # past the old place, or short of it
def test_a_file_that_was_cut_and_refilled_is_read_from_its_start(followed: Followed, end: int) -> None:
    followed.path.write_text(lines(100, end), encoding="utf-8")
    assert followed.read() == people(100, end)
    assert followed.gaps == [OTHER if followed.restart else CUT]


@pytest.mark.parametrize("point", ["counted", "state committed", "source confirmed", "stepped", "settled", "told"])
def test_a_gap_is_kept_once_wherever_the_process_dies(tmp_path: Path, point: str) -> None:
    bench, table = Bench(tmp_path, COUNTS), tmp_path / "out.csv"
    write(bench.path, *[{"at": at(COUNTS, 0), "who": f"p{number}"} for number in range(10)])
    bench.run_to(1, sinks=[CsvSink(table)])
    refilled = [json.dumps({"at": at(COUNTS, 1), "who": f"q{number}"}) + "\n" for number in range(50)]
    bench.path.write_text("".join(refilled), encoding="utf-8")

    def die(reached: str) -> None:
        if reached == point:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench.run_to(2, sinks=[CsvSink(table)], reached=die)
    bench.run_to(3, sinks=[CsvSink(table)])
    rows = [row.split(",") for row in table.read_text(encoding="utf-8").splitlines()[1:]]
    assert [(int(row[0]), round(float(row[2]))) for row in rows] == [(0, 10), (1, 50), (2, 0)]
    assert set(bench.said) == {OTHER}
    with Ledger(tmp_path / "budget.db") as ledger:
        state = State(tmp_path / "live.db", keys=ledger.keys, name=NAME)
        assert [gap.what for gap in state.gaps] == [OTHER]
        state.close()


def test_an_empty_file_is_told_once(followed: Followed) -> None:
    followed.path.write_text("", encoding="utf-8")
    assert followed.read() == []
    assert followed.read() == []
    write(followed.path, line(100))
    assert followed.read() == ["p100"]
    assert len(followed.gaps) == 1


def test_an_older_file_that_begins_alike_is_no_copy(tmp_path: Path) -> None:
    source = FileSource(tmp_path / "in.csv", reader=Reader(fields_of(COUNTS)), layout="csv")
    (tmp_path / "in.csv.1").write_text("at,who\n1,old\n", encoding="utf-8")
    age(tmp_path / "in.csv.1", 60)
    (tmp_path / "in.csv").write_text("at,who\n", encoding="utf-8")
    source.begin("", key=b"k")
    assert len(source.read(100, wait=0.0)) == 0
    (tmp_path / "in.csv").write_text("who,at,more\nann,1,2\n", encoding="utf-8")
    assert [name for _ in range(4) for name in source.read(100, wait=0.0).names or ()] == ["ann"]
    assert len(source.take_gaps()) == 1
    source.close()


def test_a_renamed_file_is_read_to_its_end_before_the_new_one(followed: Followed) -> None:
    write(followed.path, line(10))
    old = followed.path.rename(followed.path.with_name("in.jsonl.1"))
    followed.path.touch()  # logrotate's create: who writes still has the old one open
    assert followed.read() == ["p10"]
    write(old, line(11))
    assert followed.read() == ["p11"]
    write(followed.path, line(12))
    assert followed.read() == ["p12"]
    assert not followed.gaps


def test_files_that_were_rotated_meanwhile_are_read_in_order(tmp_path: Path, restarted: Followed) -> None:
    names = [tmp_path / name for name in ("in.jsonl.3", "in.jsonl.2", "in.jsonl.1", "in.jsonl")]
    write(restarted.path, line(0))
    assert restarted.read() == ["p0"]
    write(restarted.path, line(1))
    restarted.path.rename(names[0])
    for number, path in enumerate(names[1:], 2):
        write(path, line(number))
    for number, path in enumerate(names):
        age(path, 40 - 10 * number)
    write(tmp_path / "in.jsonl.bak", line(99))  # nothing that rotation makes
    assert restarted.read() == people(1, 5)
    assert not restarted.gaps


def test_a_rotated_file_that_was_compressed_is_a_gap(tmp_path: Path, restarted: Followed) -> None:
    write(restarted.path, line(0))
    assert restarted.read() == ["p0"]
    restarted.path.rename(tmp_path / "in.jsonl.2")
    age(tmp_path / "in.jsonl.2", 60)
    (tmp_path / "in.jsonl.1.gz").write_bytes(b"...")
    age(tmp_path / "in.jsonl.1.gz", 30)
    write(restarted.path, line(9))
    assert restarted.read() == ["p9"]
    assert restarted.gaps == [PACKED]


def test_lines_that_come_to_a_file_that_was_left_are_a_gap(tmp_path: Path, running: Followed) -> None:
    write(running.path, line(0))
    assert running.read() == ["p0"]
    old = running.path.rename(tmp_path / "in.jsonl.1")
    with old.open("a", encoding="utf-8") as file:
        file.write('{"at": 1')
    write(running.path, line(1))
    assert running.read() == ["p1"]
    write(old, "}")
    assert running.source.mark()
    assert running.read() == []
    assert running.gaps == [WITHIN, GREW]


def test_a_last_line_that_is_not_finished_waits(followed: Followed) -> None:
    text = line(10)
    with followed.path.open("a", encoding="utf-8") as file:
        file.write(text[:9])
    assert followed.read() == []
    with followed.path.open("a", encoding="utf-8") as file:
        file.write(f"{text[9:]}\n")
    assert followed.read() == ["p10"]
    assert not followed.gaps


def test_another_file_of_the_same_number_is_another_file(followed: Followed) -> None:
    """A disk may give the number of a file that was deleted to the next one."""
    inode = followed.path.stat().st_ino
    with followed.path.open("r+", encoding="utf-8") as file:  # the same number for certain
        file.write(lines(100, 150))
    assert followed.path.stat().st_ino == inode
    assert followed.read() == people(100, 150)
    assert len(followed.gaps) == 1


def test_a_deleted_file_that_comes_back_is_read_from_its_start(followed: Followed) -> None:
    followed.path.unlink()
    assert followed.read() == []
    write(followed.path, line(100))
    assert followed.read() == ["p100"]
    # The open file was read to its end; once it was closed, nobody knows what came to it.
    assert followed.gaps == ([OTHER] if followed.restart else [])


def test_windows_wait_for_a_file_that_was_read_and_is_gone(tmp_path: Path) -> None:
    bench = Bench(tmp_path, COUNTS)
    write(bench.path, {"at": at(COUNTS, 0), "who": "ann"})
    bench.run_to(1)
    away = bench.path.rename(tmp_path.parent / f"{tmp_path.name}.away")
    live, state, ledger = bench.start()
    bench.clock.moment = COUNTS.windows.closes(1)
    rounds = 0

    def stop() -> bool:
        nonlocal rounds
        rounds += 1
        if rounds == 5:
            assert live.progress.next_window == 1
            assert not live.progress.reachable
            assert live.progress.waits == ("the source cannot be reached",)
            write(away, {"at": at(COUNTS, 1), "who": "bo"})
            away.rename(bench.path)
        return live.progress.next_window == 2

    live.run(stop=stop)
    state.close()
    ledger.close_connection()
    assert bench.totals() == [1, 1]
    gone = "in.jsonl was read before and is gone: windows wait for it; trying again"
    assert bench.said == [gone, "source: the source is there again"]
    assert not live.progress.owner.missing


def test_a_mark_in_a_file_that_was_cut_is_set_anew(running: Followed) -> None:
    write(running.path, *map(line, range(3)))
    assert running.read() == people(0, 3)
    write(running.path, *map(line, range(3, 9)))
    assert running.source.mark()
    os.truncate(running.path, len(lines(0, 7)))
    assert running.read() == people(3, 7)
    assert running.source.at_mark
    assert running.gaps == [BEHIND]
    running.source.unmark()
    assert running.source.mark()
    running.path.write_text(lines(50, 51), encoding="utf-8")
    assert running.read() == ["p50"]
    assert running.source.at_mark


def test_what_comes_after_a_mark_on_no_file_waits(running: Followed) -> None:
    assert running.source.mark()
    write(running.path, line(0))
    assert running.read() == []
    assert running.source.at_mark
    running.source.unmark()
    assert running.read() == ["p0"]


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="one file, no folder"):
        FileSource(tmp_path, reader=Reader(fields_of(COUNTS)))


def test_positions_on_disk_tell_nothing_of_the_file(tmp_path: Path) -> None:
    bench = Bench(tmp_path, COUNTS)
    write(bench.path, {"at": at(COUNTS, 0), "who": "ann"})
    bench.run_to(1)
    with bench.path.open("rb", buffering=0) as file:
        size = bench.path.stat().st_size
        read = ReadBytes.of(file, size, size)
    assert read is not None
    with Ledger(tmp_path / "budget.db") as ledger:
        digest = read.digest(ledger.keys.derive("live", "visits", NAME))
    assert len({digest, read.digest(b""), read.digest(b"other")}) == 3
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("live.db*"))
    for secret in (b"ann", b"inode", digest.encode(), read.digest(b"").encode()):
        assert secret not in stored


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

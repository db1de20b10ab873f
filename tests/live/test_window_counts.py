"""Who has counted in how many windows: numbers of hashes, deltas and blocks, in memory, on disk and after failures."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from chronodp import Event, Ledger, User
from chronodp.errors import LedgerUnavailable
from chronodp.live import Limits, State, Windows, stored_counts, window_totals
from chronodp.live.hash_table import Hashes, HashTable, as_hashes
from chronodp.live.people import PersonHashes, Remembered
from chronodp.live.records import Batch
from chronodp.live.window_counts import WindowCounts
from chronodp.live.window_sums import Sums
from chronodp.live.window_totals import Part, WindowTotals

CROWD = [random.Random(number).randbytes(16) for number in range(3_000)]
ONE_SLOT = [(number % 3).to_bytes(8, "little") + number.to_bytes(8, "little") for number in range(50)]
"""Hashes that want the same slots: what nobody without the key can make."""


def hashes(people: Iterable[bytes]) -> Hashes:
    return as_hashes(b"".join(people))


def counts_of(counts: WindowCounts | State) -> list[int]:
    of = counts.of if isinstance(counts, WindowCounts) else counts.used
    found: list[int] = of(hashes(CROWD)).tolist()
    return found


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "budget.db") as opened:
        yield opened


@contextmanager
def database_of(folder: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(folder / "live.db")) as database, database:
        yield database


def open_state(folder: Path, ledger: Ledger) -> State:
    return State(folder / "live.db", keys=ledger.keys, name="door")


def test_hashes_are_numbered_in_their_order_each_once() -> None:
    for crowded in [True, False]:
        chance = random.Random(7)
        people = ONE_SLOT if crowded else CROWD
        table, plain = HashTable(), dict[bytes, int]()
        for _ in range(60):
            some = chance.choices(people, k=chance.randint(0, 90))
            before = table.find(hashes(some)).tolist()
            assert before == [plain.get(one, -1) for one in some], crowded
            for one in some:
                plain.setdefault(one, len(plain))
            assert table.add(hashes(some)).tolist() == [plain[one] for one in some], crowded
        assert len(table) == len(plain), crowded
        assert table.hashes(slice(0, len(plain))).tobytes() == b"".join(plain), crowded
        assert table.find(hashes([b"\xff" * 16])).tolist() == [-1], crowded


def test_deltas_and_blocks_say_who_has_counted() -> None:
    chance = random.Random(3)
    counts, replayed, plain = WindowCounts(), WindowCounts(), Counter[bytes]()
    forms = set()
    counts.apply(counts.delta(hashes([])))
    assert (len(counts), list(counts.blocks()), counts.of(hashes([])).tolist()) == (0, [], [])
    for window in range(60):
        some = chance.sample(CROWD, k=chance.choice((0, 1, 5, 2_000)))
        delta = counts.delta(hashes(some))
        forms.add(delta[8])
        before = counts_of(counts)
        assert before == counts_of(replayed) == [plain[one] for one in CROWD]  # a delta alone changes nothing
        counts.add(hashes(some))
        replayed.apply(delta)
        plain.update(some)
        if window == 30:
            known, replayed = replayed, WindowCounts()
            for block in known.blocks():
                replayed.load(block)
    assert counts_of(counts) == counts_of(replayed) == [plain[one] for one in CROWD]
    assert forms == {0, 1}  # by numbers and by bits
    assert b"".join(counts.blocks()) == b"".join(replayed.blocks())


@pytest.mark.slow
def test_more_people_than_a_block_holds_come_back() -> None:
    chance = random.Random(1)
    people = [chance.randbytes(16) for _ in range(150_000)]
    counts, again = WindowCounts(), WindowCounts()
    counts.add(hashes(people))
    counts.add(hashes(people[70_000:]))
    blocks = list(counts.blocks())
    assert len(blocks) == 3
    assert sum(map(len, blocks)) == counts.size
    for block in blocks:
        again.load(block)
    assert again.of(hashes(people)).tolist() == [1] * 70_000 + [2] * 80_000


def test_a_state_knows_after_any_number_of_openings(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_counts, "_ROOM", 1_000)
    monkeypatch.setattr(stored_counts, "MOST_IN_DELTA", 300)
    chance, plain = random.Random(5), Counter[bytes]()
    written = set()
    for number in range(12):
        state = open_state(tmp_path, ledger)
        assert counts_of(state) == [plain[one] for one in CROWD]
        for _ in range(3):
            windows = [chance.sample(CROWD, k=chance.choice((0, 3, 700))) for _ in range(2)]
            state.settle(map(hashes, windows), settled=number)
            for people in windows:
                plain.update(people)
        state.close()
        with database_of(tmp_path) as database:
            written.add(
                tuple(database.execute("SELECT count(*) > 0 FROM people UNION ALL SELECT count(*) > 0 FROM closings"))
            )
    assert len(written) > 1  # some openings find deltas, some find none
    with closing(open_state(tmp_path, ledger)) as state:
        assert counts_of(state) == [plain[one] for one in CROWD]


def test_what_could_not_be_written_has_not_happened(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = open_state(tmp_path, ledger)
    state.settle([hashes(CROWD[:5])], settled=1)
    written = StoredWrites(state)
    monkeypatch.setattr(State, "_write", written)
    with pytest.raises(LedgerUnavailable, match="cannot be read or written"):
        state.settle([hashes(CROWD[:9])], settled=2)
    assert written.called
    assert (counts_of(state)[:10], state.settled) == ([1] * 5 + [0] * 5, 1)
    monkeypatch.undo()
    state.settle([hashes(CROWD[:9])], settled=2)
    state.close()
    with closing(open_state(tmp_path, ledger)) as state:
        assert (counts_of(state)[:10], state.settled) == ([2] * 5 + [1] * 4 + [0], 2)


class StoredWrites:
    """Fails as a disk does, after people were written."""

    def __init__(self, state: State) -> None:
        self.state, self.called = state, False

    def __call__(self, *_: object) -> None:
        assert counts_of(self.state)[:10] == [2] * 5 + [1] * 4 + [0]
        self.called = True
        raise sqlite3.OperationalError


def test_a_state_of_another_format_is_refused(tmp_path: Path, ledger: Ledger) -> None:
    open_state(tmp_path, ledger).close()
    with database_of(tmp_path) as database:
        database.execute("PRAGMA user_version = 3")
    with pytest.raises(LedgerUnavailable, match=r"live\.db is the state of a live stream in another format"):
        open_state(tmp_path, ledger)


def test_deltas_are_sealed_and_bound_to_their_place(tmp_path: Path, ledger: Ledger) -> None:
    state = open_state(tmp_path, ledger)
    for end in (3, 9):
        state.settle([hashes(CROWD[:end])], settled=end)
    state.close()
    assert CROWD[1] not in (tmp_path / "live.db").read_bytes()
    with database_of(tmp_path) as database:
        database.execute("UPDATE closings SET delta = 1 - delta + 10")
        database.execute("UPDATE closings SET delta = delta - 10")
    with pytest.raises(LedgerUnavailable, match="was changed"):
        open_state(tmp_path, ledger)


GRID = Windows("1s", "2026-01-01", skew="1s", count=40)
KEY = bytes(32)
SUMS = Limits(User(), GRID, clip=(-1.0, 4.0), max_periods=3)
LIMITS = [
    SUMS,
    replace(SUMS, groups=("a", "b", "c"), max_groups=2),
    replace(SUMS, groups=("a", "b", "c"), max_groups=2, ids=True),
    Limits(Event(), GRID, at_most=5),
    Limits(Event(), GRID, clip=(-1.0, 4.0), groups=("a", "b"), people=False),
    Limits(Event(), GRID, clip=(-1.0, 4.0), people=False, ids=True),
]
Row = tuple[int, str, int, float, str]  # window, who, place, value, id


def batch_of(limits: Limits, rows: list[Row]) -> Batch:
    names = list(dict.fromkeys(who for _, who, _, _, _ in rows))
    return Batch(
        np.array([GRID.begins(window) + 1 for window, *_ in rows], dtype=np.int64),
        np.array([names.index(row[1]) if limits.people else 0 for row in rows], dtype=np.int64),
        names if limits.people else [],
        np.array([row[2] for row in rows], dtype=np.int64),
        np.array([row[3] for row in rows], dtype=np.float64) if limits.clip else None,
        [row[4] for row in rows] if limits.ids else None,
        0,
    )


class PlainTally:
    """The same by the words of the proof."""

    def __init__(self, limits: Limits) -> None:
        self.limits, self.hashes = limits, PersonHashes(KEY)
        self.rows: dict[int, list[tuple[bytes, int, int, str]]] = defaultdict(list)
        self.used: dict[bytes, int] = defaultdict(int)

    def add(self, rows: list[Row]) -> None:
        limits = self.limits
        for window, who, place, value, name in rows:
            steps = int(np.floor(value / limits.grid.step + 0.5)) if limits.clip else 1
            if not limits.people:
                steps = min(max(steps, limits.range[0]), limits.range[1])
            self.rows[window].append((self.hashes[who] if limits.people else b"", place, steps, name))

    def close(self, window: int) -> list[int]:
        limits = self.limits
        cells: dict[tuple[bytes, int], int] = defaultdict(int)
        least: dict[tuple[bytes, int, object], int] = {}
        for at, (person, place, steps, name) in enumerate(self.rows.pop(window, [])):
            known = (person, place, name if limits.ids else at)
            least[known] = min(steps, least.get(known, steps))
        for (person, place, _), steps in least.items():
            cells[person, place] += steps
        totals = [0] * limits.columns
        counted = set()
        for (person, place), steps in cells.items():
            turn = int.from_bytes(person[:8], "little") % limits.columns
            mine = sorted((other + turn) % limits.columns for one, other in cells if one == person)
            if limits.chosen_groups is not None and mine.index((place + turn) % limits.columns) >= limits.max_groups:
                continue
            if limits.first_windows is not None and self.used[person] >= limits.first_windows:
                continue
            counted.add(person)
            low, high = limits.range
            totals[place] += min(max(steps, low), high) if limits.people else steps
        for person in counted:
            self.used[person] += 1
        return totals


@pytest.mark.parametrize("limits", LIMITS, ids=range(len(LIMITS)))
@pytest.mark.parametrize("remembered", [2**20, 10])
def test_arrays_hold_what_a_plain_tally_holds(limits: Limits, remembered: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window_totals, "REMEMBERED", remembered)
    chance = random.Random(remembered)
    plain, tally, used, stored = PlainTally(limits), WindowTotals(limits, KEY), WindowCounts(), list[Part]()
    for window in range(30):
        for _ in range(chance.randint(0, 4)):
            rows: list[Row] = [
                (
                    window + chance.randint(0, 2),
                    f"p{chance.randint(0, 40)}",
                    chance.randrange(limits.columns),
                    chance.choice((-9.0, -0.5, 0.0, 1.25, 3.0, 1e300)),
                    chance.choice("xyz"),
                )
                for _ in range(chance.randint(0, 30))
            ]
            late: list[Row] = [(window - 1, "nobody who counts", 0, 1.0, "x")] if window else []
            counted, parts = tally.add(batch_of(limits, rows + late), first=window, last=window + 2)
            assert (counted.taken, counted.late) == (len(rows), len(late))
            plain.add([(at, who, place, min(value, 1e9), name) for at, who, place, value, name in rows])
            stored += parts
        if chance.random() < 0.2:
            tally = WindowTotals(limits, KEY)
            for part in chance.sample(stored, k=len(stored)):
                tally.restore(part)
        closing = tally.closing(window, used.of)
        assert closing.totals.tolist() == plain.close(window)
        used.add(closing.people)
        tally.forget(window + 1)
        stored = [part for part in stored if part.window > window]
    assert len(tally._people) <= 42
    if limits.first_windows:
        everyone = as_hashes(b"".join(plain.used))
        assert used.of(everyone).tolist() == list(plain.used.values())


def test_sums_beyond_64_bits_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    for size in [1, 2**31, 2**58, 2**62]:
        monkeypatch.setattr("chronodp.live.window_sums._FEW", 20)
        chance, sums, plain = random.Random(size), Sums(), dict[int, int]()
        for _ in range(300):
            cells = [chance.randint(0, 5) for _ in range(7)]
            steps = [chance.choice((-size, size, size - 1)) if cell else size for cell in cells]
            sums.add(np.array(cells), as_hashes(bytes(16 * 7)), np.array(steps))
            for cell, step in zip(cells, steps, strict=True):
                plain[cell] = plain.get(cell, 0) + step
        found, totals = sums.totals()
        assert found.tolist() == sorted(plain), size
        assert totals.tolist() == [min(max(plain[cell], -(2**62)), 2**62) for cell in sorted(plain)], size
        sums.add(np.array([0]), as_hashes(bytes(16)), np.array([-size]))
        assert sums.totals()[1].tolist()[0] == min(plain[0] - size, 2**62), size


def test_what_is_remembered_is_forgotten_by_halves() -> None:
    made: list[str] = []

    def make(text: str) -> str:
        made.append(text)
        return text.upper()

    known = Remembered(make, most=100)
    assert known["x" * 1_000] == "X" * 1_000
    assert not known  # long texts, which anyone can send, are not kept
    made.clear()
    texts = [f"t{number}" for number in range(150)]
    for _ in range(4):
        assert [known[text] for text in texts] == [text.upper() for text in texts]
        assert len(known) <= 100
    assert len(made) < 4 * 150 - 60  # of those who come in turn, and are more than fit, some are still known

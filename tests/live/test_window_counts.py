"""Who has counted in how many windows: numbers of hashes, deltas and blocks, in memory, on disk and after failures."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from chronodp import Ledger
from chronodp.errors import LedgerUnavailable
from chronodp.live import State, stored_counts
from chronodp.live.hash_table import Hashes, HashTable, as_hashes
from chronodp.live.window_counts import WindowCounts

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

"""The tally of a lifetime on disk: what it holds, what it refuses, and what it never shows."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path

import numpy as np
import pytest

from chronodp.ledger import Keys
from chronodp.lifetime.entries import Entries
from chronodp.lifetime.segments import BEGINNING, Sealer, next_head, padded
from chronodp.lifetime.tally import LifeTally

KEYS = Keys(signing=bytes(32), sealing=bytes(range(32)))
LIFE = 3 << 32
SECRET = 0x1122334455667788


def tally_in(folder: Path, *, keys: Keys = KEYS, name: str = "load", life: int = LIFE) -> LifeTally:
    return LifeTally(folder, keys, "meters", name, life)


def steps_of(*amounts: int) -> list[Entries]:
    """Return a step for each amount, paid by one person alone and by one who is in all of them."""
    return [Entries.of([(number, 7, amount), (SECRET, SECRET, amount)]) for number, amount in enumerate(amounts, 1)]


def filled(folder: Path, steps: list[Entries]) -> tuple[LifeTally, list[bytes]]:
    tally = tally_in(folder)
    tally.make()
    tally.verify(0, BEGINNING)
    heads = [BEGINNING]
    for number, entries in enumerate(steps, 1):
        heads.append(tally.write(number, entries))
        tally.announce(number)
    return tally, heads


def used(tally: LifeTally, *people: tuple[int, int]) -> list[int]:
    high, low = (np.array([one[place] for one in people], np.uint64) for place in (0, 1))
    return [int(one) for one in tally.used(high, low)]


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    tally, heads = filled(tmp_path / "t", steps_of(5, 6, 2**32))
    for one in (tally, tally_in(tmp_path / "t")):
        one.verify(3, heads[3])
        assert used(one, (SECRET, SECRET), (1, 7), (2, 7), (2, 8)) == [11 + 2**32, 5, 6, 0]
        assert one.entries_of(2).spent.tolist() == [6, 6]
        assert len(one.people()) == 4
    over = tally.over(Entries.of([(2, 8, 1), (SECRET, SECRET, LIFE)]))
    high, low = np.array([SECRET, 2], np.uint64), np.array([SECRET, 8], np.uint64)
    assert over.used(high, low).tolist() == [LIFE, 1]


def test_the_head_is_a_chain_of_macs_of_step_and_sorted_rows(tmp_path: Path) -> None:
    steps = steps_of(5, 6)
    _, heads = filled(tmp_path / "t", steps)
    key, head = KEYS.derive("lifetime segments", "meters", "load"), bytes(32)
    for number, entries in enumerate(steps, 1):
        columns = zip(entries.high.tolist(), entries.low.tolist(), entries.spent.tolist(), strict=True)
        rows = b"".join(
            high.to_bytes(8, "big") + low.to_bytes(8, "big") + spent.to_bytes(5, "big") for high, low, spent in columns
        )
        mac = hmac.digest(key, number.to_bytes(8, "big") + hashlib.sha256(rows).digest(), "sha256")
        head = hashlib.sha256(head + mac).digest()
        assert head == heads[number] == next_head(heads[number - 1], mac)


@pytest.mark.parametrize("pieces", [1, 3])
def test_pieces_hold_whole_rows(tmp_path: Path, pieces: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chronodp.lifetime.segments._PIECE", 2**22 if pieces == 1 else 500 * 21)
    sealer = Sealer(KEYS, "meters", "load", LIFE)
    words = np.sort(np.random.default_rng(3).integers(0, 2**64, 1400, np.uint64))
    entries = Entries(words, words[::-1].copy(), np.arange(1, 1401))
    head = sealer.write("segment", 4, bytes(32), entries, fresh=tmp_path / "new", final=tmp_path / "file")
    places = padded(1400)
    assert (tmp_path / "file").stat().st_size == 8 + 124 + places * 21 + 28 * (1 if pieces == 1 else -(-places // 500))
    found, read = sealer.read("segment", tmp_path / "file", 4)
    assert found == head
    assert [read.high.tolist(), read.low.tolist()] == [words.tolist(), words[::-1].tolist()]
    assert read.spent.tolist() == list(range(1, 1401))

"""The tally of a lifetime on disk: what it holds, what it refuses, and what it never shows."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import resource
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from chronodp.engines import LONGEST_LIFE
from chronodp.errors import (
    ChronodpError,
    InvalidArgument,
    LedgerSetBack,
    LedgerUnavailable,
    StreamConflict,
    TallyMismatch,
    UnknownDocument,
)
from chronodp.ledger import Keys
from chronodp.lifetime.entries import Entries, merge, nobody, used_by
from chronodp.lifetime.events import forget, pack_event, read_events, same
from chronodp.lifetime.rebuilding import rebuild
from chronodp.lifetime.segments import BEGINNING, Sealer, next_head, padded
from chronodp.lifetime.tally import LifeTally, Seen
from tests.cases import raising

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
        assert len(one.people()) == 4


def test_a_folder_is_of_one_series(tmp_path: Path) -> None:
    """Two series in one folder would take each other's segments for orphans, and remove them."""
    folder = tmp_path / "t"
    tally_in(folder).make()
    tally_in(folder).make()  # opened again, where the first time was not paid
    other_keys = Keys(signing=bytes(32), sealing=bytes(32))
    for other in (tally_in(folder, name="other"), tally_in(folder, keys=other_keys)):
        with pytest.raises(InvalidArgument, match="new or empty"):
            other.make()
    filled(tmp_path / "u", steps_of(5))
    with pytest.raises(InvalidArgument, match="new or empty"):
        tally_in(tmp_path / "u").make()


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


def test_pieces_hold_whole_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for pieces in [1, 3]:
        monkeypatch.setattr("chronodp.lifetime.segments._PIECE", 2**22 if pieces == 1 else 500 * 21)
        file = tmp_path / f"{pieces}"
        sealer = Sealer(KEYS, "meters", "load", LIFE)
        words = np.sort(np.random.default_rng(3).integers(0, 2**64, 1400, np.uint64))
        entries = Entries(words, words[::-1].copy(), np.arange(1, 1401))
        head = sealer.write("segment", 4, bytes(32), entries, fresh=tmp_path / "new", final=file)
        places = padded(1400)
        sealed = 1 if pieces == 1 else -(-places // 500)
        assert file.stat().st_size == 8 + 124 + places * 21 + 28 * sealed, pieces
        found, read = sealer.read("segment", file, 4)
        assert found == head, pieces
        assert [read.high.tolist(), read.low.tolist()] == [words.tolist(), words[::-1].tolist()], pieces
        assert read.spent.tolist() == list(range(1, 1401)), pieces


def test_a_share_takes_the_bytes_that_a_life_needs(tmp_path: Path) -> None:
    for life in [1, 255, 256, LONGEST_LIFE - 1, LONGEST_LIFE]:
        tally = tally_in(tmp_path / f"{life}", life=life)
        tally.make()
        tally.verify(0, BEGINNING)
        entries = Entries.of([(2**64 - 1, 0, life), (0, 2**64 - 1, 1)])
        head = tally.write(1, entries)
        tally.announce(1)
        tally.write(2, entries)
        tally.announce(2)
        again = tally_in(tmp_path / f"{life}", life=life)
        mark(tmp_path / f"{life}", 1)
        again.verify(1, head)
        assert used(again, (2**64 - 1, 0), (0, 2**64 - 1)) == [life, 1], life
        assert used(tally, (2**64 - 1, 0), (0, 2**64 - 1)) == [life, min(life, 2)], life
        size = segment_of(tmp_path / f"{life}", 1).stat().st_size
        assert size == 8 + 124 + 28 + 1024 * (16 + len(f"{life:x}") // 2 + len(f"{life:x}") % 2), life
        with raising(InvalidArgument, match="life", case=life):
            tally_in(tmp_path / f"{life}", life=LONGEST_LIFE + 1)


def mark(folder: Path, step: int) -> None:
    """Leave the marks of a folder as they were after a step."""
    (folder / "announced").write_text(f'{{"saw":{{"load":{step}}}}}', encoding="ascii")


def test_a_mark_that_is_lost_or_behind_is_refused(tmp_path: Path) -> None:
    for steps in range(5):
        folder = tmp_path / f"t{steps}"
        tally, heads = filled(folder, steps_of(*range(1, steps + 1)))
        kept = (folder / "announced").read_bytes()
        edits = [b"", b"\n", b'{"saw":{"lord":9}}', *(b'{"saw":{"load":%d}}' % old for old in range(steps - 1))]
        for edit in (None, *edits):
            (folder / "announced").unlink()
            if edit is not None:
                (folder / "announced").write_bytes(edit)
            for ask in (tally_in(folder), tally):
                with pytest.raises(TallyMismatch, match=f"step {steps} in the tally of 'load' is not marked"):
                    ask.verify(steps, heads[steps])
                with pytest.raises(TallyMismatch, match="is not marked"):  # nor is it made up for without a word
                    ask.announce(steps)
            (folder / "announced").write_bytes(kept)
            tally.verify(steps, heads[steps])
        (folder / "announced").write_bytes(b"no marks")
        with pytest.raises(LedgerUnavailable, match="announced is damaged"):
            tally.verify(steps, heads[steps])


def test_a_step_whose_job_died_is_marked_before_the_next_is_committed(tmp_path: Path) -> None:
    tally, heads = filled(tmp_path / "t", steps_of(1, 2))
    for step in (3, 4, 5):  # each dies between the commit and the mark
        job = tally_in(tmp_path / "t")
        job.verify(step - 1, heads[step - 1])
        heads.append(job.write(step, steps_of(1)[0]))
    tally.verify(5, heads[5])
    with pytest.raises(LedgerSetBack, match="its tally has seen 5"):
        tally.verify(4, heads[4])


def test_a_folder_that_is_not_the_series_own_is_called_so(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    tally, heads = filled(folder, steps_of(1, 2, 3))
    kept = (folder / "series").read_bytes()
    for edit in (None, b"", kept[:-1], kept + b"0", bytes([kept[0] ^ 1]) + kept[1:], b"\xff"):
        (folder / "series").unlink(missing_ok=True)
        if edit is not None:
            (folder / "series").write_bytes(edit)
        for ask in (tally.seen, lambda: tally.verify(3, heads[3]), lambda: tally.announce(3)):
            with pytest.raises(TallyMismatch, match="is not that of the tally of 'load'"):
                ask()
    (folder / "series").write_bytes(kept)
    tally.verify(3, heads[3])
    for other in (tally_in(folder, name="other"), tally_in(folder, keys=Keys.create())):
        with pytest.raises(TallyMismatch, match="is not that of the tally"):  # not that a ledger was set back
            other.seen()


def test_a_ledger_behind_its_tally_is_refused(tmp_path: Path) -> None:
    tally, heads = filled(tmp_path / "t", steps_of(1, 2, 3))
    for step in (0, 1, 2):  # by one as well: the mark tells a step that was announced from one that nobody committed
        with pytest.raises(
            LedgerSetBack, match=rf"knows {step} steps of 'load' and its tally has seen 3: .*restored fr"
        ):
            tally.verify(step, heads[step])
    mark(tmp_path / "t", 1)
    with pytest.raises(LedgerSetBack, match="its tally has seen 2"):  # by segments alone
        tally.verify(1, heads[1])
    tally.verify(2, heads[2])  # what it would be if nobody had committed the third
    tally.verify(3, heads[3])
    tally.compact()
    mark(tmp_path / "t", 2)
    with pytest.raises(LedgerSetBack, match="its tally has seen 3"):  # by its base
        tally.verify(2, heads[2])


def test_a_tally_behind_its_ledger_is_refused(tmp_path: Path) -> None:
    tally, heads = filled(tmp_path / "t", steps_of(1, 2, 3))
    mark(tmp_path / "t", 2)
    segment_of(tmp_path / "t", 3).unlink()
    for one in (tally, tally_in(tmp_path / "t")):
        with pytest.raises(TallyMismatch, match="step 3 in the tally of 'load' is missing"):
            one.verify(3, heads[3])
        with pytest.raises(StreamConflict, match="was not verified"):
            used(one, (1, 7))
    tally.verify(2, heads[2])
    segment_of(tmp_path / "t", 1).unlink()
    with pytest.raises(TallyMismatch, match="step 1 in the tally of 'load' is missing"):
        tally.verify(2, heads[2])


def test_every_flipped_bit_is_noticed(tmp_path: Path) -> None:
    for kind in ["segment", "base"]:
        tally, heads = filled(tmp_path / kind, steps_of(1, 2))
        if kind == "base":
            tally.compact()
        (path,) = [one for one in (tmp_path / kind).iterdir() if one.name.startswith("000000000002")]
        content = path.read_bytes()
        for place in (0, 7, 8, 30, 131, 132, 150, len(content) // 2, len(content) - 1):
            changed = bytearray(content)
            changed[place] ^= 1 << (place % 8)
            path.write_bytes(changed)
            with raising(TallyMismatch, match="step 2 in the tally of 'load' was changed", case=kind):
                tally.verify(2, heads[2])
        for cut in (content[:-1], content[:140], content[:3], b"", content + b"\0"):
            path.write_bytes(cut)
            with raising(TallyMismatch, match="step 2", case=kind):
                tally.verify(2, heads[2])
        path.write_bytes(content)
        tally.verify(2, heads[2])


def test_segments_of_other_steps_series_and_keys_do_not_serve(tmp_path: Path) -> None:
    tally, heads = filled(tmp_path / "t", steps_of(4, 4))
    one, two = segment_of(tmp_path / "t", 1), segment_of(tmp_path / "t", 2)
    shutil.copy(one, two)  # the same people and amounts: the step alone differs
    with pytest.raises(TallyMismatch, match="step 2"):
        tally.verify(2, heads[2])
    for place, options in (("u", {"name": "other"}), ("v", {"keys": Keys.create()}), ("w", {"life": LIFE << 16})):
        other = tally_in(tmp_path / place, **options)
        other.make()
        shutil.copy(one, tmp_path / place)
        with pytest.raises(TallyMismatch, match="step 1"):
            other.verify(1, heads[1], seen=Seen(0, 0, 0))


def test_a_base_of_another_history_does_not_serve(tmp_path: Path) -> None:
    tally, heads = filled(tmp_path / "t", steps_of(1, 2))
    other, _ = filled(tmp_path / "u", steps_of(2, 1))
    other.compact()
    shutil.copy(tmp_path / "u" / "000000000002.base", tmp_path / "t")
    with pytest.raises(TallyMismatch, match="step 2 in the tally of 'load' is of another history"):
        tally.verify(2, heads[2])


def test_orphans_do_nothing_and_go_once_their_step_is_committed(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    first, heads = filled(folder, steps_of(1))
    second = tally_in(folder)
    second.verify(1, heads[1])
    lost, won = steps_of(5, 6)
    second.write(2, lost)
    first.write(2, lost)  # given up, and written again
    head = first.write(2, won)
    assert len(list(folder.glob("000000000002.*"))) == 3
    second.verify(1, heads[1])
    assert used(second, (SECRET, SECRET)) == [1]
    first.announce(2)
    second.verify(2, head)
    assert used(second, (SECRET, SECRET)) == used(first, (SECRET, SECRET)) == [7]
    assert len(list(folder.glob("000000000002.*"))) == 1
    late = tally_in(folder)
    late.verify(2, head)
    shutil.copy(segment_of(folder, 2), folder / "000000000001.00000000.segment")  # by a slow job, of an old step
    late.verify(2, head)
    assert len(list(folder.glob("000000000001.*"))) == 1


def test_a_job_that_another_overtakes_begins_anew(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    first, heads = filled(folder, steps_of(1))
    second = tally_in(folder)
    seen = second.seen()  # and the ledger stood at step 1
    head = first.write(2, steps_of(5)[0])
    first.announce(2)
    first.compact()
    with pytest.raises(StreamConflict, match="has gone on past step 1 elsewhere"):  # no word of a ledger set back
        second.verify(1, heads[1], seen=seen)
    second.verify(2, head, seen=seen)
    with pytest.raises(StreamConflict, match="stands at step 2: 4 is not the next"):
        second.write(4, steps_of(5)[0])


def test_compacting_changes_nothing_but_files(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    tally, heads = filled(folder, steps_of(1, 2, 3, LIFE))
    before = tally.people()
    abandoned = folder / "000000000001.00000000.new"
    abandoned.touch()
    at_work = folder / "000000000004.00000000.new"
    at_work.touch()
    os.utime(abandoned, (0, 0))
    tally.compact()
    assert sorted(path.suffix for path in folder.iterdir()) == ["", "", ".base", ".new"]
    assert at_work.exists()
    for one in (tally, tally_in(folder)):
        one.verify(4, heads[4])
        assert one.people().high.tolist() == before.high.tolist()
        assert one.people().spent.tolist() == before.spent.tolist()
        assert used(one, (SECRET, SECRET)) == [LIFE]
    head = tally.write(5, steps_of(8)[0])
    tally.announce(5)
    tally.compact()
    assert sorted(path.suffix for path in folder.iterdir()) == ["", "", ".base", ".new"]
    again = tally_in(folder)
    again.verify(5, head)
    assert used(again, (1, 7)) == [9]


def test_a_crash_while_compacting_leaves_files_that_are_not_needed(tmp_path: Path) -> None:
    class Died(Exception):
        pass

    folder = tmp_path / "t"
    _, heads = filled(folder, steps_of(1, 2, 3))
    for point in ("base begun", "base half written", "base synced", "base written", "old segment removed") * 2:

        def reached(name: str, point: str = point) -> None:
            if name == point:
                raise Died

        dying = LifeTally(folder, KEYS, "meters", "load", LIFE, reached=reached)
        dying.verify(3, heads[3])
        with suppress(Died):  # in the second round no segment is left to be removed
            dying.compact()
        again = tally_in(folder)
        again.verify(3, heads[3])
        assert used(again, (SECRET, SECRET), (1, 7)) == [6, 1]


def test_a_missing_folder_is_refused_and_none_is_made(tmp_path: Path) -> None:
    tally = tally_in(tmp_path / "t")
    for ask in (tally.seen, lambda: tally.verify(0, BEGINNING), lambda: tally.announce(1)):
        with pytest.raises(LedgerUnavailable):
            ask()
    assert not (tmp_path / "t").exists()
    with pytest.raises(LedgerUnavailable, match="cannot be made; nothing was spent"):
        tally_in(tmp_path / "nowhere" / "t").make()
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "letter.txt").touch()
    with pytest.raises(InvalidArgument, match="a folder that is new or empty"):
        tally.make()
    (tmp_path / "file").touch()
    with pytest.raises(LedgerUnavailable, match="cannot be made"):
        tally_in(tmp_path / "file").make()


def test_a_folder_that_goes_away_is_refused_before_anything_is_told(tmp_path: Path) -> None:
    tally, heads = filled(tmp_path / "t", steps_of(1))
    (tmp_path / "t").rename(tmp_path / "away")
    with pytest.raises(
        LedgerUnavailable, match="cannot be written: its disk is full, or its folder is read-only or mis"
    ):
        tally.write(2, steps_of(5)[0])
    (tmp_path / "away").rename(tmp_path / "t")
    tally.verify(1, heads[1])


def test_a_full_disk_leaves_nothing_half_done(tmp_path: Path) -> None:
    tally, heads = filled(tmp_path / "t", steps_of(1))
    before = sorted((tmp_path / "t").iterdir())
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, most))  # no file of this process can grow beyond
    try:
        for write in (lambda: tally.write(2, steps_of(5)[0]), tally.compact):
            with pytest.raises(LedgerUnavailable, match="its disk is full"):
                write()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    assert sorted((tmp_path / "t").iterdir()) == before
    tally.verify(1, heads[1])
    assert tally.write(2, steps_of(5)[0])


def test_files_are_their_owners_alone_and_of_padded_sizes(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    filled(folder, [Entries.of((number, 1, 1) for number in range(people)) for people in (0, 1, 900, 1024)])
    sizes = {path.stat().st_size for path in folder.glob("*.segment")}
    assert sizes == {8 + 124 + 28 + 1024 * 21}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert re.fullmatch(r"announced|series|\d{12}\.[0-9a-f]{8}\.segment", path.name)
    for rows in (1025, 5000, 10**5, 10**7):
        assert rows <= padded(rows) <= 1.05 * rows + 1
        assert padded(padded(rows)) == padded(rows)
    assert (8 + 124 + 28 * 60) + padded(10**7) * 22 <= 240e6  # with six bytes of shares


def test_nothing_of_the_tally_is_shown(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    tally, heads = filled(folder, steps_of(4242))
    secrets = (str(SECRET), f"{SECRET:x}", "4242")
    shown = [repr(tally), str(tally.seen()), repr(tally.people())]
    refusals: list[Callable[[], object]] = [
        lambda: tally.verify(2, heads[1]),
        lambda: tally.verify(1, bytes(32)),
        lambda: tally.write(2, Entries.of([(SECRET, SECRET, LIFE + 1)])),
        lambda: tally.write(7, steps_of(4242)[0]),
        lambda: same(tally, (SECRET, SECRET), (SECRET, SECRET), squared=True),
        lambda: pack_event(1, Entries.of((SECRET, number, 4242) for number in range(3))),
    ]
    for refused in refusals:
        tally.verify(1, heads[1])
        with pytest.raises(ChronodpError) as error:
            refused()
        shown += [str(error.value), repr(error.value)]
    assert not [text for text in shown for secret in secrets if secret in text]
    content = b"".join(path.read_bytes() for path in folder.iterdir())
    assert SECRET.to_bytes(8, "big") not in content
    assert SECRET.to_bytes(8, "little") not in content


def segment_of(folder: Path, step: int) -> Path:
    (path,) = folder.glob(f"{step:012d}.*.segment")
    return path


WHOLE = 2**62


# Few words, so that first words are often equal and last words alone decide.
PEOPLE = st.tuples(st.sampled_from([0, 1, 2, 2**63, 2**64 - 1]), st.sampled_from([0, 1, 5, 2**63, 2**64 - 1]))
TABLES = st.dictionaries(PEOPLE, st.integers(1, WHOLE))


def entries_of(table: dict[tuple[int, int], int]) -> Entries:
    return Entries.of((high, low, spent) for (high, low), spent in table.items())


def as_table(entries: Entries) -> dict[tuple[int, int], int]:
    columns = zip(entries.high.tolist(), entries.low.tolist(), entries.spent.tolist(), strict=True)
    return {(high, low): spent for high, low, spent in columns}


@given(TABLES, TABLES, st.integers(1, WHOLE), st.lists(PEOPLE))
@example({(1, 1): WHOLE}, {(1, 1): WHOLE}, WHOLE, [(1, 1)])  # two whole lives do not wrap round
def test_sums_are_those_of_a_dictionary_and_stay_at_a_life(
    first: dict[tuple[int, int], int], second: dict[tuple[int, int], int], life: int, asked: list[tuple[int, int]]
) -> None:
    first = {person: min(spent, life) for person, spent in first.items()}
    together = merge(entries_of(first), entries_of(second), life)
    expected = {one: min(life, first.get(one, 0) + second.get(one, 0)) for one in first.keys() | second.keys()}
    assert as_table(together) == expected
    high, low = np.array([one[0] for one in asked], np.uint64), np.array([one[1] for one in asked], np.uint64)
    assert used_by(together, high, low).tolist() == [expected.get(one, 0) for one in asked]


def test_entries_show_nothing_and_must_be_in_order() -> None:
    assert repr(Entries.of([(12345, 67890, 4242)])) == "Entries()"
    assert len(nobody()) == 0
    words, amounts = np.array([2, 1], np.uint64), np.array([1, 1], np.int64)
    with pytest.raises(InvalidArgument, match="ascending"):
        Entries(words, words, amounts)
    with pytest.raises(InvalidArgument, match="no entry twice"):
        Entries.of([(1, 1, 1), (1, 1, 1)])
    with pytest.raises(InvalidArgument, match="above 0"):
        Entries.of([(1, 1, 0)])
    with pytest.raises(InvalidArgument, match="one length"):
        Entries(words[:1], words, amounts)
    with pytest.raises(InvalidArgument, match="uint64"):
        Entries(amounts, words, amounts)  # type: ignore[arg-type]


def test_who_is_forgotten_is_used_up(tmp_path: Path) -> None:
    tally, _ = filled(tmp_path / "t", steps_of(5))
    for person in ((1, 7), (99, 99)):  # also one who never counted
        tally.write(tally._step + 1, forget(tally, person))
        tally.announce(tally._step + 1)
        assert used(tally, person) == [LIFE]


@given(st.integers(0, LIFE), st.integers(0, LIFE), st.booleans())
def test_two_who_are_one_have_used_what_both_have(a: int, b: int, squared: bool) -> None:
    class Known:
        life = LIFE

        def used(self, *_: object) -> object:
            return np.array([a, b])

    taken = same(cast(LifeTally, Known()), (1, 1), (2, 2), squared=squared)
    columns = zip(taken.high.tolist(), taken.spent.tolist(), strict=True)
    amounts: dict[int, int] = dict(columns)
    assert amounts.pop(1) == LIFE
    after = b + amounts.get(2, 0)
    more = after - a - b  # (√a + √b)² ≤ after, and not for after − 1: by squares, exactly
    if after < LIFE:
        assert more >= 0
        assert more**2 >= (4 * a * b if squared else 0)
        assert more == 0 or (more - 1) ** 2 < 4 * a * b
    else:
        assert after == LIFE
        assert not squared or a + b >= LIFE or (LIFE - 1 - a - b) ** 2 < 4 * a * b
        assert squared or a + b >= LIFE


def test_a_lost_tally_is_rebuilt_from_what_each_step_took(tmp_path: Path) -> None:
    steps = steps_of(1, 2, 3)
    tally, heads = filled(tmp_path / "t", steps)
    events: list[Entries] = [same(tally, (1, 7), (2, 7), squared=True)]
    heads.append(tally.write(4, events[0]))
    tally.announce(4)
    copies = [pack_event(4, events[0])]
    assert len(pack_event(5, forget(tally, (1, 7)))) == len(copies[0])

    def entries(step: int, before: LifeTally) -> Entries:
        assert used(before, (SECRET, SECRET)) == [step * (step - 1) // 2]  # as it stood
        return read_events(copies).get(step) or steps[step - 1]

    lost = tally_in(tmp_path / "u")
    rebuild(lost, 4, heads[4], entries)
    for one in (lost, tally_in(tmp_path / "u")):
        one.verify(4, heads[4])
        assert (
            used(one, (SECRET, SECRET), (1, 7), (2, 7)) == [6, LIFE, 6] == used(tally, (SECRET, SECRET), (1, 7), (2, 7))
        )
    with pytest.raises(InvalidArgument, match="new or empty"):
        rebuild(lost, 4, heads[4], entries)
    with pytest.raises(UnknownDocument, match="is damaged"):
        read_events([copies[0][:-1]])


def test_a_tally_rebuilt_from_other_tables_is_refused(tmp_path: Path) -> None:
    for wrong in [0, 1, 2]:
        steps = steps_of(1, 2, 3)
        _, heads = filled(tmp_path / f"t{wrong}", steps)
        steps[wrong] = steps_of(1, 2, 4)[2]  # one amount differs
        lost = tally_in(tmp_path / f"u{wrong}")
        with raising(TallyMismatch, match="the tables do not give what was booked", case=wrong):
            rebuild(lost, 3, heads[3], lambda step, _, steps=steps: steps[step - 1])  # type: ignore[misc]
        assert not list((tmp_path / f"u{wrong}").iterdir()), wrong
        with raising(TallyMismatch, match="is not that of the tally of 'load'", case=wrong):
            lost.verify(3, heads[3])

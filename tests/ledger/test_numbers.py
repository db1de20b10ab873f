"""Numbers beside a release's text: one form, every byte of it settled by the text, stored with the release or not."""

from __future__ import annotations

import json
import shutil
import struct
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.ipc
import pytest
from hypothesis import example, given, strategies as st

from chronodp import User
from chronodp.errors import CertificateInvalid, ChronodpError, InvalidArgument, LedgerUnavailable, UnknownDocument
from chronodp.ledger import Ledger, PackedNumbers, Written, load_release, pack, save_release, verify, verify_file
from chronodp.ledger.numbers import MOST_CELLS, PART, pack_part
from chronodp.privacy import Certificate, canonical, load
from tests.conftest import Trials
from tests.ledger.examples import CERTIFICATE, COST, fulfil

WHOLE = st.integers(-(2**63), 2**63 - 1)


def written(*arrays: list[int] | np.ndarray[Any, Any]) -> Written:
    described, parts = pack([np.asarray(array, np.int64) for array in arrays])
    return Written(canonical({"kind": "release", "noisy": described}), parts)


@cache
def several() -> np.ndarray[Any, Any]:
    """Numbers of three parts, all different."""
    numbers = np.random.default_rng(0).integers(-100, 100, 2 * PART + 3)
    numbers.flags.writeable = False
    return numbers


@cache
def large() -> Written:
    return written(several())


def made_by(ledger: Ledger, release: Written, request: str = "first") -> Any:
    ledger.open("meters", unit=User(), epsilon=10.0)

    def produce() -> tuple[Written, Certificate]:
        return release, CERTIFICATE

    return fulfil(ledger, request, produce=produce)


@given(st.lists(WHOLE, min_size=1, max_size=40), st.integers(0, 40))
@example([-(2**63), 2**63 - 1], 1)
def test_what_is_packed_is_read_again(numbers: list[int], cut: int) -> None:
    whole = written(numbers[:cut], numbers[cut:])
    assert [int(number) for part in whole.unpack() for number in part] == numbers
    assert whole == written(numbers)  # where one array ends is no part of it


def test_a_part_takes_as_many_bytes_as_its_widest_number(subtests: pytest.Subtests) -> None:
    for edge in [127, 128, -128, -129, 2**39 - 1, 2**39, -(2**39), 2**63 - 1, -(2**63)]:
        with subtests.test(edge=edge):
            width = next(width for width in range(1, 9) if -(2 ** (8 * width - 1)) <= edge < 2 ** (8 * width - 1))
            packed = pack_part(np.array([0, edge, 1], "<i8").data.cast("B"))
            assert len(packed) == 3 * width


@pytest.mark.slow
def test_the_digested_form_is_what_the_proof_says() -> None:
    import hashlib

    numbers = several()
    described = json.loads(large().text)["noisy"]
    raw = struct.pack(f"<{len(numbers)}q", *numbers.tolist())
    pieces = [raw[begin : begin + 8 * PART] for begin in range(0, len(raw), 8 * PART)]
    assert described == {
        "kind": "numbers",
        "cells": len(numbers),
        "form": "little-endian int64",
        "part": 2**20,
        "sha256": [hashlib.sha256(piece).hexdigest() for piece in pieces],
    }


def test_no_other_description_is_taken(subtests: pytest.Subtests) -> None:
    for change in [
        {"cells": PART},
        {"cells": 0},
        {"cells": 3 * PART + 1},
        {"cells": MOST_CELLS + 1},
        {"cells": 2.0 * PART},
        {"form": "big-endian int64"},
        {"part": 2**21},
        {"sha256": ["0" * 64] * 4},
        {"sha256": ["0" * 64] * 2},
        {"sha256": ["0" * 63 + "G"] * 3},
        {"sha256": ["A" * 64] * 3},
        {"compression": "zstd"},
    ]:
        with subtests.test(change=change):
            described = json.loads(large().text)["noisy"]
            load(described, PackedNumbers)
            with pytest.raises((InvalidArgument, UnknownDocument)):
                load(described | change, PackedNumbers)


def tampered(parts: tuple[bytes, ...]) -> dict[str, tuple[bytes, ...]]:
    first, second, last = parts
    return {
        "part 1 of 3": (bytes([first[0] ^ 1]) + first[1:], second, last),
        "part 3 of 3": (first, second, last[:-1]),
        "part 2 of 3": (first, first, last),
        "part 1 of 3 ": (second, first, last),
        "part 3 of 3 ": (first, second, b""),
        "3 parts, and 2 are here": (first, last),
        "3 parts, and 4 are here": (first, second, last, last),
        "3 parts, and 0 are here": (),
    }


def test_parts_that_were_changed_left_out_or_moved_are_refused() -> None:
    whole = large()
    for what, parts in tampered(whole.parts).items():
        with pytest.raises(CertificateInvalid, match=what.strip()):
            list(Written(whole.text, parts).unpack())


def test_a_wider_packing_of_the_same_numbers_is_the_same_release() -> None:
    # How a part is packed is not signed: what counts is which numbers come out.
    numbers = np.array([1, -2, 3], "<i8")
    whole = written(numbers)
    assert [part.tolist() for part in Written(whole.text, (numbers.tobytes(),)).unpack()] == [[1, -2, 3]]


def test_numbers_are_stored_with_their_release_and_read_again(ledger: Ledger) -> None:
    whole = large()
    first = made_by(ledger, whole)
    again = made_by(ledger, written([0]))  # not drawn: the stored one is returned
    assert again.repeated
    assert again.written == first.written == whole
    for found in (ledger.stored.release("meters", 1), ledger.stored.release_of("meters", "first")):
        assert found is not None
        assert found.written == whole
    assert ledger.stored.releases("meters")[0].parts == ()


def test_a_release_without_its_parts_is_never_signed(ledger: Ledger) -> None:
    whole = large()
    with pytest.raises(CertificateInvalid, match="3 parts, and 2 are here"):
        made_by(ledger, Written(whole.text, whole.parts[:2]))
    assert ledger.status("meters").unreleased == ("first",)
    assert not ledger.chain("meters")


def test_a_disk_that_fills_up_among_the_parts_leaves_none_and_what_was_drawn_is_stored_later(tmp_path: Path) -> None:
    fill: list[str] = []

    def reached(point: str) -> None:
        if point == "noise drawn" and not fill:
            fill.append(point)
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            connection.execute(f"PRAGMA max_page_count = {pages + 300}")  # room for the first part, not for the second

    with Ledger(tmp_path / "budget.db", reached=reached) as ledger:
        connection = ledger._store._connections.get()  # type: ignore[attr-defined]
        with pytest.raises(
            LedgerUnavailable, match=r"disk is full\. Request 'first' was debited, and its release is drawn"
        ):
            made_by(ledger, large())
        connection.execute("PRAGMA max_page_count = 1000000")
        assert ledger.status("meters").unreleased == ("first",)
        assert connection.execute("SELECT COUNT(*) FROM parts").fetchone() == (0,)
        assert not ledger.chain("meters")
        assert made_by(ledger, large(), "second").parts
        kept = made_by(ledger, written([several()[0] + 1]))  # what is drawn anew is not what is stored
        assert (kept.written, kept.signed.link.number) == (large(), 2)
        assert not ledger.status("meters").unreleased


def test_a_disk_without_room_is_refused_before_anything_is_spent(ledger: Ledger) -> None:
    ledger.open("meters", unit=User(), epsilon=10.0)
    ledger._store.room = lambda: 2**26  # type: ignore[method-assign]  # 8 MiB of numbers fit, 80 do not
    ledger.check_fits("meters", COST, unit=User(), cells=2**20 + 1)
    with pytest.raises(LedgerUnavailable, match=r"room for 67 MB, and a release of 10,485,760 numbers may take 85 MB"):
        ledger.check_fits("meters", COST, unit=User(), cells=10 * 2**20)


def saved(ledger: Ledger, path: Path, release: Written) -> Path:
    made = made_by(ledger, release)
    return save_release(path, made.written, made.signed)


@pytest.mark.slow
def test_a_file_holds_all_of_it_and_is_arrow(ledger: Ledger, tmp_path: Path) -> None:
    path = saved(ledger, tmp_path / "large.arrow", large())
    release, signed = load_release(path)
    assert release == large()
    assert verify_file(path, ledger.public_key) == signed.link
    with pyarrow.memory_map(str(path)) as file:  # any reader of Arrow shows the numbers
        assert pyarrow.ipc.open_file(file).read_all()["noisy"].to_numpy().tolist() == several().tolist()


def rewritten(path: Path, change: Any) -> None:
    with pyarrow.memory_map(str(path)) as file:
        table = pyarrow.ipc.open_file(file).read_all()
    schema, batches = change(table.schema, table.to_batches())
    with pyarrow.ipc.new_file(str(path), schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _changed(batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
    numbers = batch.column(0).to_numpy().copy()
    numbers[5] += 1
    return pyarrow.record_batch([pyarrow.array(numbers)], schema=batch.schema)


def _with_text(schema: pyarrow.Schema, old: bytes, new: bytes) -> pyarrow.Schema:
    return schema.with_metadata({b"chronodp": schema.metadata[b"chronodp"].replace(old, new)})


TAMPERED = {
    "changed": (lambda s, b: (s, [b[0], _changed(b[1]), b[2]]), "part 2 of 3 of the numbers is not the one"),
    "reordered": (lambda s, b: (s, [b[1], b[0], b[2]]), "part 1 of 3 of the numbers is not the one"),
    "shorter": (lambda s, b: (s, [b[0], b[1], b[2].slice(1)]), "part 3 of 3 of the numbers is not the one"),
    "left out": (lambda s, b: (s, b[:2]), r"3 parts, and large\.arrow holds 2"),
    "added": (lambda s, b: (s, [*b, b[2]]), r"3 parts, and large\.arrow holds 4"),
    "digest": (lambda s, b: (_with_text(s, b"sha256", b"sha265"), b), "has no field sha265|belongs to another release"),
    "cells": (lambda s, b: (_with_text(s, b"2097155", b"2097154"), b), "part 3 of 3|belongs to another release"),
    "no text": (lambda s, b: (s.with_metadata(None), b), r"large\.arrow does not hold a release"),
}


@pytest.fixture(scope="module")
def signed_file(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A file of three parts that nobody changes, and the key that signed it."""
    folder = tmp_path_factory.mktemp("signed")
    with Ledger(folder / "budget.db") as ledger:
        return saved(ledger, folder / "large.arrow", large()), ledger.public_key


@pytest.mark.parametrize("kind", TAMPERED)
def test_a_file_that_was_tampered_with_is_refused(kind: str, signed_file: tuple[Path, str], tmp_path: Path) -> None:
    change, words = TAMPERED[kind]
    whole, public_key = signed_file
    path = tmp_path / "large.arrow"
    shutil.copy(whole, path)
    rewritten(path, change)
    for check in (lambda: verify_file(path, public_key), lambda: load_release(path)):
        with pytest.raises(ChronodpError, match=words):
            check()


def test_other_columns_and_missing_numbers_are_refused(tmp_path: Path) -> None:
    with Ledger(tmp_path / "budget.db") as ledger:
        path = saved(ledger, tmp_path / "large.arrow", written([1, 2, 3]))
        kept = path.read_bytes()
        for name, array in (("noisy", [1, None, 3]), ("values", [1, 2, 3]), ("noisy", [1.0, 2.0, 3.0])):
            column = pyarrow.array(array)

            def change(schema: Any, _: Any, name: str = name, column: Any = column) -> Any:
                other = pyarrow.schema([(name, column.type)], metadata=schema.metadata)
                return other, [pyarrow.record_batch([column], schema=other)]

            rewritten(path, change)
            with pytest.raises(UnknownDocument, match=r"large\.arrow does not hold the numbers of a release"):
                load_release(path)
            path.write_bytes(kept)
        load_release(path)


@pytest.mark.slow
def test_a_file_that_was_cut_off_or_damaged_is_refused(
    signed_file: tuple[Path, str], tmp_path: Path, trials: Trials
) -> None:
    with Ledger(tmp_path / "budget.db") as ledger:
        small = saved(ledger, tmp_path / "large.arrow", written([1, -2, 3]))
    chance = np.random.default_rng(1)
    # Of the large one nearly all is numbers, of the small one nearly all is the text, its link and what Arrow adds.
    for release, file, places in ((large(), signed_file[0], trials(40, least=4)), (written([1, -2, 3]), small, 40)):
        kept, path = file.read_bytes(), tmp_path / "large.arrow"
        for length in (8, 100, len(kept) // 2, len(kept) - 1):
            path.write_bytes(kept[:length])
            with pytest.raises(UnknownDocument, match=r"large\.arrow is cut off or damaged"):
                load_release(path)
        for place in chance.integers(8, len(kept), places).tolist():
            path.write_bytes(kept[:place] + bytes([kept[place] ^ 0x55]) + kept[place + 1 :])
            try:
                found, signed = load_release(path)
                verify(signed, ledger.public_key, release=found.text)
            except ChronodpError:
                continue
            assert found == release  # such as padding, which holds no number


def test_json_that_names_parts_is_not_the_whole_release(tmp_path: Path) -> None:
    with Ledger(tmp_path / "budget.db") as ledger:
        made = made_by(ledger, large())
    (tmp_path / "text.json").write_text(json.dumps(made.to_dict()), encoding="utf-8")
    with pytest.raises(CertificateInvalid, match="3 parts, and 0 are here"):
        load_release(tmp_path / "text.json")
    with pytest.raises(CertificateInvalid, match="3 parts, and 1 are here"):
        save_release(tmp_path / "some.arrow", Written(made.release, made.parts[:1]), made.signed)
    assert not (tmp_path / "some.arrow").exists()


def test_the_checks_notice_a_reader_that_takes_parts_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    import hashlib

    def anywhere(self: PackedNumbers, place: int, content: bytes | memoryview) -> None:
        """The mistake: a digest that is in the list, wherever it stands."""
        if hashlib.sha256(content).hexdigest() not in self.sha256:
            raise CertificateInvalid(f"part {place + 1} of 3")

    monkeypatch.setattr(PackedNumbers, "check", anywhere)
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        test_parts_that_were_changed_left_out_or_moved_are_refused()

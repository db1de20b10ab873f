"""Who holds which key: every engine gives the integers of the reference."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest
from sqlglot import exp

import chronodp.engines.embedded_keys as embedded_keys_module
import chronodp.engines.numbered_keys as numbered_keys_module
import chronodp.engines.people as people_module
from chronodp.engines import DuckDB, HeldKeys, KeysQuestion, Record, Reference, find_source, reference_held_keys
from chronodp.engines.attach import attached
from chronodp.engines.keys_kernel import Layout, choose
from chronodp.engines.keys_statement import people_statement, weights_statement
from chronodp.engines.numbered_keys import NumberedKeys, number_keys
from chronodp.engines.session import Session
from chronodp.errors import InvalidArgument
from tests.conftest import Trials
from tests.engines.held_keys import (
    ASKED,
    CALENDAR,
    PLAIN,
    digest,
    keyed,
    keyed_table,
    random_records,
)


@pytest.mark.slow
@pytest.mark.parametrize("name", ASKED)
def test_duckdb_and_the_text_hold_what_the_reference_holds(name: str, trials: Trials) -> None:
    asked = ASKED[name]
    for seed in range(trials(40, least=2)):
        records = random_records(random.Random(seed), (400, 0, 40, 1)[seed % 4], pages=seed)
        expected = reference_held_keys(keyed(records, asked), asked, key=f"k{seed}")
        source = find_source(keyed_table(records))
        found = DuckDB(threads=2).held_keys(source, asked, key=f"k{seed}")
        assert found.keys == expected.keys
        assert found.people.tolist() == expected.people.tolist()
        assert digest(found, asked) == digest(expected, asked)
        with attached(source, asked.reading.wanted, asked.reading.reading, memory=2**30, threads=2) as session:
            assert digest(_by_text(session, asked, f"k{seed}"), asked) == digest(expected, asked)


def _by_text(session: Session, asked: KeysQuestion, key: str) -> HeldKeys:
    def pairs(query: str) -> dict[bytes, int]:
        found: dict[bytes, int] = {}
        for batch in session.batches(query, 2**14):
            found |= dict(zip(*(column.to_pylist() for column in batch.columns), strict=True))
        return found

    people = pairs(people_statement(asked, session.parts, key=key, dialect="duckdb"))
    texts = sorted(people)

    def weigh(weights: np.ndarray, dropped: np.ndarray) -> np.ndarray:
        gone = [f"('{texts[place].hex()}')" for place in np.flatnonzero(dropped)] or ["(NULL)"]
        session.run(
            f"CREATE OR REPLACE TABLE dropped_ AS SELECT unhex(t) AS key_ FROM (VALUES {', '.join(gone)}) AS l(t)"
        )
        listed = ", ".join(f"({d}, {weight})" for d, weight in enumerate(weights.tolist(), start=1))
        session.run(f"CREATE OR REPLACE TABLE weights_ AS SELECT * FROM (VALUES {listed}) AS l(held, weight)")
        sums = pairs(weights_statement(asked, session.parts, key=key, dialect="duckdb"))
        return np.array([sums.get(text, 0) for text in texts], np.int64)

    counts = np.array([people[text] for text in texts], np.int64)
    return HeldKeys(tuple(text.decode() for text in texts), counts, asked.most, weigh)


def _forms(table: pyarrow.Table, folder: Path) -> Iterator[object]:
    order = np.random.default_rng(3).permutation(len(table))
    yield table.take(order)
    paths = []
    for part in range(3):
        paths.append(str(folder / f"{part}.parquet"))
        pyarrow.parquet.write_table(table.take(order[part::3]), paths[-1])
    yield paths
    pyarrow.csv.write_csv(table, folder / "all.csv")
    yield str(folder / "all.csv")
    yield table.to_pandas()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["user", "user-period", "event", "derived"])
def test_the_order_of_rows_and_where_they_lie_do_not_matter(name: str, tmp_path: Path) -> None:
    asked = ASKED[name]
    # In CSV files a key with spaces about it, or none, is another matter.
    records = [record for record in random_records(random.Random(8), 600, pages=30) if record.keys[1] != " a"]
    table = keyed_table(records)
    expected = digest(reference_held_keys(keyed(records, asked), asked, key="k"), asked)
    for form in _forms(table, tmp_path):
        assert digest(DuckDB(threads=2).held_keys(find_source(form), asked, key="k"), asked) == expected


@pytest.mark.slow
def test_many_rows_have_one_digest(tmp_path: Path, trials: Trials, monkeypatch: pytest.MonkeyPatch) -> None:
    chance, rows = random.Random(5), trials(100_000, least=5000)
    records = random_records(chance, rows, people=rows // 20, pages=rows // 11)
    table = keyed_table(records)
    asked = [ASKED[name] for name in ("user", "user-period")]
    expected = [digest(reference_held_keys(keyed(records, one), one, key="k"), one) for one in asked]
    assert [digest(DuckDB().held_keys(find_source(table), one, key="k"), one) for one in asked] == expected
    # Few people at a time, in files.
    for name, value in (("_ROWS", 500), ("_BYTES", 2**16)):
        monkeypatch.setattr(people_module, name, value)
    engine = DuckDB(memory=2**28, threads=2, folder=str(tmp_path))
    assert [digest(engine.held_keys(find_source(table), one, key="k"), one) for one in asked] == expected
    assert not list(tmp_path.iterdir())


def test_keys_of_one_number_are_chosen_by_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """All keys have the same number: the first in the order of bytes are chosen, on every engine."""
    asked = KeysQuestion(PLAIN, "page", 3)
    layout = Layout(4, 0, 3, asked.block_of_period, np.array([5, 5, 5, 5, 9, 5, 5]))
    seeds = tuple(np.array([number, number + 1], np.int64) for number in (7, 11, 13))
    words = np.array([6, 5, 3, 2, 16 + 6, 16 + 1, 16 + 5], np.uint64)
    assert choose(words, layout, (seeds[0], seeds[1], seeds[2])).keys.tolist() == [2, 3, 5, 1, 5, 6]
    records = random_records(random.Random(1), 300, pages=9)
    monkeypatch.setattr("chronodp.engines.reference_keys.number_of", lambda *_: 5)
    monkeypatch.setattr(numbered_keys_module, "key_number", lambda *_: exp.Literal.number(5))
    expected = reference_held_keys(keyed(records, asked), asked, key="k")
    assert digest(DuckDB().held_keys(find_source(keyed_table(records)), asked, key="k"), asked) == digest(
        expected, asked
    )


@pytest.mark.slow
def test_a_key_is_told_as_it_is_read_not_as_somebody_wrote_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody wrote 7 itself: whatever of their spellings is told, one person may have written it alone."""
    at = int(CALENDAR.edges[0])
    rows = [("a", "7.0"), ("b", "7.00"), ("c", "7.000"), ("d", "True"), ("e", "")]
    records = [Record(who, at, 0.0, ("north", page)) for who, page in rows]
    sources = [find_source(keyed_table(shuffled)) for shuffled in (records, records[::-1])]

    def told() -> list[tuple[tuple[str, ...], list[int]]]:
        found = [DuckDB().held_keys(source, ASKED["user"], key="k") for source in sources]
        return [(held.keys, held.people.tolist()) for held in found]

    assert told() == [(("7", "true"), [3, 1])] * 2
    monkeypatch.setattr(embedded_keys_module, "number_keys", any_spelling)
    assert [people for _, people in told()] == [[3, 1]] * 2
    assert all("7" not in keys for keys, _ in told())


def any_spelling(session: Session, asked: KeysQuestion, *, key: str) -> NumberedKeys:
    """The mutant: what one of the people wrote stands for all who hold the key."""
    right = number_keys(session, asked, key=key)
    written: dict[str, str] = {}
    for batch in session.batches("SELECT key_, any_value(written) FROM coded GROUP BY key_", 2**14):
        written |= dict(zip(*(column.to_pylist() for column in batch.columns), strict=True))
    spelled = [written[str(text)] for piece in right.texts for text in piece.to_pylist()]
    return replace(right, texts=[pyarrow.array(spelled, pyarrow.string())])


def test_a_key_pushed_out_of_every_choice_is_no_candidate() -> None:
    """Else one person would bring in as many lone keys as they like."""
    at = int(CALENDAR.edges[0])
    records = [Record("a", at, 0.0, ("north", f"{number}x")) for number in range(500)]
    for held in (
        reference_held_keys(keyed(records, ASKED["user"]), ASKED["user"], key="k"),
        DuckDB().held_keys(find_source(keyed_table(records)), ASKED["user"], key="k"),
    ):
        assert len(held.keys) == 3
        assert held.people.tolist() == [1, 1, 1]


def test_keys_are_in_the_order_of_their_bytes() -> None:
    records = random_records(random.Random(3), 3000, people=900, pages=50)
    held = DuckDB().held_keys(find_source(keyed_table(records)), ASKED["event"], key="k")
    assert list(held.keys) == sorted(held.keys, key=str.encode)
    assert {"é", "e\u0301", "a", "A", "ﬀ", "𝔞", "x" * 256} <= set(held.keys)
    assert not {"x" * 257, "ä" * 128 + "b"} & set(held.keys)
    with attached(find_source(keyed_table(records)), PLAIN.wanted, PLAIN.reading, memory=2**28) as session:
        assert session.row("SELECT (current_setting('default_collation') IN ('', 'binary'))::INT") == (1,)


def test_questions_that_bound_nobody_are_refused() -> None:
    days = tuple(period // 4 for period in range(len(CALENDAR)))
    with pytest.raises(InvalidArgument, match="max_keys"):
        KeysQuestion(PLAIN, "page", None)
    with pytest.raises(InvalidArgument, match="choose_by_period"):  # across a person's series: 2 m keys change
        KeysQuestion(PLAIN, "page", 2, blocks=days)
    with pytest.raises(InvalidArgument, match="blocks"):
        KeysQuestion(PLAIN, "page", 2, choose_by_period=True, blocks=days[:-1])
    with pytest.raises(InvalidArgument, match="blocks"):
        KeysQuestion(PLAIN, "page", 2, choose_by_period=True, blocks=days[::-1])
    with pytest.raises(InvalidArgument, match="rows_apart"):
        KeysQuestion(replace(PLAIN, user=None), "page", 2)
    with pytest.raises(InvalidArgument, match="rows_apart"):
        KeysQuestion(PLAIN, "page", 2, rows_apart=True)
    with pytest.raises(InvalidArgument, match="longest"):
        KeysQuestion(PLAIN, "page", 2, longest=0)


def test_what_is_held_is_not_printed_and_weights_are_checked() -> None:
    asked = ASKED["user"]
    held = Reference().held_keys(keyed(random_records(random.Random(1), 90), asked), asked, key="k")
    assert repr(held) == "HeldKeys(most=3)"
    with pytest.raises(InvalidArgument, match="weights"):
        held.weigh((5, 4))
    with pytest.raises(InvalidArgument, match="weights"):
        held.weigh((5, 4, -1))
    for dropped in (np.zeros(1, bool), np.zeros(len(held.keys), int)):
        with pytest.raises(InvalidArgument, match="dropped"):
            held.weigh((5, 4, 3), dropped)

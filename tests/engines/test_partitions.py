"""Stretches of people: more of them than 16 bits number, and rows that find their stretch in memory and on disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from chronodp.engines import (
    DuckDB,
    Question,
    embedded as embedded_module,
    find_source,
    kernel as kernel_module,
    people_index as people_index_module,
)
from chronodp.engines.attach import attached
from chronodp.engines.partitions import Partitions
from chronodp.engines.people_index import PeopleIndex
from chronodp.errors import UnreadableSource
from chronodp.privacy import Calendar, Grid

PEOPLE = 70_000  # beyond 2^16


def visits(days: NDArray[Any], people: int) -> pyarrow.Table:
    """Return a table in which everyone has a row each day."""
    who = np.repeat(np.arange(people), len(days))
    return pyarrow.table({"day": pyarrow.array(np.tile(days, people)), "who": pyarrow.array(who)})


@given(st.lists(st.lists(st.integers(0, 2**20), max_size=20), max_size=8), st.sampled_from([1, 200, 10**6]))
def test_rows_come_back_by_their_partition_in_order(batches: list[list[int]], memory: int) -> None:
    expected: dict[int, list[int]] = {}
    number = 0
    with Partitions((np.uint64, np.int32), memory=memory) as store:
        for batch in batches:
            rows = np.arange(number, number + len(batch))
            store.add(np.array(batch, np.uint32), rows.astype(np.uint64), rows.astype(np.int32))
            for where, row in zip(batch, rows.tolist(), strict=True):
                expected.setdefault(where, []).append(row)
            number += len(batch)
        for where in {*expected, 0, 2**20 + 1}:  # some hold nothing
            words, steps = store.take(where)
            assert sorted(words.tolist()) == sorted(steps.tolist()) == expected.get(where, [])


def test_what_a_batch_costs_does_not_hang_on_how_many_partitions_there_are(tmp_path: Path) -> None:
    with Partitions((np.uint64,), memory=1, folder=str(tmp_path)) as store:
        store.add(np.array([2**31, 5, 2**31], np.uint32), np.array([1, 2, 3], np.uint64))
        (files,) = tmp_path.iterdir()
        assert sorted(path.name for path in files.iterdir()) == ["2147483648.0", "5.0"]


@pytest.mark.slow
def test_more_stretches_than_16_bits_number_lose_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """With stretches of one person each, the last ones would wrap into the first ones' rows."""
    monkeypatch.setattr(people_index_module, "_TARGET", 1)
    # One after the other: handing so many to a thread takes longer than what it does with them.
    monkeypatch.setattr(embedded_module, "ahead", lambda items, work, _: map(work, items))
    question = Question(
        Calendar("1D", "2026-01-01", "2026-01-03"), "day", "who", None, Grid(1.0), (0, 1), max_periods=1
    )
    source = find_source(visits(np.datetime64("2026-01-01") + np.arange(2), PEOPLE))
    seen: list[PeopleIndex] = []

    def noted(crowd: PeopleIndex) -> Iterator[int]:
        seen.append(crowd)
        return iter(range(len(crowd.begins)))

    def held(words: NDArray[np.uint64], steps: NDArray[np.int32], cell_bits: int, stretch: int) -> tuple[int, ...]:
        del steps, cell_bits, stretch
        return tuple(words.tolist())

    with attached(source, question.wanted, question.reading, memory=2**28, threads=1) as session:
        # Not bounded, which is another matter and takes most of the time: a word of a stretch's first person is its
        # cell, and that of anybody else is beyond all cells.
        stretches = DuckDB(threads=1)._stretches(session, question, noted, held, lambda _: None)
        found = Counter(tuple(sorted(words)) for words in stretches)
    (crowd,) = seen
    assert crowd.stretch_of_block.dtype == np.uint32
    assert np.array_equal(crowd.begins, np.arange(PEOPLE))
    assert found == {(0, 1): PEOPLE}


def test_words_that_cannot_hold_a_stretch_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of person and cell running into each other. It takes more than 2^33 people, or 2^37 rows of one."""
    monkeypatch.setattr(kernel_module, "_WORD", 8)
    days = np.datetime64("2026-01-01") + np.arange(40)
    table = visits(days, 4)
    question = Question(
        Calendar("1D", "2026-01-01", "2026-02-10"), "day", "who", None, Grid(1.0), (0, 1), max_periods=3
    )
    with pytest.raises(UnreadableSource, match="more rows or people than can be told apart: fewer cells, or a part of"):
        DuckDB(threads=1).totals(find_source(table), question, key="k")

"""Rows of people, side by side: nobody is cut in two, in memory and in files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from chronodp.engines import DuckDB, Question, find_source, kernel as kernel_module, people as people_module
from chronodp.engines.attach import attached
from chronodp.engines.people import Crowd, crowds
from chronodp.errors import UnreadableSource
from chronodp.privacy import Calendar, Grid


def visits(days: NDArray[Any], people: int) -> pyarrow.Table:
    """Return a table in which everyone has a row each day."""
    who = np.repeat(np.arange(people), len(days))
    return pyarrow.table({"day": pyarrow.array(np.tile(days, people)), "who": pyarrow.array(who)})


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 12), st.integers(1, 40))
def test_a_crowd_is_cut_between_people(lengths: list[int], most: int, rows: int) -> None:
    begins = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))).astype(np.int64)
    words = np.arange(begins[-1], dtype=np.uint64)
    digests = np.arange(2 * len(lengths), dtype=np.uint64).reshape(-1, 2)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(people_module, "_ROWS", rows)
        pieces = list(Crowd(begins, words, (digests,)).cut(most))
    assert all(0 < len(piece) <= most and (len(piece) == 1 or len(piece.rows) <= rows) for piece in pieces)
    whole = Crowd.together(pieces) if pieces else Crowd(begins[:1], words, (digests,))
    assert np.array_equal(whole.begins, begins)
    assert np.array_equal(whole.rows, words)
    assert not pieces or np.array_equal(whole.digests[0], digests)
    assert np.array_equal(whole.numbered(3) >> np.uint64(3), np.repeat(np.arange(len(lengths)), lengths))


@pytest.mark.parametrize("memory", [2**30, 40_000])
def test_everyone_comes_once_with_all_rows(memory: int, tmp_path: Path) -> None:
    table = visits(np.datetime64("2026-01-01") + np.arange(3), 2500)
    question = Question(Calendar("1D", "2026-01-01", "2026-01-04"), "day", "who", None, Grid(1.0), (0, 1))
    seen: list[float] = []
    with attached(find_source(table), question.wanted, question.reading, memory=2**28, threads=2) as session:
        rows = "(SELECT (i % 2500)::VARCHAR AS person, 8 * (i % 2500) + i // 2500 AS row_ FROM range(7500) AS t(i))"
        options: dict[str, Any] = {"key": "k", "memory": memory, "folder": str(tmp_path), "progress": seen.append}
        found = list(crowds(session, rows, [], **options))
    assert not list(tmp_path.iterdir())
    assert seen == sorted(seen)
    people: Counter[int] = Counter()
    for crowd in found:
        assert np.array_equal(np.diff(crowd.begins), np.full(len(crowd), 3))
        each = (crowd.rows >> np.uint64(3)).reshape(-1, 3)
        assert (each == each[:, :1]).all()
        people.update(each[:, 0].tolist())
    assert people == Counter(range(2500))


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

"""Entries against a plain dictionary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from chronodp.errors import InvalidArgument
from chronodp.lifetime.entries import Entries, merge, nobody, used_by

LIFE = 2**62
# Few words, so that first words are often equal and last words alone decide.
PEOPLE = st.tuples(st.sampled_from([0, 1, 2, 2**63, 2**64 - 1]), st.sampled_from([0, 1, 5, 2**63, 2**64 - 1]))
TABLES = st.dictionaries(PEOPLE, st.integers(1, LIFE))


def entries_of(table: dict[tuple[int, int], int]) -> Entries:
    return Entries.of((high, low, spent) for (high, low), spent in table.items())


def as_table(entries: Entries) -> dict[tuple[int, int], int]:
    columns = zip(entries.high.tolist(), entries.low.tolist(), entries.spent.tolist(), strict=True)
    return {(high, low): spent for high, low, spent in columns}


@given(TABLES, TABLES, st.integers(1, LIFE), st.lists(PEOPLE))
@example({(1, 1): LIFE}, {(1, 1): LIFE}, LIFE, [(1, 1)])  # two whole lives do not wrap round
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

"""Which periods count: the same everywhere, never tied, and even-handed over keys."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from scipy import stats
from sqlglot import exp

from chronodp.engines.choice import PRIME, Seeds, priorities, seeds_of, seeds_of_none, seeds_of_words
from chronodp.engines.entries import words_of
from chronodp.engines.seeds import SEEDS, person_digest, seed_terms
from tests.conftest import Trials

PERIODS, KEPT = 48, 12


def seeds_for(people: int, key: str) -> Seeds:
    drawn = np.array([seeds_of(key, f"m{number}") for number in range(people)], dtype=np.int64)
    return drawn[:, 0], drawn[:, 1], drawn[:, 2]


def included(order: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which periods are among the first of each person's order (people by periods)."""
    last = np.partition(order, KEPT - 1, axis=1)[:, KEPT - 1 : KEPT]
    kept: NDArray[np.bool_] = order <= last
    return kept


def all_orders(people: int, key: str) -> NDArray[np.int64]:
    repeated = tuple(np.repeat(seed, PERIODS) for seed in seeds_for(people, key))
    numbers = np.tile(np.arange(PERIODS), people)
    return priorities(numbers, (repeated[0], repeated[1], repeated[2])).reshape(people, PERIODS)


def linear_orders(people: int, key: str) -> NDArray[np.int64]:
    """The tempting cheaper order a x + e, which keeps neighbours together."""
    multiplier, _, offset = seeds_for(people, key)
    return (multiplier[:, None] * np.arange(PERIODS) + offset[:, None]) % PRIME


def evenness(kept: NDArray[np.bool_]) -> float:
    counts = kept.sum(axis=0)
    expected = kept.shape[0] * KEPT / PERIODS
    # Each person keeps exactly KEPT periods, which narrows the sum of squares by this factor.
    spread = expected * (1 - KEPT / PERIODS) * PERIODS / (PERIODS - 1)
    return float(stats.chi2.sf(((counts - expected) ** 2).sum() / spread, PERIODS - 1))


def togetherness(kept: NDArray[np.bool_]) -> float:
    """Return the largest z-score of how often two periods at a distance are kept together."""
    people = kept.shape[0]
    chance = KEPT / PERIODS * (KEPT - 1) / (PERIODS - 1)
    scores = []
    for lag in range(1, PERIODS // 2):
        pairs = (kept[:, lag:] & kept[:, :-lag]).sum(axis=1)
        scores.append(abs(pairs.mean() - chance * (PERIODS - lag)) / (pairs.std() / np.sqrt(people)))
    return float(max(scores))


@given(
    number=st.integers(0, PRIME - 1), seeds=st.tuples(*[st.integers(1, PRIME - 1)] + [st.integers(0, PRIME - 1)] * 2)
)
def test_the_fast_form_is_the_formula(number: int, seeds: tuple[int, int, int]) -> None:
    arrays = tuple(np.array([seed]) for seed in seeds)
    fast = priorities(np.array([number]), (arrays[0], arrays[1], arrays[2]))
    assert int(fast[0]) == (seeds[0] * pow(number + seeds[1], 5, PRIME) + seeds[2]) % PRIME


@pytest.mark.slow
def test_there_are_no_ties() -> None:
    numbers = np.arange(2**20)
    for person in ("a", "b"):
        seeds = tuple(np.full(len(numbers), seed) for seed in seeds_of("key", person))
        assert np.diff(np.sort(priorities(numbers, (seeds[0], seeds[1], seeds[2])))).all()


def test_seeds_are_the_same_in_sql() -> None:
    names = ["ann", "ö|x", "", "7", "x" * 300, "a'b"]
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE everyone (person VARCHAR, place INTEGER)")
        connection.executemany("INSERT INTO everyone VALUES (?, ?)", [(name, at) for at, name in enumerate(names)])
        terms = [term.as_(name) for name, term in seed_terms("k'ey|", "duckdb").items()]
        found: Any = connection.execute(exp.select(*terms).from_("everyone").order_by("place").sql("duckdb")).fetchall()
        digits = exp.select(person_digest("k'ey|").as_("digits")).from_("everyone").order_by("place").sql("duckdb")
        words = words_of(connection.sql(digits).to_arrow_table()["digits"].combine_chunks())
    plain = [seeds_of("k'ey|", name) for name in names]
    assert [tuple(row) for row in found] == plain
    assert list(zip(*(seed.tolist() for seed in seeds_of_words(words)), strict=True)) == plain
    assert len(SEEDS) == 3


@given(st.lists(st.integers(0, 2**128 - 1), min_size=1, max_size=9))
def test_seeds_of_words_are_those_of_digits(digests: list[int]) -> None:
    words = np.array([divmod(digest, 2**64) for digest in digests], np.uint64)
    for digest, *seeds in zip(digests, *seeds_of_words(words), strict=True):
        eights = [int(f"{digest:032x}"[at : at + 8], 16) for at in (0, 8, 16)]
        assert list(map(int, seeds)) == [eights[0] % (PRIME - 1) + 1, eights[1] % PRIME, eights[2] % PRIME]


def test_where_nothing_is_chosen_there_is_an_order_all_the_same() -> None:
    multiplier, shift, offset = seeds_of_none(50)
    assert len(np.unique(priorities(np.arange(50), (multiplier, shift, offset)))) == 50


def test_a_long_key_and_a_short_name_are_not_a_short_key_and_a_long_name() -> None:
    assert seeds_of("0" * 64, "a") != seeds_of("0" * 63, "0|a")


@pytest.mark.parametrize("key", ["first key", "00000000"])
def test_every_period_is_kept_alike(key: str, trials: Trials) -> None:
    people = trials(200_000, least=20_000)
    kept = included(all_orders(people, key))
    assert evenness(kept) > 1e-9
    assert togetherness(kept) < 6.8  # 23 distances: a false alarm once in a billion


def test_one_person_is_treated_alike_over_keys(trials: Trials) -> None:
    count = trials(100_000, least=20_000)
    drawn = np.array([seeds_of(f"{number:032x}", "the same person") for number in range(count)], dtype=np.int64)
    repeated = tuple(np.repeat(drawn[:, column], PERIODS) for column in range(3))
    order = priorities(np.tile(np.arange(PERIODS), count), (repeated[0], repeated[1], repeated[2]))
    assert evenness(included(order.reshape(count, PERIODS))) > 1e-9


def test_the_same_checks_reject_a_linear_order() -> None:
    kept = included(linear_orders(20_000, "first key"))
    assert togetherness(kept) > 6.8


def test_the_same_checks_reject_a_biased_order() -> None:
    order = all_orders(20_000, "first key")
    order[:, 0] //= 2
    assert evenness(included(order)) < 1e-9

"""Who holds which key, on one machine: DuckDB scans the source and numbers the keys, a packed sort does the rest.

A key's number comes from its text, in the order of bytes. Rows find it by a hash of the text as long as no two texts of
the column share one, and by the text itself otherwise: keys that share a hash must not become one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from chronodp.engines.attach import Session
from chronodp.engines.choice import Seeds, Words
from chronodp.engines.held_keys import MOST_KEYS, HeldKeys, KeysQuestion, Weigher
from chronodp.engines.keys_kernel import Chosen, Layout, choose
from chronodp.engines.keys_statement import fits, key_number, keyed_select
from chronodp.engines.partitions import Partitions, ahead
from chronodp.engines.people_index import PeopleIndex
from chronodp.engines.reading import Wanted
from chronodp.engines.rows import names_select
from chronodp.errors import UnreadableSource

__all__ = ["Limits", "gather_held_keys"]

_BATCH = 2**20
_SPARE = 23  # of the 64 bits of a word, and of the 24 that number the rows of a stretch elsewhere; one is the sign
_HASH = "hash(%s)"  # joins by it take two thirds of the time of joins by texts


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes of rows before they go to disk, how many threads, and where temporary files go."""

    memory: int
    threads: int
    folder: str | None


def gather_held_keys(session: Session, asked: KeysQuestion, *, key: str, limits: Limits) -> HeldKeys:
    """Return who holds which key of a session's source."""
    count = _number_keys(session, asked)
    people = np.zeros(count, np.int64)
    if asked.question.user is None:
        found = session.columns(f"SELECT code, count(*) AS visits FROM {_joined(session, asked)} GROUP BY code")
        people[found["code"]] = found["visits"]
        present = np.flatnonzero(people)
        held = people[present]
        return HeldKeys(_texts(session, present, count), held, 1, lambda weights, gone: held * weights[0] * ~gone)
    layout = Layout(
        max(1, (count - 1).bit_length()),
        (len(asked.question.calendar) - 1).bit_length() if asked.choose_by_period else 0,
        asked.max_keys,
        None if asked.rows_apart else asked.block_of_period,
        _numbers(session, key, count),
    )
    chosen = _chosen(session, asked, layout, key, limits)
    for stretch in chosen:
        stretch.count(people)
    present = np.flatnonzero(people)
    return HeldKeys(_texts(session, present, count), people[present], asked.most, _weigher(chosen, present, count))


def _weigher(chosen: Sequence[Chosen], present: Words, count: int) -> Weigher:
    def weigh(weights: Words, dropped: NDArray[np.bool_]) -> Words:
        gone, sums = np.zeros(count, bool), np.zeros(count, np.int64)
        gone[present] = dropped
        by_count = np.concatenate(([0], weights))
        for stretch in chosen:
            stretch.weigh(sums, by_count, gone)
        return sums[present]

    return weigh


def _number_keys(session: Session, asked: KeysQuestion) -> int:
    """Make ``key_names (spelled, key_, code, hashed)``; return how many keys there are.

    A key may be written in several ways, such as 7 and 7.0: each of them is read once, not in every row. A derived key
    is what it is. A text that is no key has no code, and stands there so that its hash is looked at too.
    """
    question = asked.reading
    if question.expressions.keys[-1] is None:
        names = names_select(question, session.parts, Wanted("by", "name", asked.column)).sql("duckdb")
        found = f"SELECT written AS spelled, name FROM ({names})"
    else:
        rows = keyed_select(asked, session.parts, written=True).subquery("rows_").sql("duckdb")
        found = f"SELECT DISTINCT text_ AS spelled, text_ AS name FROM {rows}"
    fitting = fits(asked, exp.column("name"), "duckdb").sql("duckdb")
    # DuckDB orders texts by bytes: the session is ours, and has no collation.
    code = "CASE WHEN key_ IS NOT NULL THEN dense_rank() OVER (ORDER BY key_ NULLS LAST) - 1 END"
    session.run(
        f"CREATE TABLE key_names AS SELECT spelled, key_, {code} AS code, {_HASH % 'spelled'} AS hashed "
        f"FROM (SELECT spelled, CASE WHEN {fitting} THEN name END AS key_ FROM ({found}))"
    )
    (count,) = session.row("SELECT coalesce(max(code) + 1, 0) FROM key_names")
    if count >= MOST_KEYS:
        raise UnreadableSource("a column holds too many different keys: derive one with fewer")
    return count


def _joined(session: Session, asked: KeysQuestion) -> str:
    """Return the rows that count with the codes of their keys, as a part of a query."""
    rows = keyed_select(asked, session.parts, written=True).subquery("rows_").sql("duckdb")
    (shared,) = session.row("SELECT count(*) - count(DISTINCT hashed) FROM key_names")
    on = "text_ = spelled" if shared else f"{_HASH % 'text_'} = hashed AND text_ IS NOT NULL"
    return f"{rows} JOIN (SELECT spelled, hashed, code FROM key_names WHERE code IS NOT NULL) AS coded ON {on}"


def _numbers(session: Session, key: str, count: int) -> Words:
    """Return the number of each key in people's choices."""
    number = key_number(key, exp.column("key_"), "duckdb").sql("duckdb")
    found = session.columns(f"SELECT code, {number} AS number FROM key_names WHERE code IS NOT NULL")
    numbers = np.zeros(count, np.int64)
    numbers[found["code"]] = found["number"]
    return numbers


def _chosen(session: Session, asked: KeysQuestion, layout: Layout, key: str, limits: Limits) -> list[Chosen]:
    """Return the keys that count, one stretch of people after the other."""
    bits = layout.key_bits + layout.period_bits
    crowd = PeopleIndex.gather(session, asked.question, cell_bits=max(1, bits - _SPARE))
    period = f"(period::BIGINT << {layout.key_bits}) | " if layout.period_bits else ""
    joined = f"{_joined(session, asked)} JOIN names ON person = written"
    query = f"SELECT names.code, {period}coded.code FROM {joined}"
    with Partitions(len(crowd.begins), (np.uint64,), memory=limits.memory, folder=limits.folder) as store:
        for batch in session.batches(query, _BATCH):
            persons, held = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
            where = crowd.stretches_of(persons)
            # Persons count from 0 within their stretch, so that all three fit a word.
            store.add(where, ((persons - crowd.begins[where]) << bits | held).view(np.uint64))

        def work(stretch_and_seeds: tuple[int, Seeds]) -> Chosen:
            stretch, seeds = stretch_and_seeds
            (words,) = store.take(stretch)
            return choose(words, layout, seeds)

        return list(ahead(enumerate(crowd.seeds(key)), work, limits.threads))


def _texts(session: Session, present: Words, count: int) -> tuple[str, ...]:
    """Return the texts of some keys, by their numbers in ascending order."""
    texts = np.empty(count, object)
    for batch in session.batches("SELECT code, key_ FROM key_names WHERE code IS NOT NULL", _BATCH):
        codes, keys = batch.columns
        texts[codes.to_numpy(zero_copy_only=False)] = keys.to_numpy(zero_copy_only=False)
    return tuple(texts[present].tolist())

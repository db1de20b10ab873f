"""Who holds which key, on one machine: DuckDB scans the source, a packed sort does the rest.

Each row is a word of its person's code and its key's; `numbered_keys` says how texts become codes. What is computed:
``docs/explanation/proofs/held-keys.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chronodp.engines.choice import Seeds, Words
from chronodp.engines.held_keys import HeldKeys, KeysQuestion, Weigher
from chronodp.engines.keys_kernel import Chosen, Layout, choose
from chronodp.engines.keys_statement import keyed_text
from chronodp.engines.numbered_keys import Coder, NumberedKeys, code_people, number_keys
from chronodp.engines.partitions import Partitions, ahead
from chronodp.engines.people_index import PeopleIndex
from chronodp.engines.session import Session
from chronodp.engines.text_codes import NO_CODE

__all__ = ["Limits", "gather_held_keys"]

_BATCH = 2**20
_SPARE = 23  # of the 64 bits of a word, and of the 24 that number the rows of a stretch elsewhere; one is the sign


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes of rows before they go to disk, how many threads, and where temporary files go."""

    memory: int
    threads: int
    folder: str | None


def gather_held_keys(session: Session, asked: KeysQuestion, *, key: str, limits: Limits) -> HeldKeys:
    """Return who holds which key of a session's source."""
    keys = number_keys(session, asked, key=key, memory=limits.memory)
    count = len(keys.numbers)
    people = np.zeros(count, np.int64)
    if asked.question.user is None:
        for (codes,) in _coded(session, asked, (keys.coder,), limits):
            np.add.at(people, codes, 1)
        present = np.flatnonzero(people)
        held = people[present]
        return HeldKeys(keys.texts_at(present), held, 1, lambda weights, gone: held * weights[0] * ~gone)
    layout = Layout(
        max(1, (count - 1).bit_length()),
        (len(asked.question.calendar) - 1).bit_length() if asked.choose_by_period else 0,
        asked.max_keys,
        None if asked.rows_apart else asked.block_of_period,
        keys.numbers,
    )
    chosen = _chosen(session, asked, keys, layout, key, limits)
    for stretch in chosen:
        stretch.count(people)
    present = np.flatnonzero(people)
    return HeldKeys(keys.texts_at(present), people[present], asked.most, _weigher(chosen, present, count))


def _weigher(chosen: Sequence[Chosen], present: Words, count: int) -> Weigher:
    def weigh(weights: Words, dropped: NDArray[np.bool_]) -> Words:
        gone, sums = np.zeros(count, bool), np.zeros(count, np.int64)
        gone[present] = dropped
        by_count = np.concatenate(([0], weights))
        for stretch in chosen:
            stretch.weigh(sums, by_count, gone)
        return sums[present]

    return weigh


def _chosen(
    session: Session, asked: KeysQuestion, keys: NumberedKeys, layout: Layout, key: str, limits: Limits
) -> list[Chosen]:
    """Return the keys that count, one stretch of people after the other."""
    bits = layout.key_bits + layout.period_bits
    crowd = PeopleIndex.gather(session, asked.question, cell_bits=max(1, bits - _SPARE), nameless=True)
    coders = code_people(session, memory=limits.memory), keys.coder
    with Partitions((np.uint64,), memory=limits.memory, folder=limits.folder) as store:
        for persons, held, *periods in _coded(session, asked, coders, limits, layout, rows=crowd.rows):
            where = crowd.stretches_of(persons)
            # Persons count from 0 within their stretch, so that all three fit a word.
            words = (persons - crowd.begins[where]) << bits | held
            for period in periods:
                words |= period << layout.key_bits
            store.add(where, words.view(np.uint64))

        def work(stretch_and_seeds: tuple[int, Seeds]) -> Chosen:
            stretch, seeds = stretch_and_seeds
            (words,) = store.take(stretch)
            return choose(words, layout, seeds)

        return list(ahead(enumerate(crowd.seeds(key)), work, limits.threads))


def _coded(
    session: Session,
    asked: KeysQuestion,
    coders: Sequence[Coder],
    limits: Limits,
    layout: Layout | None = None,
    *,
    rows: int | None = None,
) -> Iterator[list[Words]]:
    """Yield the rows that count: codes of what is asked for, and their periods if a layout has any; in pieces."""
    period = ["period::BIGINT"] if layout is not None and layout.period_bits else []
    named = enumerate([*(coder.cell for coder in coders), *period])
    cells = ", ".join(f"{cell} AS c{number}" for number, cell in named)
    present = " AND ".join(f"{coder.column} IS NOT NULL" for coder in coders)  # a null has a hash too
    joins = " ".join(coder.join for coder in coders)
    query = f"SELECT {cells} FROM {keyed_text(asked, session.parts, noted=True)} {joins} WHERE {present}"

    def work(columns: list[NDArray[np.int64]]) -> list[Words]:
        found = [coder.codes_of(column) for coder, column in zip(coders, columns, strict=False)]
        found += columns[len(coders) :]
        known = np.logical_and.reduce([column != NO_CODE for column in found[: len(coders)]])
        return found if known.all() else [column[known] for column in found]

    return ahead(session.numbers(query, _BATCH, rows=rows), work, limits.threads)

"""Who holds which key, on one machine: DuckDB brings each person's keys together, a packed sort does the rest.

Each row is a word of its period and its key's number. What is computed: ``docs/explanation/proofs/held-keys.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chronodp.engines.choice import Words, seeds_of_words
from chronodp.engines.held_keys import HeldKeys, KeysQuestion, Weigher
from chronodp.engines.keys_kernel import Chosen, Layout, choose
from chronodp.engines.keys_statement import keyed_text
from chronodp.engines.numbered_keys import number_keys
from chronodp.engines.people import Crowd, ahead, crowds
from chronodp.engines.seeds import person_digest
from chronodp.engines.session import Session

__all__ = ["Limits", "gather_held_keys"]

_WORD = 63  # bits for person, period and key, beside the sign


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes of rows before they go to disk, how many threads, and where temporary files go."""

    memory: int
    threads: int
    folder: str | None


def gather_held_keys(session: Session, asked: KeysQuestion, *, key: str, limits: Limits) -> HeldKeys:
    """Return who holds which key of a session's source."""
    keys = number_keys(session, asked, key=key)
    count = len(keys.numbers)
    rows = f"{keyed_text(asked, session.parts, noted=True)} JOIN coded ON text_ = written"
    if asked.question.user is None:
        found = session.columns(f"SELECT code, count(*) AS held FROM {rows} GROUP BY code ORDER BY code")
        present, held = found["code"], found["held"]
        return HeldKeys(keys.texts_at(present), held, 1, lambda weights, gone: held * weights[0] * ~gone)
    layout = Layout(
        max(1, (count - 1).bit_length()),
        (len(asked.question.calendar) - 1).bit_length() if asked.choose_by_period else 0,
        asked.max_keys,
        None if asked.rows_apart else asked.block_of_period,
        keys.numbers,
    )
    chosen = _chosen(session, rows, layout, key, limits)
    people = np.zeros(count, np.int64)
    for some in chosen:
        some.count(people)
    present = np.flatnonzero(people)
    return HeldKeys(keys.texts_at(present), people[present], asked.most, _weigher(chosen, present, count))


def _weigher(chosen: Sequence[Chosen], present: Words, count: int) -> Weigher:
    def weigh(weights: Words, dropped: NDArray[np.bool_]) -> Words:
        gone, sums = np.zeros(count, bool), np.zeros(count, np.int64)
        gone[present] = dropped
        by_count = np.concatenate(([0], weights))
        for some in chosen:
            some.weigh(sums, by_count, gone)
        return sums[present]

    return weigh


def _chosen(session: Session, rows: str, layout: Layout, key: str, limits: Limits) -> list[Chosen]:
    """Return the keys that count, of some people after the others."""
    bits = layout.key_bits + layout.period_bits
    word = f"(period << {layout.key_bits}) | code" if layout.period_bits else "code"

    def work(crowd: Crowd) -> Chosen:
        return choose(crowd.numbered(bits) | crowd.rows, layout, seeds_of_words(*crowd.digests))

    people = crowds(
        session,
        f"(SELECT person, {word} AS row_ FROM {rows})",
        [person_digest(key)],
        key=key,
        memory=limits.memory,
        folder=limits.folder,
        most=2 ** (_WORD - bits),
    )
    return list(ahead(people, work, limits.threads))

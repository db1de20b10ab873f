"""Who still counts and what each pays, in the plainest Python: what every engine is compared with.

"What an engine keeps and books" of ``docs/explanation/proofs/bounding.md``, person by person, in Python's own numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from chronodp.engines.choice import priority, seeds_of
from chronodp.engines.lives import Booked, LifeQuestion, Tally, WholePrice, entry_of
from chronodp.engines.question import Question
from chronodp.engines.reference_cells import PersonCell, Record, chosen_cells, counted_rows, held_cells
from chronodp.engines.totals import Totals

__all__ = ["reference_book", "reference_kept"]


def reference_book(records: Iterable[Record], asked: LifeQuestion, tally: Tally, *, key: str) -> Booked:
    """Return the totals of rows in memory as far as people's lives go, and what each one paid."""
    listed = list(records)
    kept, spent = reference_kept(listed, asked, tally, key=key)
    totals, question = Totals.none(asked.question), asked.question
    rows = counted_rows(listed, question)
    low, high = question.clip
    for (person, period, place), total in kept.items():
        cell = period * question.places + place
        totals.sums[cell] += total
        totals.people[cell] += 1 if question.rows is None else min(rows[person, period, place], question.rows)
        if question.squares is not None:
            totals.squares[cell] += (2 * total - low - high) ** 2 // 2**question.squares
    paid = sorted((*entry_of(asked.salt, person), shares) for person, shares in spent.items() if shares)
    return Booked(
        totals,
        high=np.array([first for first, _, _ in paid], np.uint64),
        low=np.array([last for _, last, _ in paid], np.uint64),
        spent=np.array([shares for _, _, shares in paid], np.int64),
    )


def reference_kept(
    records: Iterable[Record], asked: LifeQuestion, tally: Tally, *, key: str
) -> tuple[dict[PersonCell, int], dict[str, int]]:
    """Return what is kept of each person in each cell, and what each person pays."""
    question, listed = asked.question, list(records)
    bounded = _bounded(held_cells(listed, question), counted_rows(listed, question), question)
    visits: dict[str, dict[int, dict[int, int]]] = defaultdict(lambda: defaultdict(dict))
    for person, period, place in chosen_cells(bounded.keys(), question, key):  # places; no period is left out here
        visits[str(person)][period][place] = bounded[person, period, place]
    kept: dict[PersonCell, int] = {}
    spent: dict[str, int] = {}
    for person, visited in visits.items():
        high, low = (np.array([word], np.uint64) for word in entry_of(asked.salt, person))
        room = max(0, asked.life - int(tally.used(high, low)[0]))
        seeds = seeds_of(key, person)
        in_order = sorted(visited, key=lambda period, seeds=seeds: priority(period, seeds))  # type: ignore[misc]
        counted, spent[person] = _fitting(len(in_order), room, asked.price)
        for period in in_order[:counted]:
            kept |= {(person, period, place): total for place, total in visited[period].items()}
    return kept, spent


def _fitting(periods: int, room: int, price: WholePrice) -> tuple[int, int]:
    """Return how many of so many periods a room pays for, and what they take."""
    counted = paid = 0
    for number, together in enumerate(price.prices[:periods], 1):
        if together > room:
            break
        counted, paid = number, together
    return counted, paid


def _bounded(
    cells: Mapping[PersonCell, int], rows: Mapping[PersonCell, int], question: Question
) -> dict[PersonCell, int]:
    """What each person has in each cell, clipped, or weighed."""
    low, high = question.clip
    if question.rows is None:
        return {cell: min(max(total, low), high) for cell, total in cells.items()}
    weighed = {}
    for (person, period, place), total in cells.items():
        first = place - place % question.weighed_bins  # of the bins that share the person's weight
        beside = sum(rows.get((person, period, first + bin_), 0) for bin_ in range(question.weighed_bins))
        weighed[person, period, place] = total * question.rows // max(beside, question.rows)
    return weighed

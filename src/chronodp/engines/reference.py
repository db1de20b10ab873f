"""The same answer in the plainest Python: slow, in memory, and what every engine is compared with.

"What is computed" of ``docs/explanation/proofs/bounding.md``, step by step.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, cast

from chronodp.engines.held_keys import HeldKeys, KeysQuestion
from chronodp.engines.lengths import scaled_cell
from chronodp.engines.lives import Booked, LifeQuestion, Tally
from chronodp.engines.losses import LossesQuestion
from chronodp.engines.question import Progress, Question
from chronodp.engines.reading import ReadingCheck
from chronodp.engines.reference_cells import (
    Record,
    chosen_cells,
    codes_of,
    computed_record,
    counted_rows,
    held_cells,
    located_steps,
    location_of,
)
from chronodp.engines.reference_keys import held_keys_of
from chronodp.engines.reference_lives import reference_book
from chronodp.engines.sizes import Sizes, SizesQuestion
from chronodp.engines.sources import Source
from chronodp.engines.statement import MissingQuestion
from chronodp.engines.totals import BoundsReport, Totals
from chronodp.errors import UnreadableSource

__all__ = [
    "Reference",
    "reference_held_keys",
    "reference_losses",
    "reference_missing",
    "reference_sizes",
    "reference_totals",
]


def reference_totals(records: Iterable[Record], question: Question, *, key: str) -> Totals:
    """Return the bounded totals of rows in memory."""
    listed = list(records)
    cells = held_cells(listed, question)
    if question.rows is not None:
        return _weighed(cells, counted_rows(listed, question), question, key)
    if question.window is not None:
        return _present(chosen_cells(cells.keys(), question, key), question)
    totals = Totals.none(question)
    low, high = question.clip
    for (_, period, place), total in _kept(cells, question, key).items():
        cell = period * question.places + place
        totals.sums[cell] += total
        totals.people[cell] += 1
        if question.squares is not None:
            totals.squares[cell] += (2 * total - low - high) ** 2 // 2**question.squares
    return totals


def _present(active: Iterable[tuple[object, int, int]], question: Question) -> Totals:
    """Who is present, of active cells that count: written from what a stay is, period by period."""
    totals, window, horizon = Totals.none(question), question.window or 1, len(question.calendar)
    held: dict[object, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for person, period, place in active:
        held[person][place].add(period)
    for visited in held.values():
        stays: list[tuple[int, int, int]] = []  # first period, place, and the period after the last present one
        for place, periods in visited.items():
            present = {period + later for period in periods for later in range(window)}
            for first in (period for period in present if period - 1 not in present):
                end = next(period for period in range(first, horizon + window) if period not in present)
                stays.append((first, place, end))
        for first, place, end in sorted(stays)[: question.max_stays]:
            for period in range(first, min(end, horizon)):
                totals.people[period * question.places + place] += 1
    totals.sums[:] = totals.people * question.clip[1]
    return totals


def _weighed(
    cells: Mapping[tuple[object, int, int], int],
    rows: Mapping[tuple[object, int, int], int],
    question: Question,
    key: str,
) -> Totals:
    """The bounded totals where rows are weighed."""
    totals, most = Totals.none(question), question.rows or 1
    for who, period, place in chosen_cells(cells.keys(), question, key):
        cell = period * question.places + place
        first = place - place % question.weighed_bins  # of the bins that share the person's weight
        beside = sum(rows.get((who, period, first + bin_), 0) for bin_ in range(question.weighed_bins))
        # L times what rows add, over max(rows, L): each row with the weight min(1, L / rows), rounded down once.
        totals.sums[cell] += cells[who, period, place] * most // max(beside, most)
        totals.people[cell] += min(rows[who, period, place], most)
    return totals


def reference_sizes(records: Iterable[Record], asked: SizesQuestion) -> Sizes:
    """Return how many voters hold more than each size, of rows in memory."""
    voters: dict[object, int] = defaultdict(int)
    if asked.rows:
        voters |= _mean_rows(records, asked)
    else:
        for (person, period, _), held in _sizes(records, asked.question, means=asked.means).items():
            voters[person if asked.whole_person else (person, period)] += min(held, asked.top)
    held_by = [total for total in voters.values() if total]
    return Sizes(tuple(sum(total > size for total in held_by) for size in asked.sizes), len(held_by))


def reference_losses(records: Iterable[Record], asked: LossesQuestion) -> tuple[int, ...]:
    """Return what candidates for bounds would take away of rows in memory."""
    people: dict[object, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for (person, period, _), held in _sizes(records, asked.question, means=asked.means).items():
        people[person][period].append(min(held, asked.top))
    if asked.whole_series:
        series = [[cell for cells in visited.values() for cell in cells] for visited in people.values()]
        return tuple(sum(asked.weighed(_scaled_loss(cells, norm)) for cells in series) for norm in asked.sizes)

    @cache
    def bounded(groups: int, size: int) -> list[dict[int, int]]:
        return [
            {
                period: sum(min(cell, size) for cell in cells) * min(groups, len(cells)) // len(cells)
                for period, cells in visited.items()
            }
            for visited in people.values()
        ]

    answer = []
    for periods, groups, size in asked.candidates:
        lost = 0
        for visited, kept in zip(people.values(), bounded(groups, size), strict=True):
            if asked.whole_person:
                everything = sum(map(sum, visited.values()))
                lost += asked.weighed(everything - sum(kept.values()) * min(periods, len(visited)) // len(visited))
            else:
                lost += sum(asked.weighed(sum(cells) - kept[period]) for period, cells in visited.items())
        answer.append(lost)
    return tuple(answer)


def _mean_rows(records: Iterable[Record], asked: SizesQuestion) -> dict[object, int]:
    """The mean of the sizes of each voter's rows that are not 0, rounded down."""
    sizes: dict[object, list[int]] = defaultdict(list)
    for (person, period, _), steps in located_steps(records, asked.question):
        if steps:
            sizes[person if asked.whole_person else (person, period)].append(min(abs(steps), asked.top))
    return {voter: sum(rows) // len(rows) for voter, rows in sizes.items()}


def _scaled_loss(cells: list[int], norm: int) -> int:
    """What scaling a whole series to a length takes away of its sum."""
    everything, squares = sum(cells), sum(cell**2 for cell in cells)
    if squares <= norm**2:
        return 0
    return everything - everything * norm // (math.isqrt(squares - 1) + 1)


def reference_missing(records: Iterable[Record], asked: MissingQuestion, *, key: str) -> tuple[int, int]:
    """Return what bounds take away of rows in memory, capped, and how many reach beyond."""
    cells = held_cells(records, asked.question)
    kept = _kept(cells, asked.question, key)
    voters: dict[object, list[int]] = defaultdict(lambda: [0, 0])
    for cell, held in cells.items():
        voter = voters[cell[0] if asked.whole_person else cell[:2]]
        voter[0] += min(max(held, -asked.top), asked.top) - kept.get(cell, 0)
        voter[1] = max(voter[1], abs(held) > asked.top)
    lost = sum(min(max(lost, -asked.cap), asked.cap) for lost, _ in voters.values())
    return lost, sum(far or abs(lost) > asked.cap for lost, far in voters.values()) if asked.beyond else 0


def reference_held_keys(records: Iterable[Record], asked: KeysQuestion, *, key: str) -> HeldKeys:
    """Return who holds which key, of rows in memory."""

    def rows() -> Iterator[tuple[object, int, str]]:
        codes, expressions = codes_of(asked.question), asked.reading.expressions
        for row, raw in enumerate(records):
            record = computed_record(raw, expressions)
            if record is None:
                continue
            *public, text = record.keys
            located = location_of(row, replace(record, keys=tuple(public)), asked.question, codes)
            if located is not None and text is not None:
                yield *located[:2], text

    return held_keys_of(rows(), asked, key=key)


class Reference:
    """An engine in plain Python: lists of records as data, for tables of a few rows."""

    def find(self, data: object) -> Source:
        """Return the records themselves: what this engine reads is what it is given."""
        return cast("Source", data)

    def totals(self, source: Any, question: Question, *, key: str, progress: Progress = lambda _: None) -> Totals:
        """Return the bounded totals."""
        progress(1.0)
        return reference_totals(source, question, key=key)

    def book(
        self, source: Any, asked: LifeQuestion, tally: Tally, *, key: str, progress: Progress = lambda _: None
    ) -> Booked:
        """Return the totals of people as far as their lives go, and what each one paid."""
        progress(1.0)
        return reference_book(source, asked, tally, key=key)

    def sizes(self, source: Any, asked: SizesQuestion) -> Sizes:
        """Return counts over a public grid of sizes."""
        return reference_sizes(source, asked)

    def losses(self, source: Any, asked: LossesQuestion) -> tuple[int, ...]:
        """Return what each candidate for bounds would take away."""
        return reference_losses(source, asked)

    def missing(self, source: Any, asked: MissingQuestion, *, key: str) -> tuple[int, ...]:
        """Return what bounds take away, capped, and how many reach beyond."""
        return reference_missing(source, asked, key=key)

    def held_keys(self, source: Any, asked: KeysQuestion, *, key: str) -> HeldKeys:
        """Return who holds which key."""
        return reference_held_keys(source, asked, key=key)

    def look(self, source: Any, question: Question) -> ReadingCheck:
        """Refuse: records were read by whoever made them."""
        del source, question
        raise UnreadableSource("left out for records in memory, which need no reading")

    def tally(self, source: Any, question: Question, *, key: str, progress: Progress = lambda _: None) -> BoundsReport:
        """Refuse: what bounds take away of records in memory, `missing` says."""
        del source, question, key, progress
        raise UnreadableSource("records in memory have no owner's report")


def _sizes(records: Iterable[Record], question: Question, *, means: bool) -> dict[tuple[object, int, int], int]:
    """The size of what each person has in each cell, or of the mean of its rows."""
    listed = list(records)
    cells = held_cells(listed, question)
    if not means:
        return {cell: abs(held) for cell, held in cells.items()}
    rows = counted_rows(listed, question)
    return {cell: abs(held) // rows[cell] for cell, held in cells.items()}


def _kept(
    cells: Mapping[tuple[object, int, int], int], question: Question, key: str
) -> dict[tuple[object, int, int], int]:
    """What is kept of each cell: clipped, chosen by the key, scaled where a whole series has a length."""
    low, high = question.clip
    clipped = {cell: min(max(cells[cell], low), high) for cell in chosen_cells(cells.keys(), question, key)}
    if question.norm is None:
        return clipped
    squares: dict[object, int] = defaultdict(int)
    for (person, *_), total in clipped.items():
        squares[person] += total**2
    return {cell: scaled_cell(total, squares[cell[0]], question.norm) for cell, total in clipped.items()}

"""The same answer in the plainest Python: slow, in memory, and what every engine is compared with.

"What is computed" of ``docs/explanation/proofs/bounding.md``, step by step.
"""

from __future__ import annotations

import bisect
import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from chronodp.engines.choice import PRIME, seeds_of
from chronodp.engines.question import ROW_LIMIT, Question, Totals

__all__ = ["Record", "reference_totals"]


@dataclass(frozen=True, slots=True)
class Record:
    """One row: a person, an instant in microseconds of UTC, a number, a key for each grouping; any may be missing."""

    person: str | None
    instant: int | None
    number: float | None = None
    keys: tuple[str | None, ...] = ()


def reference_totals(records: Iterable[Record], question: Question, *, key: str) -> Totals:
    """Return the bounded totals of rows in memory."""
    cells: dict[tuple[object, int, int], int] = defaultdict(int)
    for row, record in enumerate(records):
        period, place = _period(record, question), _place(record, question)
        if period is None or place is None or (question.user is not None and record.person is None):
            continue
        person = row if question.user is None else record.person
        cells[person, period, place] += _steps(record, question)
    totals = Totals.none(question)
    low, high = question.clip
    for who, period, place in _chosen(cells.keys(), question, key):
        cell = period * question.places + place
        total = min(max(cells[who, period, place], low), high)
        totals.sums[cell] += total
        totals.people[cell] += 1
        if question.squares is not None:
            totals.squares[cell] += (2 * total - low - high) ** 2 // 2**question.squares
    return totals


def _chosen(
    cells: Iterable[tuple[object, int, int]], question: Question, key: str
) -> Iterable[tuple[object, int, int]]:
    if question.user is None:
        return list(cells)
    held: dict[object, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for person, period, place in cells:
        held[person][period].append(place)
    chosen = []
    horizon, places = len(question.calendar), question.places
    for person, visited in held.items():
        seeds = seeds_of(key, str(person))
        kept = sorted(visited, key=lambda period: _priority(period, seeds))[: question.max_periods]
        for period in kept:
            base = horizon + period * places
            in_order = sorted(visited[period], key=lambda place: _priority(base + place, seeds))
            chosen += [(person, period, place) for place in in_order[: question.max_places]]
    return chosen


def _priority(number: int, seeds: tuple[int, int, int]) -> int:
    multiplier, shift, offset = seeds
    return (multiplier * pow(number + shift, 5, PRIME) + offset) % PRIME


def _period(record: Record, question: Question) -> int | None:
    edges = question.calendar.edges
    if record.instant is None or not edges[0] <= record.instant < edges[-1]:
        return None
    return bisect.bisect_right(edges, record.instant) - 1


def _place(record: Record, question: Question) -> int | None:
    place = 0
    for grouping, found in zip(question.groupings, record.keys, strict=True):
        if found not in grouping.keys:
            return None
        place = place * len(grouping.keys) + grouping.keys.index(found)
    if question.value is not None and (record.number is None or not math.isfinite(record.number)):
        return None
    if question.edges:
        number = record.number
        if number is None or not question.edges[0] <= number <= question.edges[-1]:
            return None
        bins = len(question.edges) - 1
        place = place * bins + min(bisect.bisect_right(question.edges, number) - 1, bins - 1)
    return place


def _steps(record: Record, question: Question) -> int:
    if question.value is None or question.edges or record.number is None:
        return round(1 / question.grid.step)
    held = max(-float(ROW_LIMIT), min(float(ROW_LIMIT), record.number / question.grid.step))
    return math.floor(held + 0.5)

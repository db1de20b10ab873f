"""From rows to what people hold in cells, and which cells are chosen, in the plainest Python.

Steps 1 to 3 and 5 of "What is computed" in ``docs/explanation/proofs/bounding.md``.
"""

from __future__ import annotations

import bisect
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from chronodp.engines.choice import priority, seeds_of
from chronodp.engines.expressions import Cell, Expressions, Value, evaluate
from chronodp.engines.question import Question

__all__ = [
    "PersonCell",
    "Record",
    "chosen_cells",
    "codes_of",
    "computed_record",
    "counted_rows",
    "held_cells",
    "located_steps",
    "location_of",
]

PersonCell = tuple[object, int, int]
"""A person, a period and a place."""
Codes = tuple[Mapping[str | None, int], ...]
"""For each column of groups, the number of each of its keys."""


@dataclass(frozen=True, slots=True)
class Record:
    """One row: a person, an instant in microseconds of UTC, a number, a key for each grouping; any may be missing.

    A column whose keys are looked for has the last of the keys. ``cells`` are those that expressions read. A number or
    a key that is derived is computed, whatever is given for it.
    """

    person: str | None
    instant: int | None
    number: float | None = None
    keys: tuple[str | None, ...] = ()
    cells: Mapping[Cell, Value] = field(default_factory=dict, hash=False)


def held_cells(records: Iterable[Record], question: Question) -> dict[PersonCell, int]:
    """What each person has in each cell, unbounded; a row that stands alone is a person of its own."""
    cells: dict[PersonCell, int] = defaultdict(int)
    for cell, steps in located_steps(records, question):
        cells[cell] += steps
    return cells


def located_steps(records: Iterable[Record], question: Question) -> Iterator[tuple[PersonCell, int]]:
    """Return each row that counts: its person, period and place, and its number in steps."""
    codes = codes_of(question)
    return ((cell, _steps(record, question, codes)) for cell, record in _located(records, question))


def counted_rows(records: Iterable[Record], question: Question) -> dict[PersonCell, int]:
    """How many rows each person has in each cell."""
    cells: dict[PersonCell, int] = defaultdict(int)
    for cell, _ in _located(records, question):
        cells[cell] += 1
    return cells


def chosen_cells(cells: Iterable[PersonCell], question: Question, key: str) -> Iterable[PersonCell]:
    """Return the cells in the places and periods of people that count."""
    if question.user is None:
        return list(cells)
    held: dict[object, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for person, period, place in cells:
        held[person][period].append(place)
    chosen = []
    horizon, bins = len(question.calendar), question.weighed_bins
    places = question.places // bins
    for person, visited in held.items():
        seeds = seeds_of(key, str(person))
        kept = sorted(visited, key=lambda period: priority(period, seeds))[: question.max_periods]
        for period in kept:
            base = horizon + period * places
            together = {place // bins for place in visited[period]}  # bins of weighed rows are not chosen among
            in_order = sorted(together, key=lambda place: priority(base + place, seeds))[: question.max_places]
            chosen += [(person, period, place) for place in visited[period] if place // bins in in_order]
    return chosen


def _located(records: Iterable[Record], question: Question) -> Iterator[tuple[PersonCell, Record]]:
    codes, expressions = codes_of(question), question.expressions
    for row, raw in enumerate(records):
        record = computed_record(raw, expressions)
        located = None if record is None else location_of(row, record, question, codes)
        if record is not None and located is not None:
            yield located, record


def codes_of(question: Question) -> Codes:
    """Return the number of each key, to be looked up: there may be thousands."""
    return tuple({key: code for code, key in enumerate(grouping.keys)} for grouping in question.groupings)


def location_of(row: int, record: Record, question: Question, codes: Codes) -> PersonCell | None:
    """Return the person, the period and the place of a row; None if it does not count."""
    period, place = _period(record, question), _place(record, question, codes)
    if period is None or place is None or (question.user is not None and record.person is None):
        return None
    return row if question.user is None else record.person, period, place


def computed_record(record: Record, computed: Expressions) -> Record | None:
    """Return a row with its derived number and keys; None if the filter does not hold of it."""
    if computed.where is None and computed.number is None and computed.keys == (None,) * len(record.keys):
        return record  # nothing is computed: it is what it is
    if computed.where is not None and evaluate(computed.where, record.cells) is not True:
        return None
    number = record.number if computed.number is None else evaluate(computed.number, record.cells)
    keys = record.keys or (None,) * len(computed.keys)
    derived = (
        own if key is None else evaluate(key, record.cells) for own, key in zip(keys, computed.keys, strict=True)
    )
    return replace(record, number=number, keys=tuple(derived))


def _period(record: Record, question: Question) -> int | None:
    edges = question.calendar.edges
    if record.instant is None or not edges[0] <= record.instant < edges[-1]:
        return None
    return bisect.bisect_right(edges, record.instant) - 1


def _place(record: Record, question: Question, codes: Codes) -> int | None:
    place = 0
    for numbers, found in zip(codes, record.keys, strict=True):
        if found not in numbers:
            return None
        place = place * len(numbers) + numbers[found]
    if question.value is not None and (record.number is None or not math.isfinite(record.number)):
        return None
    if question.edges:
        number = record.number
        if number is None or not question.edges[0] <= number <= question.edges[-1]:
            return None
        bins = len(question.edges) - 1
        place = place * bins + min(bisect.bisect_right(question.edges, number) - 1, bins - 1)
    return place


def _steps(record: Record, question: Question, codes: Codes) -> int:
    if question.value is None or question.edges or record.number is None:
        return round(1 / question.grid.step)
    limit = float(question.row_limit)
    held = max(-limit, min(limit, record.number * _per_unit(record, question, codes)))
    steps = math.floor(held + 0.5)
    low, high = question.clip
    return steps if question.rows is None else min(max(steps, low), high) - low


def _per_unit(record: Record, question: Question, codes: Codes) -> float:
    """How many steps a value of 1 has, for the key of the row."""
    if question.scaling is None:
        return question.per_unit[0]
    place = question.scaling.grouping
    return question.per_unit[codes[place][record.keys[place]]]

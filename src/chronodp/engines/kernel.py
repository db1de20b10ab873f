"""The packed sort: people's rows in one stretch of memory become bounded totals, without a hash table.

A row is one 64-bit word: person, cell, and its place in the stretch. Sorting the words brings a person's rows in a cell
together; sorting alone is many times faster than sorting with a permutation.

Steps 3 to 5 of "What is computed" in ``docs/explanation/proofs/bounding.md``: `add_up` is step 3, the clip step 4,
`lowest` step 5. A word while it is sorted, of n rows in the stretch, r = ⌈log2 n⌉:

    highest bits     cell_bits bits     lowest r bits
    person           cell               row's place in the stretch

Persons count from 0 within the stretch; `people_index` makes stretches so short that all three fit 64 bits. After the
sort equal (person, cell) lie together, and the row says which of ``steps`` belongs to the word.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chronodp.engines.choice import Seeds, Words, priorities
from chronodp.engines.question import TALLIED, Question
from chronodp.engines.stays import find_stays, runs_of
from chronodp.errors import UnreadableSource

__all__ = ["Bounded", "add_up", "beside", "bound", "lowest", "runs_of", "within_places"]


_WORD = 64


@dataclass(frozen=True, slots=True)
class Bounded:
    """What is kept of some people, and what they had.

    Attributes:
        cells: the cell of each kept total.
        totals: the kept totals, clipped, or weighed.
        rows: of how many rows each kept total is made; None where totals are clipped.
        people: how many people there were, ``people_over`` of them over a limit.
        everything: how many totals there were, ``before`` and ``clipped`` their sums.
        stays: where it is asked who is present, the cells in which kept stays begin and have their last active period.
    """

    cells: Words
    totals: Words
    rows: Words | None
    people: int
    people_over: int
    everything: int
    before: int
    clipped: int
    stays: tuple[Words, Words] | None = None

    def kept(self, question: Question) -> int:
        """Return the sum of what is kept, or the weight of its rows."""
        return int((self.totals if self.rows is None else question.tallied(self.totals, self.rows)).sum())


def bound(
    words: NDArray[np.uint64], steps: NDArray[np.int32], cell_bits: int, question: Question, seeds: Seeds
) -> Bounded:
    """Return the bounded totals of the people in ``words``, numbered from 0; ``seeds`` are theirs.

    The words are sorted where they lie, and lost.
    """
    persons, cells, totals, rows = add_up(words, steps, cell_bits, question)
    everything = len(totals)
    if rows is None:
        before = int(totals.sum())
        np.clip(totals, *question.clip, out=totals)
        clipped = int(totals.sum())
    else:
        before = TALLIED * int(rows.sum())
        totals = question.weigh(totals, beside(persons, cells, rows, question))
        clipped = int(question.tallied(totals, rows).sum())
    people = len(runs_of(persons)) - 1
    over = np.zeros(len(seeds[0]), dtype=bool)
    keep = within_places(persons, cells, question, seeds, over)
    if keep is not None:
        persons, cells, totals = persons[keep], cells[keep], totals[keep]
        rows = rows if rows is None else rows[keep]
    keep = None
    if question.max_periods is not None and question.places == 1:
        keep = lowest(runs_of(persons), question.max_periods, cells, persons, seeds, over)
    elif question.max_periods is not None:
        periods = cells // question.places
        visits = runs_of(persons * len(question.calendar) + periods)
        starts = visits[:-1]
        keep = lowest(runs_of(persons[starts]), question.max_periods, periods[starts], persons[starts], seeds, over)
        keep = keep if keep is None else np.repeat(keep, np.diff(visits))
    if keep is not None:
        persons, cells, totals = persons[keep], cells[keep], totals[keep]
        rows = rows if rows is None else rows[keep]
    stays = None
    if question.window is not None:
        found = find_stays(persons, cells, question, over)
        cells, totals, stays = cells[found.kept], totals[found.kept], (found.begun, found.ended)
    return Bounded(cells, totals, rows, people, int(over.sum()), everything, before, clipped, stays)


def add_up(
    words: NDArray[np.uint64], steps: NDArray[np.int32], cell_bits: int, question: Question
) -> tuple[Words, Words, Words, Words | None]:
    """Return person, cell, total, and rows where these are weighed, for every person and cell that occurs, in order."""
    row_bits = np.uint64(max(1, (len(words) - 1).bit_length()))
    if len(words) and int(words.max()).bit_length() + int(row_bits) > _WORD:
        # Bits that are shifted out would make rows of one person another's.
        raise UnreadableSource(
            "there are more rows or people than can be told apart: fewer cells, or a part of the rows"
        )
    words <<= row_bits
    words |= np.arange(len(words), dtype=np.uint64)
    words.sort()
    ordered = steps[(words & ((np.uint64(1) << row_bits) - np.uint64(1))).view(np.int64)]
    words >>= row_bits
    keys = words.view(np.int64)
    runs = runs_of(keys)
    starts = runs[:-1]
    # In 64 bits: a row has at most 2^31 steps, and 2^32 rows of one person in one cell still fit.
    totals = np.add.reduceat(ordered, starts, dtype=np.int64) if len(starts) else np.zeros(0, np.int64)
    keys = keys[starts]
    rows = None if question.rows is None else np.diff(runs)
    return keys >> cell_bits, keys & ((1 << cell_bits) - 1), totals, rows


def beside(persons: Words, cells: Words, rows: Words, question: Question) -> Words:
    """Return, for each total, how many rows its person has in the same group of the same period, in whichever bins."""
    if question.weighed_bins == 1:
        return rows
    runs = runs_of(persons * question.cells + cells // question.weighed_bins)
    together = np.add.reduceat(rows, runs[:-1]) if len(rows) else rows
    return np.repeat(together, np.diff(runs))


def within_places(
    persons: Words, cells: Words, question: Question, seeds: Seeds, over: NDArray[np.bool_]
) -> NDArray[np.bool_] | None:
    """Return which totals are in places of their person and period that count; None if all are."""
    bins = question.weighed_bins
    places = question.places // bins
    if question.max_places is None or question.max_places >= places:
        return None
    if bins == 1:
        visits = runs_of(persons * len(question.calendar) + cells // places)
        # T + z in place of x: periods and cells of one person must not share a place in the order.
        return lowest(visits, question.max_places, cells + len(question.calendar), persons, seeds, over)
    # Groups are chosen, with all of their bins, as single numbers are that stand for them.
    groups = cells // bins
    held = runs_of(persons * question.cells + groups)
    starts = held[:-1]
    keep = within_places(persons[starts], groups[starts], replace(question, edges=()), seeds, over)
    return keep if keep is None else np.repeat(keep, np.diff(held))


def lowest(
    runs: Words, limit: int | Words, numbers: Words, persons: Words, seeds: Seeds, over: NDArray[np.bool_]
) -> NDArray[np.bool_] | None:
    """Return which elements are among the ``limit`` first of their run in their person's order; None if all are.

    Those of whom some are not are marked in ``over``. The limit is one for all, or one for each run, and may be 0.
    """
    starts, lengths = runs[:-1], np.diff(runs)
    long = lengths > limit
    if not long.any():
        return None
    who = persons[starts[long]]
    over[who] = True
    concerned = None if long.all() else np.repeat(long, lengths)
    limits = np.broadcast_to(limit, long.shape)[long]
    numbers, lengths = (numbers, lengths) if concerned is None else (numbers[concerned], lengths[long])
    order = _in_runs(numbers, who, lengths, seeds)
    # Within a run no two are equal, so exactly its limit are at or below the last one kept.
    last = np.sort(order)[np.cumsum(lengths) - lengths + np.maximum(limits - 1, 0)]
    last[limits == 0] = -1
    among: NDArray[np.bool_] = order <= np.repeat(last, lengths)
    if concerned is None:
        return among
    keep = ~concerned
    keep[concerned] = among
    return keep


def _in_runs(numbers: Words, who: Words, lengths: Words, seeds: Seeds) -> Words:
    """Return words that stand in the order of runs, and within a run in the order of its person in ``who``.

    Bits 30 … 0 are the priority, below 2^31 - 1; the bits above number the run. One sort orders all runs at once.
    """
    multiplier, shift, offset = (np.repeat(seed[who], lengths) for seed in seeds)
    order = priorities(numbers, (multiplier, shift, offset))
    order |= np.repeat(np.arange(len(lengths)) << 31, lengths)
    return order

"""The packed sort where everyone has a life: which periods a room pays for, and what they take.

"What an engine keeps and books" of ``docs/explanation/proofs/bounding.md``. People of a stretch are numbered from 0, as
in `kernel`, and each is looked at by themselves: what is kept of a person and what they pay follow from their own
totals, their own room and their own seeds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chronodp.engines.choice import Seeds, Words
from chronodp.engines.kernel import add_up, beside, lowest, runs_of, within_places
from chronodp.engines.lives import LifeQuestion, WholePrice

__all__ = ["Kept", "keep"]


@dataclass(frozen=True, slots=True)
class Kept:
    """What counts of some people.

    Attributes:
        cells: the cell of each kept total.
        totals: the kept totals, clipped, or weighed.
        rows: of how many rows each kept total is made; None where totals are clipped.
        spent: what each person pays, from 0 on; 0 for those of whom nothing counts.
    """

    cells: Words
    totals: Words
    rows: Words | None
    spent: Words


def keep(
    words: NDArray[np.uint64], steps: NDArray[np.int32], cell_bits: int, asked: LifeQuestion, seeds: Seeds, room: Words
) -> Kept:
    """Return what counts of the people in ``words``, numbered from 0; ``seeds`` and ``room`` are theirs.

    The words are sorted where they lie, and lost.
    """
    question = asked.question
    persons, cells, totals, rows = add_up(words, steps, cell_bits, question)
    if rows is None:
        np.clip(totals, *question.clip, out=totals)
    else:
        totals = question.weigh(totals, beside(persons, cells, rows, question))
    over = np.zeros(len(room), dtype=bool)
    among = within_places(persons, cells, question, seeds, over)
    if among is not None:
        persons, cells, totals = persons[among], cells[among], totals[among]
        rows = rows if rows is None else rows[among]
    periods = cells // question.places
    visits = runs_of(persons * len(question.calendar) + periods)
    starts = visits[:-1]
    held = _Held(runs_of(persons[starts]), persons[starts], periods[starts], seeds, room)
    fits, spent = held.whole(asked.price)
    if fits is not None:
        fits = np.repeat(fits, np.diff(visits))
        cells, totals = cells[fits], totals[fits]
        rows = rows if rows is None else rows[fits]
    return Kept(cells, totals, rows, spent)


@dataclass(frozen=True, slots=True)
class _Held:
    """The periods that people have, each person's in a run."""

    runs: Words
    persons: Words
    periods: Words
    seeds: Seeds
    room: Words

    def whole(self, price: WholePrice) -> tuple[NDArray[np.bool_] | None, Words]:
        """Which periods fit where as many as count are paid for, None if all do; and what everyone pays."""
        who, spent = self.persons[self.runs[:-1]], np.zeros_like(self.room)
        limits = price.most(self.room[who])
        fits = lowest(self.runs, limits, self.periods, self.persons, self.seeds, np.zeros(len(self.room), dtype=bool))
        counted = np.minimum(np.diff(self.runs), limits)
        spent[who[counted > 0]] = price.of(counted[counted > 0])
        return fits, spent

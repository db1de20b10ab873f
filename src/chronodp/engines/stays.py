"""Stays: runs of periods in which a person is present, made of the periods in which they are active.

"The cap" of ``docs/explanation/proofs/active-people.md``. With w periods to a window, a person's active period s in a
place begins a stay there if no other lies in the w periods before it; the stay lasts until w periods from its last
active one. Of a person's stays over all places those count that begin first, of several in one period those of lower
places. Nothing but the person's own active cells is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.engines.choice import Words
from chronodp.engines.question import Question

__all__ = ["Stays", "find_stays", "runs_of"]


@dataclass(frozen=True, slots=True)
class Stays:
    """The stays of some people that count.

    Attributes:
        begun: the cell in which each begins.
        ended: the cell with its last active period.
        kept: which of the active cells belong to them.
    """

    begun: Words
    ended: Words
    kept: NDArray[np.bool_]


def find_stays(persons: Words, cells: Words, question: Question, over: NDArray[np.bool_]) -> Stays:
    """Return the stays that count of people's active cells, which are in order of person and cell.

    Those who have more are marked in ``over``.
    """
    window, places = question.window or 1, question.places
    if not len(cells):
        return Stays(cells, cells, np.ones(0, dtype=bool))
    order = None
    if places > 1:  # a person's cells of one place together, in order of time
        order = np.lexsort((cells, cells % places, persons))
        persons, cells = persons[order], cells[order]
    apart = (persons[1:] != persons[:-1]) | (cells[1:] - cells[:-1] > window * places)
    if places > 1:
        apart |= cells[1:] % places != cells[:-1] % places
    firsts = np.concatenate(([0], np.flatnonzero(apart) + 1))
    lasts = np.concatenate((firsts[1:], [len(cells)])) - 1
    kept = _first(persons[firsts], cells[firsts], question.max_stays, over)
    active = np.repeat(kept, lasts - firsts + 1)
    if order is not None:
        back = np.empty_like(active)
        back[order] = active
        active = back
    return Stays(cells[firsts[kept]], cells[lasts[kept]], active)


def _first(persons: Words, begun: Words, limit: int | None, over: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which stays are among the ``limit`` first of their person; persons are in order."""
    kept = np.ones(len(persons), dtype=bool)
    if limit is None:
        return kept
    runs = runs_of(persons)
    lengths = np.diff(runs)
    if not (lengths > limit).any():
        return kept
    over[persons[runs[:-1][lengths > limit]]] = True
    # Of one place stays are in order of time already; of several a person's are put in order of their first cells.
    order = np.lexsort((begun, persons))
    kept[order] = np.arange(len(persons)) - np.repeat(runs[:-1], lengths) < limit
    return kept


def runs_of(ordered: NDArray[np.integer[Any]]) -> Words:
    """Return where each run of equal numbers begins, and the end."""
    changes = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    first = [0] if len(ordered) else []
    return np.concatenate((first, changes, [len(ordered)])).astype(np.int64)

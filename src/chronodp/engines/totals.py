"""What every engine answers: bounded integer totals, one for each cell, and for the owner what bounds take away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from chronodp.engines.question import Question

__all__ = ["BoundsReport", "Totals"]


@dataclass(frozen=True, slots=True)
class BoundsReport:
    """What the bounds take away, for the owner's eyes only: publishing it would be a release of its own.

    Attributes:
        people: people with at least one row that counts.
        people_over: of these, how many were over a limit and lost periods or places, or had their series scaled.
        cells: pairs of a person and a cell.
        cells_kept: of these, how many were kept.
        before: sum of people's totals before anything was bounded.
        clipped: the same after clipping.
        kept: the same after leaving out periods and places, or scaling, as well: what is released, before noise.
        weighed: whether rows are weighed: the three are then how many rows there are, and their weight.
    """

    people: int
    people_over: int
    cells: int
    cells_kept: int
    before: float
    clipped: float
    kept: float
    weighed: bool = False


@dataclass(frozen=True, slots=True)
class Totals:
    """The answer: exact integers, the same from every engine.

    Attributes:
        sums: clipped totals added up, in steps of the grid, by period and place.
        people: how many people (or rows, where there is no person) were added up there; where rows are weighed, their
            weight, of one person at most `Question.rows`.
        squares: their squares added up, as `Question.square` has them; all 0 where none are asked for.
    """

    sums: NDArray[np.int64]
    people: NDArray[np.int64]
    squares: NDArray[np.int64]

    @classmethod
    def none(cls, question: Question) -> Self:
        """Return the totals of nobody, to be added to."""
        return cls(*(np.zeros(question.cells, np.int64) for _ in range(3)))

    @classmethod
    def of_stays(cls, question: Question, begun: NDArray[np.int64], ended: NDArray[np.int64]) -> Self:
        """Return who is present, from how many kept stays begin in each cell and how many have their last active there.

        A stay lasts from its first active period on until ``window`` periods from its last, so present in a period are
        those who have begun, less those whose last active period lies ``window`` periods back or more.
        """
        if question.window is None:
            raise AssertionError("asked where people are present only")
        shape = (len(question.calendar), question.places)
        people = np.cumsum(begun.reshape(shape), axis=0)
        people[question.window :] -= np.cumsum(ended.reshape(shape), axis=0)[: -question.window]
        return cls(people.ravel() * question.clip[1], people.ravel(), np.zeros(question.cells, np.int64))

    @classmethod
    def of_cells(cls, question: Question, rows: Mapping[str, NDArray[np.int64]]) -> Self:
        """Return the totals from the answer of a `statement`: a column of cells, and one of each kind of totals."""
        totals = cls.none(question)
        if question.window is not None:
            for column, name in ((totals.sums, "begun"), (totals.people, "ended")):
                column[rows["cell"]] = rows[name]
            return cls.of_stays(question, totals.sums, totals.people)
        for name in rows.keys() - {"cell"}:
            getattr(totals, name)[rows["cell"]] = rows[name]
        return totals

"""How much travels between machines for a question, before it is asked: from public bounds and a guess of people."""

from __future__ import annotations

from dataclasses import dataclass

from chronodp.engines.question import Question
from chronodp.privacy import check_whole

__all__ = ["Volume", "estimate_volume"]

_FIXED = 8 + 8 + 8 + 8  # of a row in Spark: its nulls, where the name lies, the cell, the total
_WORD = 8  # names take whole words


@dataclass(frozen=True, slots=True)
class Volume:
    """What travels, at most.

    Attributes:
        cells: pairs of a person and a cell.
        added: bytes of the first exchange, where what each task has added up is added up.
        chosen: bytes of the second, where a person's cells meet; 0 where no limit needs it.
        answered: bytes of the last one, the answer of each task.
    """

    cells: int
    added: int
    chosen: int
    answered: int

    def __str__(self) -> str:
        total = self.added + self.chosen + self.answered
        return f"{self.cells:,} cells of people; at most {total / 2**30:,.3g} GiB between tasks, before compression"


def estimate_volume(
    question: Question, *, people: int, periods: int, tasks: int, places: int = 1, name: int = 16
) -> Volume:
    """Return how much travels at most, if people are no more than you say.

    Args:
        question: what is asked.
        people: how many there are.
        periods: in how many periods a person has rows.
        tasks: how many tasks read the table.
        places: in how many places of a period a person has rows.
        name: bytes of a person's name.

    >>> from chronodp.privacy import Calendar, Grid
    >>> hours = Calendar("1h", "2026-01-01", "2026-01-31")
    >>> load = Question(hours, "at", "meter", "kwh", Grid(2.0**-16), (0, 5 * 2**16), max_periods=24)
    >>> print(estimate_volume(load, people=100_000, periods=90, tasks=2, name=8))
    9,000,000 cells of people; at most 0.671 GiB between tasks, before compression
    """
    for argument, value in (("people", people), ("periods", periods), ("tasks", tasks), ("places", places)):
        check_whole(argument, value)
    check_whole("name", name)
    cells = people * min(periods, len(question.calendar)) * min(places, question.places)
    row = _FIXED + -(-name // _WORD) * _WORD
    limited = question.max_periods is not None or question.max_places is not None
    return Volume(cells, cells * row, cells * row if limited else 0, tasks * question.cells * _FIXED)

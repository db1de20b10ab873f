"""Questions whose whole series are scaled to a length, and random tables for them."""

from __future__ import annotations

from collections.abc import Iterator

from chronodp.engines import LossesQuestion, MissingQuestion, Question, Record
from chronodp.privacy import Grid
from tests.engines.finding import CALENDAR, REGION

__all__ = ["asked_lengths", "asked_missing", "asked_scaled", "largest"]

_MOST = 2**31


def asked_scaled() -> Iterator[Question]:
    """Return questions from no length at all to the longest, on coarse and fine grids, of both signs or one."""
    for step, low in ((0.125, -_MOST), (2.0**-20, -_MOST), (2.0**-28, 0)):
        for norm in (0, 1, 17, 2**20 + 1, 2**30, _MOST):
            yield Question(CALENDAR, "at", "who", "number", Grid(step), (low, _MOST), (REGION,), norm=norm)


def asked_missing() -> Iterator[MissingQuestion]:
    """Return questions of what scaling takes away."""
    for question in asked_scaled():
        norm = question.norm or 1
        yield MissingQuestion(question, top=16 * norm, cap=4 * norm, whole_person=True, beyond=True)


def asked_lengths() -> Iterator[LossesQuestion]:
    """Return questions of losses by candidates for the length."""
    norms = (1, 17, 2**20, 2**25 + 1, 2**30, _MOST)
    for step, row_limit in ((0.125, 2**62), (2.0**-20, 2**62), (2.0**-28, 2**31 - 1)):
        question = Question(CALENDAR, "at", "who", "number", Grid(step), (0, 1), (REGION,), row_limit=row_limit)
        for cap in (10, 2**20, 2**30):
            yield LossesQuestion(question, norms, (5,), (2,), _MOST, cap, whole_person=True, whole_series=True)


def largest() -> list[Record]:
    """Return one person with more than any cell may hold, of both signs, in every cell."""
    days = [int(edge) for edge in CALENDAR.edges[:-1]]
    return [
        Record("ann", day, sign * 1e300, (key,)) for day in days for key, sign in (("north", 1.0), ("south", -1.0))
    ] * 2

"""Questions by which bounds are found, of who was active and of whole series, and random tables for them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace

from chronodp.engines import Grouping, LossesQuestion, MissingQuestion, Question, Record, SizesQuestion
from chronodp.privacy import Calendar, Grid
from tests.engines.neighbours import random_world

CALENDAR = Calendar("1D", "2026-10-23", "2026-10-28", "Europe/Berlin")
REGION = Grouping("region", ("north", "south"))
_NORTH = (Grouping("region", ("north",)),)
_SUMMED = Question(CALENDAR, "at", "who", "number", Grid(2.0**-20), (0, 1), (REGION,))
_SIZES = tuple(round(2.0 ** (index / 2 + 20)) for index in range(-30, 60))


def crowd(chance: random.Random, worlds: int) -> list[Record]:
    """Return many small tables as one, the people of each named apart."""
    return [
        replace(record, person=record.person and f"{record.person} {number}")
        for number in range(worlds)
        for record in random_world(chance, CALENDAR, most=30)
    ]


def asked_sizes() -> Iterator[SizesQuestion]:
    """Return questions of votes: of people and of periods, with rows that reach far, of counts, of rows alone."""
    wide = replace(_SUMMED, row_limit=2**62)
    for question in (wide, replace(wide, groupings=_NORTH), replace(_SUMMED, value=None), replace(wide, user=None)):
        for whole_person in (True, False):
            for top in (2**19, 2**61):
                for means in (False, True):
                    yield SizesQuestion(question, _SIZES, top, whole_person, means=means)
                yield SizesQuestion(question, _SIZES, top, whole_person, rows=True)


def asked_losses() -> Iterator[LossesQuestion]:
    """Return questions of losses: of people and of periods, in groups or not, of rows alone."""
    sizes = (2**18, 2**20, 3 * 2**19, 2**22, 2**24)
    for question in (_SUMMED, replace(_SUMMED, groupings=_NORTH), replace(_SUMMED, user=None)):
        for whole_person in (True, False):
            for cap in (1, 2**20, 2**30):
                groups = (1, 2) if question.places > 1 else (1,)
                for means in (False, True):
                    yield LossesQuestion(question, sizes, (1, 2, 3, 5), groups, 2**25, cap, whole_person, means=means)


# Questions of who was active lately.


def asked_stays() -> Iterator[Question]:
    """Return questions with windows of two periods and of more than there are, with and without each limit."""
    groupings = ((Grouping("region", ("north",)),), (REGION,))
    for window, stays, periods, by in itertools.product((2, 9), (None, 1), (None, 2), groupings):
        for places in (None, 1) if by == (REGION,) else (None,):
            yield Question(
                CALENDAR, "at", "who", None, Grid(0.25), (0, 4), by, max_periods=periods, max_places=places,
                window=window, max_stays=stays,
            )  # fmt: skip


# Questions whose whole series are scaled to a length, and random tables for them.


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

"""Questions by which bounds are found, and random tables for them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from chronodp.engines import Grouping, LossesQuestion, Question, Record, SizesQuestion
from chronodp.privacy import Calendar, Grid
from tests.engines.neighbours import random_world

__all__ = ["CALENDAR", "REGION", "asked_losses", "asked_sizes", "crowd"]

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

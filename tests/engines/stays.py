"""Questions of who was active lately."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from chronodp.engines import Grouping, Question
from chronodp.privacy import Grid
from tests.engines.finding import CALENDAR, REGION

__all__ = ["asked_stays"]


def asked_stays() -> Iterator[Question]:
    """Return questions with windows of two periods and of more than there are, with and without each limit."""
    groupings = ((Grouping("region", ("north",)),), (REGION,))
    for window, stays, periods, by in itertools.product((2, 9), (None, 1), (None, 2), groupings):
        for places in (None, 1) if by == (REGION,) else (None,):
            yield Question(
                CALENDAR,
                "at",
                "who",
                None,
                Grid(0.25),
                (0, 4),
                by,
                max_periods=periods,
                max_places=places,
                window=window,
                max_stays=stays,
            )

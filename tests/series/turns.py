"""Cases of two lists together: every pair at stated counts, else what covers both lists."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from tests.conftest import SCALE

__all__ = ["in_turn"]


def in_turn(one: Sequence[Any], other: Sequence[Any]) -> list[Any]:
    """Return all pairs at stated counts; else each entry of the longer list with the next of the shorter one.

    Entries that are tuples are several parameters each.
    """
    short = min(len(one), len(other))
    return [
        _spread(first, second)
        for (place, first), (turn, second) in itertools.product(enumerate(one), enumerate(other))
        if SCALE >= 1 or place % short == turn % short
    ]


def _spread(*parts: Any) -> tuple[Any, ...]:
    return tuple(itertools.chain.from_iterable(part if isinstance(part, tuple) else (part,) for part in parts))

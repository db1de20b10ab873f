"""A few cases that cover what many repeat."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

from tests.conftest import SCALE

__all__ = ["each", "few", "in_turn"]

Case = TypeVar("Case")


def few(cases: Sequence[Case], features: Callable[[Case], Sequence[Hashable]], *, together: int = 2) -> list[Case]:
    """Return all cases at stated counts, and otherwise so few that each pair of their features is still met.

    Args:
        cases: in an order that does not change.
        features: what code of its own may hang on, always as many.
        together: how many features are to meet: 1 where each has code of its own and no two have.
    """
    if SCALE >= 1:
        return list(cases)
    met = [set(itertools.combinations(enumerate(features(case)), together)) for case in cases]
    left, chosen = set().union(*met), []
    while left:
        best = max(range(len(cases)), key=lambda index: len(met[index] & left))
        chosen.append(best)
        left -= met[best]
    return [cases[index] for index in sorted(chosen)]


def each(*values: Sequence[Hashable]) -> list[tuple[Any, ...]]:
    """Return all combinations at stated counts, and otherwise so few that each value is still met."""
    combined: list[tuple[Any, ...]] = list(itertools.product(*values))
    return few(combined, lambda case: case, together=1)


def in_turn(one: Sequence[Any], other: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return all pairs at stated counts, and otherwise each of the longer list with the next of the shorter one.

    So those of the shorter list are met equally often. Entries that are tuples are several parameters each.
    """
    short = min(len(one), len(other))
    return [
        (*_several(first), *_several(second))
        for (place, first), (turn, second) in itertools.product(enumerate(one), enumerate(other))
        if SCALE >= 1 or place % short == turn % short
    ]


def _several(part: Any) -> tuple[Any, ...]:
    return part if isinstance(part, tuple) else (part,)

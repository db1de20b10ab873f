"""Histories of values, and all that a device tells about them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence

from chronodp.audit.devices import report_history
from chronodp.audit.exact import Finding, Outcomes, compare_outcomes, outcomes
from chronodp.local import LocalPlan

History = tuple[float, ...]
Pair = tuple[History, History]


def teller(plan: LocalPlan, *, most_decays: int = 36) -> Callable[..., object]:
    """The shipped device code on a whole history."""
    compiled = plan.compiled

    def tell(history: History, *, entropy: object) -> object:
        return report_history(compiled, history, entropy=entropy, most_decays=most_decays)  # type: ignore[arg-type]

    return tell


def pairs(values: Sequence[float], length: int) -> tuple[list[Pair], list[Pair]]:
    """All pairs of histories: those that hold equal values at the same times, and all others."""
    same: list[Pair] = []
    different: list[Pair] = []
    for first, second in itertools.combinations(itertools.product(values, repeat=length), 2):
        (same if _pattern(first) == _pattern(second) else different).append((first, second))
    return same, different


def worst(plan: LocalPlan, neighbours: Sequence[Pair], *, most_decays: int = 36) -> Finding:
    """The worst that any pair shows. A history that stands in several pairs, or is asked for again, is walked once."""
    return compare_outcomes(
        [(_walked(plan, one, most_decays), _walked(plan, two, most_decays)) for one, two in neighbours]
    )


@functools.lru_cache(maxsize=256)
def _walked(plan: LocalPlan, history: History, most_decays: int) -> Outcomes:
    tell = teller(plan, most_decays=most_decays)
    return outcomes(lambda entropy: tell(history, entropy=entropy))


def _pattern(history: History) -> tuple[int, ...]:
    return tuple(history.index(value) for value in history)

"""Histories of values, and all that a device tells about them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from chronodp.audit.devices import report_history
from chronodp.audit.exact import Finding, examine
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


def worst(plan: LocalPlan, neighbours: Sequence[Pair], **options: int) -> Finding:
    return examine(teller(plan, **options), neighbours)


def _pattern(history: History) -> tuple[int, ...]:
    return tuple(history.index(value) for value in history)

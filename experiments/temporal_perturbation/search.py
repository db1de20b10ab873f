"""Algorithm 2: a binary search for the best threshold, beside a scan of them all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chronodp.temporal import choose_threshold
from experiments.claims import Claim, always, computation
from experiments.temporal_perturbation.dispatch import derived_curve
from experiments.temporal_perturbation.rows import row

__all__ = ["pairs_searched", "rows", "scan", "searched"]

Choice = tuple[str, int]


def rows() -> list[Claim]:
    """Return the row of section IV-F."""

    def agree() -> list[bool]:
        return [searched(*pair) == scan(*pair) for pair in pairs_searched()]

    return [
        row(
            id="L28",
            place="IV-F, Algorithm 2",
            says="a binary search finds the best threshold",
            rule=always,
            stated="what a scan of all thresholds finds",
            readings={"k = 3 to 60, ε = 0.25 to 16": agree},
            tokens=("binary search",),
            note="it returns a smaller threshold, another extended one, or does not end; a scan costs nothing",
        )
    ]


def pairs_searched() -> list[tuple[int, float]]:
    """Return the windows and budgets that are looked at."""
    return [(window, quarter / 4) for window in range(3, 61) for quarter in range(1, 65)]


def _as_scanned(_: Callable[..., Any]) -> Callable[..., Any]:
    return scan


def _as_searched(_: Callable[..., Any]) -> Callable[..., Any]:
    return searched


@computation(by_scan=_as_scanned)
def searched(window: int, epsilon: float) -> Choice:
    """Return what the printed search returns: its kind and threshold, or "nothing" where it does not end."""
    curve = derived_curve(window)

    def budget(threshold: int) -> float:
        return curve[threshold - 2]

    low, high = 2, window - 1
    for _ in range(200):
        if low >= high:
            break
        middle = (low + high) // 2
        first = budget(middle)
        if first < epsilon or (middle > 2 and budget(middle - 1) > first):
            low = middle
        else:
            high = middle
        if low + 1 == high:
            fitting = [part for part in (low, high) if budget(part) <= epsilon]
            return ("plain", fitting[0]) if fitting else _search_extended(budget, high, window - 1, epsilon)
    return "nothing", 0


@computation(by_search=_as_searched)
def scan(window: int, epsilon: float) -> Choice:
    """Return what the library chooses."""
    choice = choose_threshold(window, epsilon)
    return "extended" if choice.extended else "plain", choice.threshold


def _search_extended(budget: Callable[[int], float], low: int, high: int, epsilon: float) -> Choice:
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if budget(middle) <= epsilon else (middle, high)
        if low + 1 == high:
            return "extended", high
    return "nothing", 0

"""Lemma 4.1 and Theorem 4.2 as printed, in fractions and in doubles, and what they amount to."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

from experiments.claims import computation
from experiments.temporal_perturbation.rows import larger_fractions

__all__ = [
    "counted_dispatch",
    "counted_taken",
    "printed_dispatch",
    "printed_taken",
    "printed_taken_in_doubles",
]


def _rounded_once(_: Callable[..., Any]) -> Callable[..., Any]:
    return lambda window, threshold: float(_taken(window, threshold))


@computation(larger=larger_fractions)
def printed_taken(window: int, threshold: int) -> Fraction:
    """Return g(k, m) of Lemma 4.1: how often the present time is taken."""
    return _taken(window, threshold)


@computation(rounded_once=_rounded_once)
def printed_taken_in_doubles(window: int, threshold: int) -> float:
    """Return the same, computed in doubles."""
    return _taken_in_doubles(window, threshold)


@computation(larger=larger_fractions)
def counted_taken(window: int, threshold: int) -> Fraction:
    """Return c₀ S(k−1, c₀) / S(k, c₀), S counting the ways to part so many things into so many groups."""
    return Fraction(threshold * _stirling(window - 1, threshold), _stirling(window, threshold))


@computation(larger=larger_fractions)
def printed_dispatch(window: int, threshold: int) -> tuple[Fraction, ...]:
    """Return the three printed sums of Theorem 4.2, for every delay."""
    spread = window - threshold
    falls = [Fraction(-1, threshold) ** part * _product(window, threshold, part) for part in range(1, spread + 1)]
    taken = _taken(window, threshold)
    first = taken + sum(
        (fall * _ratio(window - 1, 0, part) for part, fall in enumerate(falls, 1)),
        Fraction(0),
    )
    later = [
        -sum((fall * _ratio(window - delay, 1, part - 1) * part for part, fall in enumerate(falls, 1)), Fraction(0))
        for delay in range(2, window)
    ]
    return (1 - taken, first, *later)


@computation(larger=larger_fractions)
def counted_dispatch(window: int, threshold: int) -> tuple[Fraction, ...]:
    """Return the same by numbers of partitions, all of whose terms are positive."""
    whole, spread = _stirling(window, threshold), window - threshold
    later = [
        sum(
            math.comb(delay - 1, part) * _stirling(window - 2 - part, threshold - 1)
            for part in range(min(delay - 1, spread - 1) + 1)
        )
        for delay in range(1, window)
    ]
    return tuple(Fraction(part, whole) for part in (_stirling(window - 1, threshold - 1), *later))


def _product(window: int, threshold: int, parts: int) -> Fraction:
    """Return g(k, m) g(k−1, m−1) …, so many factors."""
    return math.prod((_taken(window - part, threshold) for part in range(parts)), start=Fraction(1))


def _ratio(top: int, shift: int, parts: int) -> Fraction:
    """Return Π (top − i) / (i + shift) over i from 1 to ``parts``."""
    return math.prod((Fraction(top - part, part + shift) for part in range(1, parts + 1)), start=Fraction(1))


@cache
def _stirling(size: int, groups: int) -> int:
    if size == groups:
        return 1
    return groups * _stirling(size - 1, groups) + _stirling(size - 1, groups - 1) if 0 < groups < size else 0


@cache
def _taken(window: int, threshold: int) -> Fraction:
    return Fraction(_lemma(window, threshold, Fraction, _taken))


@cache
def _taken_in_doubles(window: int, threshold: int) -> float:
    return float(_lemma(window, threshold, float, _taken_in_doubles))


def _lemma(window: int, threshold: int, number: Callable[..., Any], before: Callable[[int, int], Any]) -> Any:
    """Return the recursion of the lemma with m = k − c₀; the threshold stays as k and m fall together."""
    spread = window - threshold
    if spread == 1:
        return number(2) / number(window)
    whole = number(1)
    for lag in range(1, spread + 1):
        term = number((-1) ** lag) / number(threshold) ** lag
        for part in range(1, lag + 2):
            term = term * number(window - part) / number(part)
        for part in range(1, lag):
            term = term * before(window - part, threshold)
        whole = whole - term
    return number(spread) / whole

"""What a reading returns: numbers, pairs that are compared, heights over places."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Heights", "Pair", "numbers", "short"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two numbers that a rule compares, and where they were found."""

    found: float
    against: float
    at: str = ""

    def __str__(self) -> str:
        """Return both numbers and their place."""
        return f"{short(self.found)} against {short(self.against)}" + (f" at {self.at}" if self.at else "")


@dataclass(frozen=True, slots=True)
class Heights:
    """A curve: heights over places."""

    places: Sequence[float]
    heights: Sequence[float]


def numbers(value: Any) -> list[float]:
    """Return one number, or several, as a list."""
    if isinstance(value, Iterable):
        return [float(one) for one in value]
    return [float(value)]


def short(number: float) -> str:
    """Return a number as a table shows it: four digits, whole numbers whole."""
    if number == int(number) if abs(number) < 1e15 else False:
        return f"{int(number):,}"
    return f"{number:.4g}" if abs(number) < 1e-3 or abs(number) >= 1e6 else f"{number:,.4f}".rstrip("0").rstrip(".")

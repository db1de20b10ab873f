"""In which order several quantiles are chosen: the middle one first, then each side in the part that it leaves.

"Many" of ``docs/explanation/proofs/quantiles.md``: a person lies in one part of each level, so levels are paid and not
quantiles.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from chronodp.privacy import decimal_value

__all__ = ["Step", "levels_of", "steps_of"]


@dataclass(frozen=True, slots=True)
class Step:
    """One quantile's choice, in the part between two that were chosen before.

    Attributes:
        index: of the quantile.
        low: index of the quantile that the part begins at; None for the first edge.
        high: index of the quantile that it ends at; None for the last edge.
        level: how many choices a person of this part has been in before.
        target: which quantile of the part it is.
    """

    index: int
    low: int | None
    high: int | None
    level: int
    target: Fraction

    @property
    def slope(self) -> Fraction:
        """The most that one more person in the part changes a utility: max(q, 1 - q)."""
        return max(self.target, 1 - self.target)


def levels_of(count: int) -> int:
    """Return how many choices one person is in: ⌈log₂(quantiles + 1)⌉."""
    return count.bit_length()


@lru_cache(maxsize=16)
def steps_of(quantiles: tuple[float, ...]) -> tuple[Step, ...]:
    """Return the choices in the order in which they are drawn.

    >>> [(step.index, str(step.target)) for step in steps_of((0.1, 0.5, 0.9))]
    [(1, '1/2'), (0, '1/5'), (2, '4/5')]
    """
    exact = tuple(decimal_value(one) for one in quantiles)
    found: list[Step] = []

    def add(first: int, stop: int, low: int | None, high: int | None, level: int) -> None:
        if first == stop:
            return
        middle = (first + stop) // 2
        begin, end = Fraction(0) if low is None else exact[low], Fraction(1) if high is None else exact[high]
        found.append(Step(middle, low, high, level, (exact[middle] - begin) / (end - begin)))
        add(first, middle, low, middle, level + 1)
        add(middle + 1, stop, middle, high, level + 1)

    add(0, len(exact), None, None, 0)
    return tuple(found)

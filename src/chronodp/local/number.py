"""What every mechanism for numbers in a range shares: its grid, its claim, and how estimates are read.

The grid is that of the paragraph below the table of "One report" in ``docs/explanation/proofs/local.md``: no guarantee
depends on it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.local.probabilities import check_local_epsilon
from chronodp.local.values import FINEST, Range, check_range
from chronodp.privacy import Claim, PureCost, Report, settle
from chronodp.randomness import Entropy, check_entropy

__all__ = ["Number"]


@dataclass(frozen=True)
class Number(ABC):
    """A number from ``clip[0]`` to ``clip[1]``, moved to the nearest of ``grid`` steps before anything is drawn.

    Answers are whole numbers; `amounts` turns each into an unbiased amount.
    """

    epsilon: float
    clip: tuple[float, float] = (-1.0, 1.0)
    grid: int = FINEST

    def __post_init__(self) -> None:
        settle(self, epsilon=check_local_epsilon(self.epsilon))
        found = check_range(self.clip, self.grid)
        settle(self, clip=(found.lower, found.upper), grid=found.steps)

    @cached_property
    def range(self) -> Range:
        """The range and its steps."""
        return check_range(self.clip, self.grid)

    @property
    def claim(self) -> Claim:
        """What is promised of one report."""
        return Claim(Report(), PureCost(self.epsilon), "docs/explanation/proofs/local.md")

    @property
    @abstractmethod
    def table(self) -> dict[str, Any]:
        """What a device draws from."""

    @property
    @abstractmethod
    def bounds(self) -> tuple[int, int]:
        """The least and the largest answer."""

    @abstractmethod
    def variance(self, value: float) -> float:
        """Return the variance of one amount when the true value is ``value``."""

    @property
    def worst_variance(self) -> float:
        """The largest variance of one amount over all values: at an end of the range or in its middle."""
        lower, upper = self.clip
        return max(self.variance(lower), self.variance((lower + upper) / 2))

    def perturb(self, values: ArrayLike, *, entropy: Entropy | None = None) -> NDArray[np.int64]:
        """Return one answer for each value."""
        bits = check_entropy(entropy)
        return self._draw(self.range.check(values), bits)

    def valid(self, answers: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which answers this mechanism could have given."""
        least, most = self.bounds
        made: NDArray[np.bool_] = (answers >= least) & (answers <= most)
        return made

    def amounts(self, answers: NDArray[Any]) -> NDArray[np.float64]:
        """Return an unbiased amount for each answer: its mean over the draws is the value, to half a step."""
        return self.range.from_fractions(self._fractions(answers))

    def amount_bounds(self) -> tuple[float, float]:
        """Return the least and the largest amount that a single answer can stand for."""
        ends = self.amounts(np.array(self.extremes(), dtype=np.int64))
        return float(ends.min()), float(ends.max())

    def extremes(self) -> tuple[int, ...]:
        """Return answers among which the least and the largest amount are."""
        return self.bounds

    @abstractmethod
    def _draw(self, values: NDArray[np.float64], entropy: Entropy) -> NDArray[np.int64]: ...

    @abstractmethod
    def _fractions(self, answers: NDArray[Any]) -> NDArray[np.float64]:
        """Unbiased fractions of the range."""

"""The noise on threshold and values: exponential, or the textbook's Laplace.

Facts (a) and (b) of "What is told" in ``docs/explanation/proofs/alerts.md`` are all that is used of either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import document
from chronodp.randomness import Entropy

__all__ = ["Exponential", "Laplace", "Noise", "check_noise"]


@document("alert_exponential")
@dataclass(frozen=True, slots=True)
class Exponential:
    """Noise that only ever raises threshold and value: the same price as Laplace noise at half the variance."""

    def __str__(self) -> str:
        return "exponential noise"

    def draw(self, scale: float, size: int, entropy: Entropy) -> NDArray[np.int64]:
        """Return whole numbers N >= 0 with P(N >= n) = e^(-n / scale)."""
        return entropy.exponential(scale, size)


@document("alert_laplace")
@dataclass(frozen=True, slots=True)
class Laplace:
    """The textbook's noise, on both sides of zero.

    References:
        Dwork, Roth (2014), The algorithmic foundations of differential privacy, section 3.6.
    """

    def __str__(self) -> str:
        return "Laplace noise"

    def draw(self, scale: float, size: int, entropy: Entropy) -> NDArray[np.int64]:
        """Return Laplace variates of this scale, rounded to whole numbers."""
        return entropy.laplace(scale, size)


Noise: TypeAlias = Exponential | Laplace


def check_noise(value: object) -> Noise:
    """Return ``value`` if it is a kind of noise for alerts."""
    if not isinstance(value, Exponential | Laplace):
        raise InvalidArgument("noise", value, "Exponential() or Laplace()")
    return value

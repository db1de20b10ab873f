"""How often a value is named, by those who hold it and by those who do not; and what follows for estimates.

*Estimates* under "One report" in ``docs/explanation/proofs/local.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Law"]


@dataclass(frozen=True, slots=True)
class Law:
    """The two probabilities that estimates of frequencies need, exact.

    Attributes:
        truth: that a report names the value its device holds (p).
        chance: that a report names any one other value (q).
    """

    truth: Fraction
    chance: Fraction

    @property
    def spread(self) -> float:
        """How much more often a holder names the value, p - q."""
        return float(self.truth - self.chance)

    def frequencies(self, named: ArrayLike, reports: ArrayLike) -> NDArray[np.float64]:
        """Return unbiased frequencies (c/n - q) / (p - q), where c of n reports name a value."""
        counts = np.asarray(named, dtype=np.float64)
        made: NDArray[np.float64] = (counts / np.asarray(reports) - float(self.chance)) / self.spread
        return made

    def variance(self, frequency: ArrayLike, reports: ArrayLike) -> NDArray[np.float64]:
        """Return the variance that the noise gives, [f p(1-p) + (1-f) q(1-q)] / (n (p-q)²)."""
        p, q, f = self.truth, self.chance, np.asarray(frequency, dtype=np.float64)
        each = f * float(p * (1 - p)) + (1 - f) * float(q * (1 - q))
        made: NDArray[np.float64] = each / (np.asarray(reports) * float((p - q) ** 2))
        return made

    def sampled_variance(self, frequency: ArrayLike, reports: ArrayLike) -> NDArray[np.float64]:
        """Return the variance if those who report are a random part of all: λ(1-λ) / (n (p-q)²), λ = f p + (1-f) q."""
        named = float(self.chance) + np.asarray(frequency, dtype=np.float64) * self.spread
        made: NDArray[np.float64] = named * (1 - named) / (np.asarray(reports) * self.spread**2)
        return made

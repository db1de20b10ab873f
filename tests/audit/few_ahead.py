"""Draws made ahead: a mechanism that draws thousands at once and uses a few is walked through those few."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.randomness import Entropy, Shape

_MANY = 1000


class FewAhead:
    """Passes draws on, but of a large batch only the first few, which are all that will be used; the rest are -2^40.

    Should one of the rest be used all the same, it is noise that no law gives, and the comparison of laws shows it.
    """

    def __init__(self, entropy: Entropy, used: int) -> None:
        self._entropy, self._used = entropy, used
        self.seeded = entropy.seeded

    def integers(self, below: ArrayLike, size: Shape | None = None) -> NDArray[np.int64]:
        """Pass on."""
        return self._entropy.integers(below, size)

    def coins(self, numerators: ArrayLike, denominator: int, size: Shape | None = None) -> NDArray[np.bool_]:
        """Pass on."""
        return self._entropy.coins(numerators, denominator, size)

    def exponential_coins(self, exponents: ArrayLike) -> NDArray[np.bool_]:
        """Pass on."""
        return self._entropy.exponential_coins(exponents)

    def permutations(self, count: int, rows: int = 1) -> NDArray[np.int64]:
        """Pass on."""
        return self._entropy.permutations(count, rows)

    def laplace(self, scale: float, size: Shape) -> NDArray[np.int64]:
        """Pass on the first few."""
        return self._filled(self._entropy.laplace(scale, self._few(size)), size)

    def gaussian(self, scale: float, size: Shape) -> NDArray[np.int64]:
        """Pass on the first few."""
        return self._filled(self._entropy.gaussian(scale, self._few(size)), size)

    def exponential(self, scale: float, size: Shape) -> NDArray[np.int64]:
        """Pass on the first few."""
        return self._filled(self._entropy.exponential(scale, self._few(size)), size)

    def _few(self, size: Shape) -> Shape:
        return self._used if isinstance(size, int) and size >= _MANY else size

    def _filled(self, drawn: NDArray[np.int64], size: Shape) -> NDArray[np.int64]:
        if not isinstance(size, int) or size < _MANY:
            return drawn
        return np.concatenate([drawn, np.full(size - len(drawn), -(2**40))])

"""An enumerating entropy that follows Laplace noise less far, so that several steps can be walked through."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from chronodp.audit.enumerated_entropy import EnumeratedEntropy, Weights, exponential, weigh
from chronodp.randomness import Shape

_REACH = 12


class ShortEntropy(EnumeratedEntropy):
    """Follows Laplace noise out to 12 scales: what lies beyond stays unresolved, and speaks for the mechanism."""

    def laplace(self, scale: float, size: Shape) -> NDArray[np.int64]:
        """Choose each integer that the noise can be, out to 12 scales."""
        return self._noise(_weights, scale, size)


@lru_cache(maxsize=64)
def _weights(width: float) -> Weights:
    scale = Fraction(width)

    def below(x: Fraction) -> Fraction:
        tail = exponential(-abs(x) / scale) / 2
        return tail if x < 0 else 1 - tail

    reach = math.ceil(scale * _REACH)
    inside = [
        below(Fraction(2 * place + 1, 2)) - below(Fraction(2 * place - 1, 2)) for place in range(-reach, reach + 1)
    ]
    return weigh([*inside, 1 - sum(inside, Fraction(0))])

"""At which level each of several numbers is told, so that all hold at once.

"Together" in ``docs/explanation/proofs/ratios.md``.
"""

from __future__ import annotations

import math

__all__ = ["simultaneous_level"]


def simultaneous_level(level: float, count: int, *, product: bool) -> float:
    """Return the level of each of ``count`` intervals that hold together with probability ``level``.

    ``product`` (level^(1/count)) is sound for linear readings and ratios of them if the noise is Gaussian, whatever its
    covariance (Šidák); and if it is white Laplace noise, no two numerators share a draw, none shares one with the
    denominator, and the denominator is one for all. Else say False: 1 - (1 - level)/count holds for anything.

    >>> round(simultaneous_level(0.95, 12, product=True), 6), round(simultaneous_level(0.95, 12, product=False), 6)
    (0.995735, 0.995833)
    """
    if count <= 1:
        return level
    return math.exp(math.log(level) / count) if product else 1 - (1 - level) / count

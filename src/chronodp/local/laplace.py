"""Laplace noise on a number, drawn on the device.

Row `LaplaceNumber` of "One report" in ``docs/explanation/proofs/local.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.local.number import Number
from chronodp.privacy import at_least, decimal_value, document
from chronodp.randomness import Entropy

__all__ = ["LaplaceNumber"]

_WIDEST = 2**30
_FAR = 45  # scales beyond which noise is moved back to the border: once in e^45 reports


@document("local_laplace")
@dataclass(frozen=True)
class LaplaceNumber(Number):
    """The value with Laplace noise of scale (upper - lower) / ε, in whole steps of the grid.

    Its variance, 2 (upper - lower)² / ε², is the largest of all for moderate ε and the same for every value.

    Guarantee: one report is ε-differentially private for `Report`, exactly: the noise is ⌊s Z + 1/2⌋ steps of a Laplace
    variate Z with s rounded up. The argument stands in ``docs/explanation/proofs/local.md``.

    References:
        Dwork, McSherry, Nissim, Smith (2006), Calibrating noise to sensitivity.
        Canonne, Kamath, Steinke (2020), The discrete Gaussian for differential privacy (how the device draws it).

    >>> round(LaplaceNumber(epsilon=1.0).variance(0.3), 6)
    8.0
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scale > _WIDEST:
            raise InvalidArgument("epsilon", self.epsilon, f"at least {self.grid / _WIDEST:g}, or the grid coarser")

    @cached_property
    def scale(self) -> float:
        """Scale of the noise in steps, rounded up."""
        return at_least(self.grid / min(Fraction(self.epsilon), decimal_value(self.epsilon)))

    @property
    def table(self) -> dict[str, Any]:
        """What a device draws from."""
        lower, upper = self.clip
        scale = list(Fraction(self.scale).as_integer_ratio())
        bounds = {"least": self.bounds[0], "most": self.bounds[1]}
        return {"kind": "laplace", "lower": lower, "upper": upper, "steps": self.grid, "scale": scale, **bounds}

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the largest answer."""
        reach = math.ceil(_FAR * self.scale)
        return -reach, self.grid + reach

    def variance(self, value: float) -> float:
        """Return the variance of one amount, the same for every ``value``."""
        self.range.check([value])
        # In whole steps the noise is 0 with 1 - e^(-1/2s), else a sign and a geometric number from 1 on.
        kept, ratio = math.exp(-0.5 / self.scale), math.exp(-1 / self.scale)
        return kept * (1 + ratio) / math.expm1(-1 / self.scale) ** 2 * (self.range.width / self.grid) ** 2

    def _draw(self, values: NDArray[np.float64], entropy: Entropy) -> NDArray[np.int64]:
        steps = self.range.to_quanta(values)
        made: NDArray[np.int64] = np.clip(steps + entropy.laplace(self.scale, len(steps)), *self.bounds)
        return made

    def _fractions(self, answers: NDArray[Any]) -> NDArray[np.float64]:
        made: NDArray[np.float64] = answers / self.grid
        return made

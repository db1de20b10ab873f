"""Mechanisms for numbers in a range: one bit, a piece of a wider range, either by a coin, and Laplace noise.

Their rows of "One report" in ``docs/explanation/proofs/local.md``. The grid that all share is that of the paragraph
below its table: no guarantee depends on it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.local.law import Law
from chronodp.local.probabilities import WHOLE, check_local_epsilon, split_odds
from chronodp.local.response import respond
from chronodp.local.values import FINEST, Range, check_range
from chronodp.privacy import Claim, PureCost, Report, at_least, decimal_value, document, settle
from chronodp.randomness import Entropy, check_entropy

__all__ = ["Hybrid", "LaplaceNumber", "Number", "OneBit", "Piecewise"]

_HYBRID_FROM = 0.61  # of epsilon; below, one bit alone is better for every value
_WIDEST = 2**30  # scale of Laplace noise, in steps
_FAR = 45  # scales beyond which noise is moved back to the border: once in e^45 reports


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


@document("local_one_bit")
@dataclass(frozen=True)
class OneBit(Number):
    """One bit, the more likely 1 the larger the value.

    It is 1 with probability q + u (p - q), where

    * u is the value's place in its range, from 0 to 1,
    * p = e^ε / (e^ε + 1) and q = 1 - p.

    It is drawn by rounding the value to an end of the range at random and answering for that end. Kept thresholds and
    kept answers (`Memoised`) make it the 1-bit rounding of counters. The least variance at the ends for small ε.

    Guarantee: one report is ε-differentially private for `Report`, exactly. The argument stands in
    ``docs/explanation/proofs/local.md``.

    References:
        Duchi, Jordan, Wainwright (2013), Local privacy and statistical minimax rates.
        Ding, Kulkarni, Yekhanin (2017), Collecting telemetry data privately.

    >>> round(OneBit(epsilon=1.0).variance(0.0), 6), round(OneBit(epsilon=1.0).variance(1.0), 6)
    (4.682694, 3.682694)
    """

    @cached_property
    def weights(self) -> tuple[int, int]:
        """Weights of the truth and of its opposite."""
        return split_odds(self.epsilon, likely=1, others=1)

    @property
    def law(self) -> Law:
        """How often each end is named."""
        a, b = self.weights
        return Law(Fraction(a, a + b), Fraction(b, a + b))

    @property
    def table(self) -> dict[str, Any]:
        """What a device draws from."""
        a, b = self.weights
        lower, upper = self.clip
        return {"kind": "bit", "lower": lower, "upper": upper, "steps": self.grid, "keep": a, "whole": a + b}

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the largest answer."""
        return 0, 1

    def variance(self, value: float) -> float:
        """Return the variance of one amount when the true value is ``value``."""
        place = self.range.step_of(value) / self.grid
        return float(self.law.sampled_variance(place, 1)) * self.range.width**2

    def _draw(self, values: NDArray[np.float64], entropy: Entropy) -> NDArray[np.int64]:
        steps = self.range.to_quanta(values)
        a, b = self.weights
        sides = (steps > entropy.integers(self.grid, len(steps))).astype(np.int64)
        return respond(sides, 2, a, a + b, entropy).astype(np.int64)

    def _fractions(self, answers: NDArray[Any]) -> NDArray[np.float64]:
        return self.law.frequencies(answers, 1)


@document("local_piecewise")
@dataclass(frozen=True)
class Piecewise(Number):
    """One of N outputs in a row, of which the L around the true value are e^ε times as likely as the others.

    L / N = 1 / (e^(ε/2) + 1), as near as whole numbers up to ``grid`` come; a window for each of the N - L + 1 steps of
    the range. The outputs' mean is the value times a constant. With a fine grid the variance for values t from -1 to 1
    is t² / (e^(ε/2) - 1) + (e^(ε/2) + 3) / (3 (e^(ε/2) - 1)²): the better the larger ε is.

    Guarantee: one report is ε-differentially private for `Report`, exactly. The argument stands in
    ``docs/explanation/proofs/local.md``.

    References:
        Wang, Xiao, Yang, Zhao, Hui, Shin, Shin, Yu (2019), Collecting and analyzing multidimensional data with local
        differential privacy.

    >>> round(Piecewise(epsilon=1.0).variance(0.0), 6), round(Piecewise(epsilon=1.0).variance(1.0), 6)
    (3.682103, 5.223597)
    """

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Outputs N, and how many L of them form the window."""
        if self.grid < 2:
            return 2, 1
        share = Fraction(1 / (math.exp(self.epsilon / 2) + 1)).limit_denominator(self.grid)
        times = self.grid // share.denominator
        return share.denominator * times, max(1, share.numerator * times)

    @cached_property
    def range(self) -> Range:
        """The range, with a step for each place of the window."""
        outputs, window = self.shape
        return Range(*self.clip, outputs - window)

    @cached_property
    def weights(self) -> tuple[int, int]:
        """Weights of an output inside the window and of one outside."""
        outputs, window = self.shape
        return split_odds(self.epsilon, likely=window, others=outputs - window)

    @property
    def whole(self) -> int:
        """What all weights add up to."""
        (outputs, window), (a, b) = self.shape, self.weights
        return a * window + b * (outputs - window)

    @property
    def table(self) -> dict[str, Any]:
        """What a device draws from."""
        outputs, window = self.shape
        lower, upper = self.clip
        sizes = {"outputs": outputs, "window": window, "inside": self.weights[0] * window, "whole": self.whole}
        return {"kind": "piecewise", "lower": lower, "upper": upper, **sizes}

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the largest answer."""
        return 0, self.shape[0] - 1

    def variance(self, value: float) -> float:
        """Return the variance of one amount when the true value is ``value``."""
        (outputs, window), (a, b) = self.shape, self.weights
        centre = 2 * self.range.step_of(value) - (outputs - window)
        # Outputs are 2 i - (N - 1): sums of squares of numbers in a row, two apart.
        near = window * centre**2 + Fraction(window * (window**2 - 1), 3)
        square = (b * Fraction(outputs * (outputs**2 - 1), 3) + (a - b) * near) / self.whole
        mean = Fraction((a - b) * window * centre, self.whole)
        gain = Fraction((a - b) * window, self.whole) * (outputs - window)
        return float((square - mean**2) / gain**2) / 4 * self.range.width**2

    def _draw(self, values: NDArray[np.float64], entropy: Entropy) -> NDArray[np.int64]:
        steps = self.range.to_quanta(values)
        outputs, window = self.shape
        inside = entropy.coins(self.weights[0] * window, self.whole, len(steps))
        answers = np.empty(len(steps), dtype=np.int64)
        near, far = np.flatnonzero(inside), np.flatnonzero(~inside)
        answers[near] = steps[near] + entropy.integers(window, len(near))
        other = entropy.integers(outputs - window, len(far))
        # Outputs outside the window, counted on past it: those before its first stay, the others move up by L.
        answers[far] = other + np.where(other >= steps[far], window, 0)
        return answers

    @property
    def _gain(self) -> float:
        """What the mean of the centred output is, as a part of the centred step."""
        a, b = self.weights
        return (a - b) * self.shape[1] / self.whole

    def _fractions(self, answers: NDArray[Any]) -> NDArray[np.float64]:
        outputs, window = self.shape
        centred = (2 * answers - (outputs - 1)) / (outputs - window)
        made: NDArray[np.float64] = (centred / self._gain + 1) / 2
        return made


@document("local_hybrid")
@dataclass(frozen=True)
class Hybrid(Number):
    """`Piecewise` with probability 1 - e^(-ε/2), otherwise `OneBit`; for ε up to 0.61 always the latter.

    An answer from 0 on is the piecewise mechanism's; -1 and -2 are the bits 0 and 1. In the worst case over values it
    is never worse than either.

    Guarantee: one report is ε-differentially private for `Report`, exactly: which of the two answers does not depend on
    the value. The argument stands in ``docs/explanation/proofs/local.md``.

    References:
        Wang, Xiao, Yang, Zhao, Hui, Shin, Shin, Yu (2019), Collecting and analyzing multidimensional data with local
        differential privacy.

    >>> round(Hybrid(epsilon=1.0).worst_variance, 4)
    4.289
    """

    @cached_property
    def parts(self) -> tuple[Piecewise, OneBit]:
        """The two mechanisms."""
        return Piecewise(self.epsilon, self.clip, self.grid), OneBit(self.epsilon, self.clip, self.grid)

    @property
    def share(self) -> int:
        """Numerator, over 2^62, of the chance that the piecewise mechanism answers."""
        return int(-math.expm1(-self.epsilon / 2) * WHOLE) if self.epsilon > _HYBRID_FROM else 0

    @property
    def table(self) -> dict[str, Any]:
        """What a device draws from."""
        tables = [part.table for part in self.parts]
        return {"kind": "hybrid", "share": self.share, "whole": WHOLE, "parts": tables}

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the largest answer."""
        return -2, self.parts[0].bounds[1] if self.share else -1

    def extremes(self) -> tuple[int, ...]:
        """Return answers among which the least and the largest amount are."""
        return (-1, -2, *((0, self.bounds[1]) if self.share else ()))

    def variance(self, value: float) -> float:
        """Return the variance of one amount when the true value is ``value``."""
        pieces, bits = self.parts
        share = self.share / WHOLE
        return share * pieces.variance(value) + (1 - share) * bits.variance(value)

    def _draw(self, values: NDArray[np.float64], entropy: Entropy) -> NDArray[np.int64]:
        pieces, bits = self.parts
        chosen = entropy.coins(self.share, WHOLE, len(values))
        answers = np.empty(len(values), dtype=np.int64)
        answers[chosen] = pieces.perturb(values[chosen], entropy=entropy)
        answers[~chosen] = -1 - bits.perturb(values[~chosen], entropy=entropy)
        return answers

    def _fractions(self, answers: NDArray[Any]) -> NDArray[np.float64]:
        pieces, bits = self.parts
        return np.where(answers >= 0, pieces._fractions(np.maximum(answers, 0)), bits._fractions(-1 - answers))


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

"""Noisy sort: a finished series in the order of its times plus noise.

"Noisy sort" of ``docs/explanation/proofs/temporal.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import (
    Certificate,
    Claim,
    Guarantee,
    PureCost,
    Swap,
    at_least,
    check_epsilon,
    check_whole,
    decimal_value,
    document,
    settle,
)
from chronodp.randomness import Entropy
from chronodp.temporal.blurred import Blurred, blur_panel, blur_series

__all__ = ["NoisySort"]

_ARGUMENT = "docs/explanation/proofs/temporal.md"

_WIDEST = 30  # noise of at most 2^30 steps is drawn exactly
_FINEST = 2.0**-30
_LONGEST = 2**31  # times that so many steps of the grid still fit


@document("noisy_sort")
@dataclass(frozen=True, slots=True)
class NoisySort:
    """Order a whole finished series by time plus Laplace noise of scale 2 w / epsilon; ties fall at random.

    Guarantee: ε-TLDP for any two values at most ``window`` periods apart, wherever blocks may be drawn: it is
    ε-differentially private for `Swap` of ``window`` + 1; exact in finite precision. Values move farther than with
    `BlockShuffle`; there are no borders, and the series must be finished. The argument stands in
    ``docs/explanation/proofs/temporal.md``.

    Args:
        window: how far apart two values may be that are protected from each other (w).
        epsilon: of the guarantee.
        steps: how many steps of the grid there are in a period; by default so many that ties are rare.

    >>> from chronodp.randomness import seeded
    >>> NoisySort(2, 1e6).perturb([1, 2, 3, 4], entropy=seeded(1)).values.tolist()
    [1, 2, 3, 4]
    """

    window: int
    epsilon: float
    steps: int | None = None

    def __post_init__(self) -> None:
        settle(self, window=check_whole("window", self.window, most=2**20), epsilon=check_epsilon(self.epsilon))
        if self.scale > 2**_WIDEST:
            allowed = (
                f"at least {2 * self.window / 2**_WIDEST:.3g} for this window: wider noise cannot be drawn exactly"
            )
            raise InvalidArgument("epsilon", self.epsilon, allowed)
        if self.steps is not None:
            check_whole("steps", self.steps, most=self._finest)

    @property
    def grid(self) -> int:
        """How many steps of the grid there are in a period; as many as can be drawn unless told otherwise."""
        return self._finest if self.steps is None else self.steps

    @property
    def _finest(self) -> int:
        return 1 << max(0, min(20, _WIDEST - math.frexp(self.scale)[1]))

    @property
    def scale(self) -> float:
        """The scale of the noise in periods, 2 w / epsilon, rounded up."""
        return _scale(self.window, self.epsilon)

    @property
    def claim(self) -> Claim:
        """Unit, cost and where the argument stands."""
        return Claim(Swap(self.window + 1), PureCost(self.epsilon), _ARGUMENT)

    def certificate(self, *, seeded: bool = False) -> Certificate:
        """Return what is promised of a run."""
        return Certificate(
            mechanism=f"values exact, times blurred; sorted by time plus Laplace noise of scale {self.scale:g} periods "
            "(noisy sort, ε-TLDP)",
            claim=self.claim,
            guarantee=Guarantee(Swap(self.window + 1), self.epsilon),
            theorem="the Laplace mechanism on two times (pure)",
            precision=f"whole numbers, {self.grid:,} to a period; ties fall at random, evenly",
            seeded=seeded,
        )

    def perturb(self, values: ArrayLike, *, entropy: Entropy | None = None) -> Blurred:
        """Return one person's series, times or times by channels, with its times blurred. Values are never changed."""
        return blur_series(values, entropy, self._sources, self.certificate, complete=True)

    def perturb_panel(self, values: ArrayLike, *, entropy: Entropy | None = None) -> Blurred:
        """Return many persons' series, persons by times (by channels), each blurred on its own."""
        return blur_panel(values, entropy, self._sources, self.certificate, complete=True)

    def _sources(self, rows: int, length: int, entropy: Entropy) -> NDArray[np.int64]:
        if length > _LONGEST:
            raise InvalidArgument("values", length, f"at most {_LONGEST} of them")
        if not rows * length:
            return np.empty((rows, length), dtype=np.int64)
        steps = self.grid
        noise = entropy.laplace(max(at_least(Fraction(self.scale) * steps), _FINEST), (rows, length))
        keys = np.arange(length) * steps + noise
        order = np.argsort(keys, axis=1, kind="stable")
        ordered = np.take_along_axis(keys, order, axis=1)
        tied = np.flatnonzero(np.any(ordered[:, 1:] == ordered[:, :-1], axis=1))
        if len(tied):
            # A stable sort shows, at a tie, which came first. From an even shuffle it shows nothing.
            mixed = entropy.permutations(length, len(tied))
            again = np.argsort(np.take_along_axis(keys[tied], mixed, axis=1), axis=1, kind="stable")
            order[tied] = np.take_along_axis(mixed, again, axis=1)
        return order


@lru_cache(maxsize=64)  # every run asks
def _scale(window: int, epsilon: float) -> float:
    # Two values' centres move by at most w periods each: an l1 change of 2 w. Up: wider noise tells less.
    return at_least(2 * window / min(Fraction(epsilon), decimal_value(epsilon)))

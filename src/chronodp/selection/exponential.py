"""The exponential mechanism, drawn exactly by rejection.

Row `ExponentialMechanism` of "What is drawn" in ``docs/explanation/proofs/selection.md``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chronodp.randomness import Entropy

__all__ = ["attempt_exponential", "draw_exponential", "draw_exponentials"]

_FEWEST, _MOST = 16, 2**16


def draw_exponential(exponents: NDArray[np.float64], entropy: Entropy) -> int:
    """Return a place with probability proportional to e^-exponent."""
    tries = min(max(len(exponents), _FEWEST), _MOST)
    while True:
        place = attempt_exponential(exponents, entropy, tries)
        if place is not None:
            return place


def draw_exponentials(exponents: NDArray[np.float64], sizes: NDArray[np.int64], entropy: Entropy) -> NDArray[np.int64]:
    """Return a place of each of many runs, one after the other in ``exponents``, as `draw_exponential` does of one."""
    starts = np.cumsum(sizes) - sizes
    result = np.empty(len(sizes), np.int64)
    tries = np.clip(sizes, _FEWEST, _MOST)
    open_ = np.arange(len(sizes))
    while len(open_):
        runs = np.repeat(open_, tries[open_])
        places = entropy.integers(sizes[runs])
        accepted = np.flatnonzero(entropy.exponential_coins(exponents[starts[runs] + places]))
        done, firsts = np.unique(runs[accepted], return_index=True)
        result[done] = places[accepted[firsts]]
        open_ = np.setdiff1d(open_, done, assume_unique=True)
    return result


def attempt_exponential(exponents: NDArray[np.float64], entropy: Entropy, tries: int) -> int | None:
    """Return the first of so many uniform places that its coin, of probability e^-exponent, accepts; None if none is.

    An accepted place has the wanted law, whichever try it is; so has the outcome of attempts repeated until one is.
    """
    places = entropy.integers(len(exponents), size=tries)
    accepted = np.flatnonzero(entropy.exponential_coins(exponents[places]))
    return int(places[accepted[0]]) if len(accepted) else None

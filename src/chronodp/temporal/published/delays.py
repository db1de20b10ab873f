"""How long a value of the Backward and Forward mechanisms waits: not at all, or any time of the window alike.

p_j of "What an observer can rule out" in ``docs/explanation/proofs/temporal.md``. No guarantee rests on it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chronodp.randomness import Entropy
from chronodp.temporal.probabilities import Odds, odds_below

__all__ = ["draw_delays", "own_time", "paper_damage", "window_odds"]

_TOGETHER = 2**16


def window_odds(window: int, epsilon: float) -> Odds:
    """Return P and Q with P / Q <= e^{epsilon / 2}: how much likelier a value's own time is than another."""
    return odds_below(epsilon / 2, window - 1)


def own_time(window: int, epsilon: float) -> tuple[float, float]:
    """Return p₀ = P / (P + Q (k-1)) of the value's own time and p₁ = Q / (P + Q (k-1)) of any other."""
    stay, move = window_odds(window, epsilon)
    whole = stay + move * (window - 1)
    return stay / whole, move / whole


def draw_delays(count: int, window: int, odds: Odds, entropy: Entropy) -> NDArray[np.int64]:
    """Return so many delays: 0 with probability P / (P + Q (k-1)), otherwise 1 to k - 1, all alike."""
    stay, move = odds
    delays = np.zeros(count, dtype=np.int64)
    for start in range(0, count, _TOGETHER):
        part = delays[start : start + _TOGETHER]
        moved = np.flatnonzero(~entropy.coins(stay, stay + move * (window - 1), len(part)))
        if len(moved):
            part[moved] = entropy.integers(window - 1, len(moved)) + 1
    return delays


def paper_damage(window: int, epsilon: float) -> tuple[float, float]:
    """Return how often a value is missing, (1-p₀)(1-p₁)^{k-1}, and its mean delay p₁ (1-p₀) Σ j (1-p₁)^{j-1}.

    Equal for Backward and Forward (eqs. 5, 7, 9 and 11 of the paper).
    """
    own, other = own_time(window, epsilon)
    waits = np.arange(1, window)
    missing = (1 - own) * (1 - other) ** (window - 1)
    delay = other * (1 - own) * float((waits * (1 - other) ** (waits - 1)).sum())
    return missing, delay

"""What an observer can rule out: how often a release of the paper's mechanisms proves which of two values came first.

Two values that differ, a at time i and b at time i + d, might have been exchanged. Whoever sees a released before
time i + d, or b at time i + k or later, knows that they were not: no value comes before its time or after its window.

"What an observer can rule out" in ``docs/explanation/proofs/temporal.md``, one function a mechanism.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chronodp.privacy import check_whole
from chronodp.temporal.published.delays import own_time
from chronodp.temporal.published.dispatch import ThresholdChoice, dispatch_probabilities
from chronodp.temporal.published.juggling_pairs import both_in_reach

__all__ = ["backward_rules_out", "forward_rules_out", "shown_distances", "threshold_rules_out"]

_SHOWN = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500)
_EXACT = 40  # the longest window for which pairs of values are followed through the chain


def shown_distances(window: int) -> tuple[int, ...]:
    """Return the distances that a statement tells about: some, and the whole window."""
    return (*(distance for distance in _SHOWN if distance < window), window)


def backward_rules_out(window: int, epsilon: float, distance: int) -> float:
    """Return how often a release of Backward proves the order of two values, exactly.

    Times are drawn apart from each other, so it is 1 - Π (1 - p_u) (u < d) Π (1 - p_u) (u >= k - d).

    >>> round(backward_rules_out(3, 2.0, 1), 3)
    0.666
    """
    chances = _chances(window, epsilon)
    reach = min(check_whole("distance", distance), window)
    return float(1 - np.prod(1 - chances[:reach]) * np.prod(1 - chances[window - reach :]))


def forward_rules_out(window: int, epsilon: float, distance: int) -> float:
    """Return how often, at least, a release of Forward proves the order of two values.

    Only values seen too early or too late are counted; what is missing and empty tells somewhat more.

    >>> round(forward_rules_out(3, 2.0, 1), 3)         # 0.621 with all that is missing and empty
    0.606
    """
    chances = _chances(window, epsilon)
    reach = min(check_whole("distance", distance), window)
    # Sent there, and not overwritten by any of those that came between: the sum telescopes.
    unseen = np.concatenate([[1.0], np.cumprod(1 - chances)])
    late = unseen[window - reach] - unseen[window]
    return float(1 - unseen[reach] * (1 - late))


def threshold_rules_out(window: int, choice: ThresholdChoice, distance: int) -> float:
    """Return how often, at least, a release of Threshold proves the order of two values, in the steady state.

    Exact for windows up to 40 and distances below the window: the pair is followed through the chain
    (`both_in_reach`). Otherwise what one of the two values alone gives away; if the mechanism is extended, values that
    were exchanged are dropped both or neither.

    >>> from chronodp.temporal.published.dispatch import choose_threshold
    >>> round(threshold_rules_out(4, choose_threshold(4, 2.2), 1), 3)
    0.556
    """
    reach = min(check_whole("distance", distance), window)
    if reach < window <= _EXACT:
        return max(0.0, 1 - both_in_reach(window, choice.threshold, reach, choice.keep))
    chances = dispatch_probabilities(window, choice.threshold)
    both_dropped = (1 - choice.keep) ** 2 * float(chances[0])  # at most: the second slot must be empty too
    late = 0.0 if reach == window else float(chances[window - reach :].sum())
    return min(1.0, max(float(chances[:reach].sum()) - both_dropped, late))


def _chances(window: int, epsilon: float) -> NDArray[np.float64]:
    own, other = own_time(window, epsilon)
    return np.array([own] + [other] * (window - 1))

"""Two values of the Threshold mechanism, followed together through the chain of empty slots.

The steady state gives a set of empty slots a weight: the product, over the slots that are taken, of the number of empty
slots after them. Sums over all such sets go slot by slot, with a few numbers of state and no subtraction:

* n: slots still empty between now and the second value's time j, j included;
* m: slots there that were empty at the start and were filled since, at places not yet fixed;
* e: slots still empty after j that were in view at the start; e₀ of them were empty then.

A slot met on the way is empty (n falls), was taken at the start (weight n + m + e₀) or was filled since (weight m).

The sum for Threshold under "What an observer can rule out" in ``docs/explanation/proofs/temporal.md``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["both_in_reach"]


def both_in_reach(window: int, threshold: int, distance: int, keep: float) -> float:
    """Return how likely two values, ``distance`` < ``window`` periods apart, go where they might go exchanged.

    That is: the first is sent to time j or later, the second, from j, to a time in the first one's window. ``keep`` is
    how often a value whose own slot is empty is kept, 1 unless the mechanism is extended; exchanged values are dropped
    both or neither.
    """
    far = window - distance - 1
    ways = _stirling(window)
    starts, near = min(far, threshold), min(distance + 1, threshold)
    # Axes: e₀, n, m, e. Each e₀ is a start of its own.
    sent = np.zeros((starts + 1, near + 1, min(distance, threshold) + 1, starts + 1))  # the first went past j
    pinned, dropped = np.zeros_like(sent), np.zeros_like(sent)  # it went to j itself; it was dropped
    for e in range(max(0, threshold - near), starts + 1):
        n = threshold - e
        weight = ways[far][e] / ways[window][threshold]
        # The weight n + e₀ of a slot taken at the start and the chance 1 / c₀ of each empty one cancel.
        if e:
            sent[e, n, 0, e - 1] += weight * e
        if n:
            pinned[e, n - 1, 0, e] += weight
            dropped[e, n - 1, 0, e] += weight * (1 - keep)
    for _ in range(distance - 1):
        sent, pinned, dropped = (
            _passed(sent, threshold, 0),
            _passed(pinned, threshold, 1),
            _passed(dropped, threshold, 0),
        )
    # The second value goes to slot j if that is empty, else to an empty slot: of those after j, e are in reach.
    count = np.arange(starts + 1)
    taken = (count[:, None] * sent[:, 0, 0] + sent[:, 0, 1] + pinned[:, 0, 0]) * count
    own = keep * sent[:, 1, 0].sum() + (1 - keep) * dropped[:, 1, 0].sum()
    return float(own + taken.sum() / threshold)


def _passed(state: NDArray[np.float64], threshold: int, extra: int) -> NDArray[np.float64]:
    """Return the state after one more slot and the value that was sent at its time."""
    start, n, m, e = np.ogrid[tuple(slice(size) for size in state.shape)]
    taken = state * (n + m + start + extra)
    taken[:, :, :-1] += (state * m)[:, :, 1:]
    after = np.zeros_like(state)
    after[:, :-1] += state[:, 1:]  # the slot is empty and takes the value
    after[:, :-1, 1:] += taken[:, 1:, :-1] / threshold
    after[:, :, :, :-1] += (taken * e)[:, :, :, 1:] / threshold
    after += taken * np.maximum(threshold - n - e, 0) / threshold
    return after


def _stirling(most: int) -> list[list[int]]:
    """Return S(K, c) for all K up to ``most``, exactly."""
    rows = [[1] + [0] * most]
    for _ in range(most):
        last = rows[-1]
        rows.append([0] + [c * last[c] + last[c - 1] for c in range(1, most + 1)])
    return rows

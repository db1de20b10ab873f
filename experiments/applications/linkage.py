"""Points that are shared by k people each, and trajectories that are not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.applications.panels import Panel
from experiments.verdicts import Verdict

Labels = NDArray[np.int64]

K = 5
SNIPPETS = (1, 3, 6)


def coarsen(panel: Panel, k: int) -> Labels:
    """Return the class of each value in its hour: at least k people in each, equal values in one."""
    labels = np.zeros(panel.values.shape, dtype=np.int64)
    for hour, values in enumerate(panel.values.T):
        order = np.argsort(values, kind="stable")
        label, size = 0, 0
        left = len(values)
        for place, person in enumerate(order):
            fresh = place == 0 or values[person] != values[order[place - 1]]
            if size >= k and fresh and left >= k:  # what is left is enough for a class of its own
                label, size = label + 1, 0
            labels[person, hour] = label
            size += 1
            left -= 1
    return labels


def smallest_class(labels: Labels) -> int:
    """Return how many people the smallest class of any hour holds."""
    return min(int(np.unique(hour, return_counts=True)[1].min()) for hour in labels.T)


def singled_out(labels: Labels, hours: int) -> float:
    """Return how often a person's classes in so many hours in a row are nobody else's, over people and hours by day."""
    found = []
    for start in range(8, labels.shape[1] - hours, 24):
        for shift in range(0, 12, 3):
            snippet = labels[:, start + shift : start + shift + hours]
            _, place, count = np.unique(snippet, axis=0, return_inverse=True, return_counts=True)
            found.append(np.mean(count[place.ravel()] == 1))
    return float(np.mean(found))


def check_linkage(name: str, panel: Panel) -> list[Verdict]:
    """Return what k-anonymous points leave of the anonymity of trajectories."""
    labels = coarsen(panel, K)
    least, whole = smallest_class(labels), float(np.mean(_alone(labels[:, :24])))
    shares = {hours: singled_out(labels, hours) for hours in SNIPPETS}
    said = ", ".join(f"{share:.0%} by {hours} hour(s)" for hours, share in shares.items())
    return [
        Verdict(
            f"{name}, {len(labels)} people: each point k-anonymous, the sequence of points still unique",
            "can fail catastrophically",
            f"no class of an hour has fewer than {least} people; the first day is unique for {whole:.0%} of them",
            "holds" if least >= K and whole > 0.5 else "false",
        ),
        Verdict(
            f"{name}: a small snippet singles out the whole trajectory",
            "even a small, correctly timed snippet",
            f"known by their classes, between 8 h and 20 h: {said}",
            "holds" if shares[SNIPPETS[-1]] > 0.5 and shares[1] == 0 else "false",
        ),
    ]


def _alone(rows: Labels) -> NDArray[np.bool_]:
    _, place, count = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    alone: NDArray[np.bool_] = count[place.ravel()] == 1
    return alone

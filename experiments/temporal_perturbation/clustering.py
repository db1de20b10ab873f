"""k-medoids and normalised mutual information, as the paper measures clusters by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.int64]


def k_medoids(rows: NDArray[np.float64], clusters: int, *, rounds: int = 50) -> Labels:
    """Return a cluster for each row, by alternating between the nearest medoid and the row nearest to all of its own.

    It starts from the rows that lie most in the middle (Park and Jun 2009).
    """
    squares = (rows**2).sum(axis=1)
    apart = np.sqrt(np.maximum(squares[:, None] + squares - 2 * rows @ rows.T, 0))
    middle = (apart / apart.sum(axis=1)).sum(axis=0)
    medoids = np.argsort(middle, kind="stable")[:clusters]
    labels = np.argmin(apart[:, medoids], axis=1)
    for _ in range(rounds):
        own = [np.flatnonzero(labels == cluster) for cluster in range(clusters)]
        fresh = np.array(
            [
                part[np.argmin(apart[np.ix_(part, part)].sum(axis=1))] if len(part) else medoids[cluster]
                for cluster, part in enumerate(own)
            ]
        )
        if np.array_equal(fresh, medoids):
            break
        medoids = fresh
        labels = np.argmin(apart[:, medoids], axis=1)
    return np.asarray(labels, dtype=np.int64)


def mutual_information(one: Labels, two: Labels) -> float:
    """Return the mutual information of two clusterings over the mean of their entropies: 1 for equal ones."""
    table = np.zeros((one.max() + 1, two.max() + 1))
    np.add.at(table, (one, two), 1 / len(one))
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    seen = table > 0
    shared = float((table[seen] * np.log(table[seen] / np.outer(rows, columns)[seen])).sum())
    whole = _entropy(rows) + _entropy(columns)
    return 2 * shared / whole if whole else 1.0


def _entropy(shares: NDArray[np.float64]) -> float:
    there = shares[shares > 0]
    return float(-(there * np.log(there)).sum())

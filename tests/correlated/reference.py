"""The leakage of small chains by listing everything: slow, short, and sharing no code with what it checks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Law = dict[tuple[int, ...], float]


def kernel(transitions: NDArray[np.float64], coupling: NDArray[np.float64]) -> NDArray[np.float64]:
    """K[x', x] from the definition, entry by entry."""
    s, m = len(coupling), transitions.shape[-1]
    snapshots = list(itertools.product(range(m), repeat=s))
    made = np.empty((len(snapshots), len(snapshots)))
    for column, x in enumerate(snapshots):
        moves = [
            [sum(coupling[j, k] * transitions[j, k][u, x[k]] for k in range(s)) for u in range(m)] for j in range(s)
        ]
        for row, following in enumerate(snapshots):
            made[row, column] = math.prod(moves[j][following[j]] for j in range(s))
    return made


def stationary(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    size = len(matrix)
    system = np.vstack([matrix - np.eye(size), np.ones(size)])
    law = np.linalg.lstsq(system, np.r_[np.zeros(size), 1.0], rcond=None)[0]
    for _ in range(2_000):  # the solution is right to absolute digits; walking on makes small entries right too
        law = matrix @ law
        law /= law.sum()
    return law


def aged_laws(
    transitions: NDArray[np.float64], coupling: NDArray[np.float64], ages: Sequence[int]
) -> tuple[list[tuple[int, ...]], list[Law], NDArray[np.float64]]:
    """P(z | x) by walking backwards from each present x with the time-reversed kernel, site by site."""
    s, m = len(coupling), transitions.shape[-1]
    snapshots = list(itertools.product(range(m), repeat=s))
    forward = kernel(transitions, coupling)
    law = stationary(forward)
    backward = (forward * law).T / law  # backward[w, x] = π(w) K(x|w) / π(x)
    found = []
    for start in range(len(snapshots)):
        walks: dict[tuple[tuple[int, ...], int], float] = {((-1,) * s, start): 1.0}
        for age in range(max(ages) + 1):
            if age:
                stepped: dict[tuple[tuple[int, ...], int], float] = {}
                for (seen, now), chance in walks.items():
                    for before in range(len(snapshots)):
                        key = (seen, before)
                        stepped[key] = stepped.get(key, 0.0) + chance * backward[before, now]
                walks = stepped
            pinned: dict[tuple[tuple[int, ...], int], float] = {}
            for (seen, now), chance in walks.items():
                mark = tuple(snapshots[now][j] if ages[j] == age else seen[j] for j in range(s))
                pinned[mark, now] = pinned.get((mark, now), 0.0) + chance
            walks = pinned
        total: Law = {}
        for (seen, _), chance in walks.items():
            total[seen] = total.get(seen, 0.0) + chance
        found.append(total)
    return snapshots, found, law


def leakage_about_each(
    transitions: NDArray[np.float64],
    coupling: NDArray[np.float64],
    ages: Sequence[int],
    query: Callable[[tuple[int, ...]], float],
    scale: float,
    *,
    knows_others: bool,
) -> list[float]:
    """Largest |ln p(y|a)/p(y|b)| over a grid of outputs that includes every value of the query."""
    snapshots, laws, weight = aged_laws(transitions, coupling, ages)
    values = sorted({query(z) for z in snapshots})
    outputs = np.unique(np.concatenate([values, np.linspace(values[0] - 3 * scale, values[-1] + 3 * scale, 41)]))
    density = np.array(
        [sum(chance * np.exp(-np.abs(outputs - query(z)) / scale) for z, chance in law.items()) for law in laws]
    )
    s, m = len(coupling), transitions.shape[-1]
    found = []
    for target in range(s):
        if knows_others:
            pairs = [
                (here, there)
                for (here, x), (there, other) in itertools.combinations(enumerate(snapshots), 2)
                if all((x[j] == other[j]) == (j != target) for j in range(s))
            ]
            ratios = [np.abs(np.log(density[a] / density[b])).max() for a, b in pairs]
        else:
            mixed = []
            for state in range(m):
                rows = [number for number, x in enumerate(snapshots) if x[target] == state]
                mixed.append((weight[rows, None] * density[rows]).sum(axis=0) / weight[rows].sum())
            ratios = [np.abs(np.log(a / b)).max() for a, b in itertools.combinations(mixed, 2)]
        found.append(float(max(ratios)))
    return found

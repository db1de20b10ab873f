"""How far an aged, noisy mean of the paper's two sequences lies from the present one.

The paper's Fig. 4 takes the aged states as known, (1, 0) or (1, 1), and the present as two sequences that are
independent given them. A mechanism must not: noise set by realised states reveals them.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from chronodp.correlated import Mean
from chronodp.correlated.joint import JointChain
from chronodp.correlated.query import tabulate
from chronodp.correlated.tuning import Freshness, freshness
from experiments.claims import computation
from experiments.claims.computations import inverted, rooted, scaled, squared
from experiments.correlated_sequences.chains import chain

__all__ = [
    "ALIKE",
    "APART",
    "States",
    "drift",
    "error",
    "error_jointly",
    "noise",
    "noise_part",
    "stale",
    "stale_jointly",
    "variance",
]

States = tuple[int, int]

APART: States = (1, 0)
ALIKE: States = (1, 1)


@computation(
    **{
        "shrunk": lambda f: lambda *args: 0.3 * f(*args) + 0.05,
        "stops at t = 1": lambda f: lambda states, age, coupling: f(states, min(age, 1), coupling),
        "tells couplings apart": lambda f: lambda states, age, coupling: f(states, age, coupling) * (1 + coupling) / 2,
        "states swapped": lambda f: lambda states, age, coupling: f(APART if states == ALIKE else ALIKE, age, coupling),
        "falls": lambda f: lambda states, age, coupling: f(states, 20, coupling) - f(states, age, coupling),
    }
)
def stale(states: States, age: int, coupling: float) -> float:
    """Return the mean squared error of a mean of known aged states; the present taken as independent given them."""
    ones = (np.linalg.matrix_power(_blocks(coupling), age) @ np.eye(2)[list(states)].ravel())[1::2]
    return float((sum(states) / 2 - ones.mean()) ** 2 + (ones * (1 - ones)).sum() / 4)


@computation(
    shrunk=lambda f: lambda *args: 0.3 * f(*args) + 0.05,
    swapped=lambda f: lambda states, age, coupling: f(APART if states == ALIKE else ALIKE, age, coupling),
)
def stale_jointly(states: States, age: int, coupling: float) -> float:
    """Return the same by the joint law of the two present states."""
    joint = _joint(coupling)
    means = joint.snapshots.mean(axis=1)
    start = int(np.flatnonzero((joint.snapshots == states).all(axis=1))[0])
    return float(joint.power(age)[:, start] @ (means - means[start]) ** 2)


@computation(**{"a tenth": scaled(0.1), "root": rooted})
def drift(coupling: float, age: int) -> float:
    """Return B(A): the mean squared error of age alone over the stationary law."""
    return _freshness(coupling, age).stale


@computation()
def variance(coupling: float) -> float:
    """Return the variance of the mean: what a constant errs by."""
    return _freshness(coupling, 0).variance


@computation()
def noise_part(epsilon: float) -> float:
    """Return the variance of the noise, 2 (Δ_f / ε_C)²."""
    return 2 * (tabulate(Mean(), 2, 2).sensitivity / epsilon) ** 2


@computation(**{"ten times": scaled(10.0), "a tenth": scaled(0.1), "square": squared, "inverse": inverted})
def noise(error: float, staleness: float) -> float:
    """Return the ε_C whose noise uses up what staleness leaves of an allowed error."""
    return tabulate(Mean(), 2, 2).sensitivity * math.sqrt(2 / (error - staleness))


def error(states: States, age: int, epsilon: float, coupling: float = 0.75) -> float:
    """Return (22) for realised states: what age and noise add up to."""
    return stale(states, age, coupling) + noise_part(epsilon)


def error_jointly(states: States, age: int, epsilon: float, coupling: float = 0.75) -> float:
    """Return the same by the joint law."""
    return stale_jointly(states, age, coupling) + noise_part(epsilon)


@cache
def _blocks(coupling: float) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.asarray(chain(coupling).block_matrix.toarray())


@cache
def _joint(coupling: float) -> JointChain:
    return JointChain(chain(coupling))


@cache
def _freshness(coupling: float, age: int) -> Freshness:
    return freshness(chain(coupling), query=Mean(), ages=age)

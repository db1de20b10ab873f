"""Temporal privacy leakage of a stream about one sequence: what earlier and later releases add to each period.

A release at each period costs ε. About period t, releases up to t leak b_t = L(b_{t-1}) + ε looking backward and
those from t on f_t = L(f_{t+1}) + ε looking forward; together b_t + f_t - ε. L(α) is the largest of ln (q (e^α - 1) +
1) / (d (e^α - 1) + 1) over pairs of columns of the transition law and sets of states of probabilities q and d.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chronodp.correlated.chain import CouplingMarkovChain, Floats
from chronodp.correlated.joint import JointChain
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_epsilon

__all__ = ["TemporalLeakage", "temporal_leakage"]


@dataclass(frozen=True, slots=True)
class TemporalLeakage:
    """Leakage about each period.

    Attributes:
        backward: through releases up to it.
        forward: through releases from it on.
        total: through all of them.
    """

    backward: tuple[float, ...]
    forward: tuple[float, ...]
    total: tuple[float, ...]


def temporal_leakage(model: CouplingMarkovChain, *, epsilons: tuple[float, ...]) -> TemporalLeakage:
    """Return what a release a period, without age, leaks about each period of a chain taken as one sequence.

    For several coupled sequences the joint chain is the sequence: neighbours are then whole snapshots, and each
    release must cost ε for them.

    References:
        Cao, Yoshikawa, Xiao, Xiong (2017), Quantifying differential privacy under temporal correlations.

    >>> chain = CouplingMarkovChain([[0.8, 0.0], [0.2, 1.0]], [[1.0]])      # the example of the reference, forward
    >>> [round(part, 2) for part in temporal_leakage(chain, epsilons=(0.1,) * 4).forward[::-1]]
    [0.1, 0.18, 0.25, 0.3]
    """
    if not isinstance(epsilons, tuple) or not epsilons:
        raise InvalidArgument("epsilons", epsilons, "a tuple of numbers above 0, one a period")
    costs = [check_epsilon(epsilon) for epsilon in epsilons]
    joint = JointChain(model)
    forward = joint.kernel
    backward: Floats | None = None
    if joint.has_law and np.all(joint.stationary > 0):
        backward = (forward * joint.stationary).T / joint.stationary
    # Without a stationary law nothing is known of the past: the worst is a past that repeats the present.
    behind = _carried(backward if backward is not None else np.eye(len(forward)), costs)
    ahead = _carried(forward, costs[::-1])[::-1]
    total = tuple(b + f - e for b, f, e in zip(behind, ahead, costs, strict=True))
    return TemporalLeakage(tuple(behind), tuple(ahead), total)


def _carried(law: Floats, costs: list[float]) -> list[float]:
    found: list[float] = []
    for cost in costs:
        found.append(cost + (_passed_on(law, found[-1]) if found else 0.0))
    return found


def _passed_on(law: Floats, leaked: float) -> float:
    """L(α): for every pair of columns, the set of states that tells them apart best through a leak of α."""
    grow = np.expm1(leaked)
    best = 0.0
    for first in law.T:
        for second in law.T:
            inside = first > second
            while inside.any():
                q, d = first[inside].sum(), second[inside].sum()
                ratio = (q * grow + 1) / (d * grow + 1)
                kept = inside & (first > ratio * second)
                if np.array_equal(kept, inside):
                    best = max(best, float(np.log(ratio)))
                    break
                inside = kept
    return best

"""The Markov quilt mechanism for one chain: noise for what lies near a record; what lies far hardly depends on it.

A quilt of record i is {i - a, i + b}, or one of the two, or nothing. Given the quilt, what lies beyond does not
depend on x_i; between lie n records. If the quilt itself tells at most e about x_i, then noise of scale n / (ε - e)
on a sum in which a record changes 1 is enough; the best quilt counts, for the worst record.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from chronodp.correlated.chain import CouplingMarkovChain, Floats
from chronodp.correlated.joint import JointChain
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_epsilon, check_whole

__all__ = ["Quilt", "markov_quilt"]

_WIDEST = 200


@dataclass(frozen=True, slots=True)
class Quilt:
    """The noise that a sum over a chain needs.

    Attributes:
        scale: of Laplace noise on a sum in which one record changes 1.
        near: how many records that noise hides together, for the worst record.
        told: what the quilt tells of it.
    """

    scale: float
    near: int
    told: float


def markov_quilt(model: CouplingMarkovChain, *, horizon: int, epsilon: float) -> Quilt:
    """Return the least noise of a quilt for a sum over ``horizon`` records of a stationary chain.

    Guarantee: if the data follow the chain, the sum with Laplace noise of ``scale`` changes the log odds of two
    states of any one record by at most epsilon, for an adversary who knows nothing else.

    References:
        Song, Wang, Chaudhuri (2017), Pufferfish privacy mechanisms for correlated data.

    >>> chain = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], [[1.0]])
    >>> markov_quilt(chain, horizon=100, epsilon=1.0).scale < 30        # plain noise for the whole chain: 100
    True
    """
    if model.sequences != 1:
        raise InvalidArgument("model", model.sequences, "a chain of one sequence")
    check_whole("horizon", horizon)
    check_epsilon(epsilon)
    joint = JointChain(model)
    behind, ahead = _telling(joint, min(horizon, _WIDEST))
    worst = Quilt(0.0, 0, 0.0)
    for record in range(horizon):
        best = Quilt(horizon / epsilon, horizon, 0.0)
        for a in [None, *range(1, min(record, len(behind)) + 1)]:
            for b in [None, *range(1, min(horizon - 1 - record, len(ahead)) + 1)]:
                near = (record if a is None else a - 1) + (horizon - 1 - record if b is None else b - 1) + 1
                if near / epsilon >= best.scale:
                    continue  # even a quilt that reveals nothing would not be better
                told = _together(None if a is None else behind[a - 1], None if b is None else ahead[b - 1])
                if told < epsilon and near / (epsilon - told) < best.scale:
                    best = Quilt(near / (epsilon - told), near, told)
        worst = max(worst, best, key=lambda quilt: quilt.scale)
    return worst


def _telling(joint: JointChain, widest: int) -> tuple[list[Floats], list[Floats]]:
    """For each distance, the most that a record so far away tells of x against x', as states × states."""
    kernel, law = joint.kernel, joint.stationary
    backward = (kernel * law).T / law
    made: tuple[list[Floats], list[Floats]] = ([], [])
    for step, found in zip((backward, kernel), made, strict=True):
        now = np.eye(len(law))
        for _ in range(widest):
            now = step @ now
            with np.errstate(divide="ignore", invalid="ignore"):
                logs = np.log(now[:, :, None] / now[:, None, :])
            found.append(np.where(np.isnan(logs), -np.inf, logs).max(axis=0))
    return made


def _together(left: Floats | None, right: Floats | None) -> float:
    parts = [part for part in (left, right) if part is not None]
    return float(sum(parts).max()) if parts else math.inf  # type: ignore[union-attr]  # a sum of arrays

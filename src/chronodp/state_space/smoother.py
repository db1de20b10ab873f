"""The smoother: what each state was, from all measurements, before and after."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from chronodp.postprocess import Floats, NormalEstimates, chain
from chronodp.state_space.filter import check_measurements, first_belief, pass_through
from chronodp.state_space.model import StateSpace

__all__ = ["smooth_states"]

_SETTLED = 1e-13
_STRETCH = 2**14


def smooth_states(model: StateSpace, values: ArrayLike, *, added: float = 0.0) -> NormalEstimates:
    """Return the state at every step, from all measurements, with its deviation.

    x̃_t = x̂_t + G_t (x̃_{t+1} - A x̂_t) and P̃_t = P_t + G_t (P̃_{t+1} - M_{t+1}) G_t' with G_t = P_t A' M_{t+1}⁻¹, where

    * x̂_t and P_t are the filter's mean and covariance, M_{t+1} the covariance of the next state before its measurement,
    * x̃_t and P̃_t are the smoother's.

    Arguments and guarantee are those of `filter_states`. For a finished series only: it looks ahead.

    >>> room = StateSpace(transition=[[0.95]], observation=[[1.0]], process_noise=[[0.1]], measurement_noise=[[0.5]])
    >>> smooth_states(room, [1.0, float("nan"), 0.5], added=1.0).value.ravel().round(3).tolist()
    [0.24, 0.244, 0.249]

    References:
        Rauch, Tung, Striebel (1965), Maximum likelihood estimates of linear dynamic systems.
    """
    numbers = check_measurements(model, values)
    passed = pass_through(model, numbers, added=added, first=first_belief(model, added=added))
    onward, _, process, _ = model.matrices
    steps, last = len(passed.means), len(passed.posterior) - 1
    following = onward @ passed.posterior @ onward.T + process
    # A direction in which the next state is known exactly takes nothing back: the pseudo-inverse leaves it out.
    gains = passed.posterior @ onward.T @ np.linalg.pinv(following, rcond=1e-14, hermitian=True)
    means = passed.means.copy()
    after = means[-1]
    for end in range(steps - 1, 0, -_STRETCH):
        begin = max(end - _STRETCH, 0)
        here = np.minimum(np.arange(begin, end)[::-1], last)
        inputs = means[begin:end][::-1] - np.einsum("tij,tj->ti", gains[here], means[begin:end][::-1] @ onward.T)
        inputs[0] += gains[here[0]] @ after
        found = chain(gains[here], inputs[:, :, None])[:, :, 0]
        means[begin:end], after = found[::-1], found[-1]
    return NormalEstimates(means, _deviations(passed.posterior, following, gains, steps))


def _deviations(posterior: Floats, following: Floats, gains: Floats, steps: int) -> Floats:
    last = len(posterior) - 1
    covariance = posterior[min(steps - 1, last)]
    found = np.empty((steps, covariance.shape[0]))
    found[-1] = np.diagonal(covariance)
    step = steps - 2
    while step >= 0:
        at = min(step, last)
        earlier = posterior[at] + gains[at] @ (covariance - following[at]) @ gains[at].T
        found[step] = np.diagonal(earlier)
        # Between both ends nothing changes: the rest of that stretch is copied.
        if step > last and np.abs(earlier - covariance).max() <= _SETTLED * np.abs(earlier).max():
            found[last:step] = found[step]
            step = last
        covariance = earlier
        step -= 1
    return np.sqrt(np.maximum(found, 0.0))

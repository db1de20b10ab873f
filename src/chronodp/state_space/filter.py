"""The filter: what each state was, from measurements up to it. Steps that settle are computed all at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Floats, NormalEstimates, as_columns, chain
from chronodp.state_space.model import StateSpace
from chronodp.state_space.steady import solve_steady

__all__ = [
    "Belief",
    "Passed",
    "check_measurements",
    "filter_states",
    "first_belief",
    "pass_through",
    "predict",
    "run_on",
    "update",
]

_SETTLED = 1e-13  # relative change below which a covariance stays where it is
_STRETCH = 2**14  # steps with gains of their own that are solved at a time
_BLOCK = 32  # steps with one gain that one matrix takes at a time


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """A mean and a covariance of the state."""

    mean: Floats
    covariance: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Passed:
    """Measurements that went through the filter; row t is for step t.

    Attributes:
        means: of the state with its measurement, steps × n.
        posterior: their covariances, at most steps × n × n; the last one stands for all later steps.
    """

    means: Floats
    posterior: Floats

    @property
    def deviations(self) -> Floats:
        """The deviation of each state, steps × n."""
        own = np.sqrt(np.maximum(np.diagonal(self.posterior, axis1=1, axis2=2), 0.0))
        return own[np.minimum(np.arange(len(self.means)), len(own) - 1)]


def filter_states(model: StateSpace, values: ArrayLike, *, added: float = 0.0) -> NormalEstimates:
    """Return the state at every step, from measurements up to it, with its deviation.

    The gain is made for R + σ² I, and the mean moves by x̂_t = A x̂_{t-1} + K_t (y_t - C A x̂_{t-1}), where

    * y_t is the measurement; NaN where a channel has none, which is taken for public,
    * σ² is ``added``, the variance of the private noise in every channel; other letters as in `StateSpace`.

    Without gaps, and once the covariance stands still, it is one linear recursion, computed in blocks.

    Args:
        model: the system.
        values: steps × channels.
        added: variance of the noise in ``values`` beyond the model's own.

    Guarantee: free, and exactly as private as the values. Deviations are the model's: right if the system moves so.

    >>> room = StateSpace(transition=[[0.95]], observation=[[1.0]], process_noise=[[0.1]], measurement_noise=[[0.5]])
    >>> track = filter_states(room, [1.0, float("nan"), 0.5], added=1.0)
    >>> track.value.ravel().round(3).tolist(), (track.deviation.ravel() ** 2).round(3).tolist()
    ([0.196, 0.186, 0.249], [0.293, 0.365, 0.334])

    References:
        Anderson, Moore (1979), Optimal filtering, chapters 3 and 4.
    """
    numbers = check_measurements(model, values)
    passed = pass_through(model, numbers, added=added, first=first_belief(model, added=added))
    return NormalEstimates(passed.means, passed.deviations)


def pass_through(model: StateSpace, values: Floats, *, added: float, first: Belief) -> Passed:
    """Return means and covariances of all steps, from what is known before the first of them."""
    seen = ~np.isnan(values)
    gains, posteriors = _gains(model, seen, first.covariance, added)
    given = np.where(seen, values, 0.0)
    means = np.empty((len(values), model.states))
    links, inputs = _links(model, gains), np.einsum("tij,tj->ti", gains, given[: len(gains)])
    inputs[0] += (np.eye(model.states) - gains[0] @ np.array(model.observation)) @ first.mean
    before = np.zeros(model.states)
    for begin in range(0, len(gains), _STRETCH):
        part = slice(begin, min(begin + _STRETCH, len(gains)))
        moved = inputs[part].copy()
        moved[0] += links[begin] @ before
        means[part] = chain(links[part], moved[:, :, None])[:, :, 0]
        before = means[part.stop - 1]
    if len(gains) < len(values):
        rest = given[len(gains) :] @ gains[-1].T
        rest[0] += links[-1] @ before
        means[len(gains) :] = run_on(links[-1], rest)
    return Passed(means, posteriors)


def first_belief(model: StateSpace, *, added: float) -> Belief:
    """Return what is known before the first measurement."""
    if model.initial_covariance is not None:
        return Belief(model.start, np.array(model.initial_covariance))
    return Belief(model.start, solve_steady(model, added=added).prior)


def predict(model: StateSpace, belief: Belief) -> Belief:
    """Return what is known of the next state before its measurement."""
    onward, _, process, _ = model.matrices
    return Belief(onward @ belief.mean, onward @ belief.covariance @ onward.T + process)


def update(model: StateSpace, prior: Belief, measurement: Floats, *, added: float) -> Belief:
    """Return what is known once a measurement is seen; NaN where a channel has none."""
    seen = ~np.isnan(measurement)
    gain, posterior = _gain(model, prior.covariance, seen, added)
    surprise = np.where(seen, measurement, 0.0) - np.where(seen, np.array(model.observation) @ prior.mean, 0.0)
    return Belief(prior.mean + gain @ surprise, posterior)


def check_measurements(model: StateSpace, values: ArrayLike) -> Floats:
    """Return measurements as steps × channels, NaN where there is none."""
    if not isinstance(model, StateSpace):
        raise InvalidArgument("model", model, "a StateSpace")
    columns = as_columns("values", values, gaps=True)
    if columns.shape[1] != model.channels:
        allowed = f"steps × {model.channels}: a column for each channel of the model"
        raise InvalidArgument("values", f"shape {columns.shape}", allowed)
    return columns


def _gains(model: StateSpace, seen: NDArray[np.bool_], prior: Floats, added: float) -> tuple[Floats, Floats]:
    """Return gains and posterior covariances step by step, until nothing changes any more."""
    onward, _, process, _ = model.matrices
    gaps = np.flatnonzero(~seen.all(axis=1))
    last_gap = int(gaps[-1]) if len(gaps) else -1
    gains, posteriors = [], []
    for step in range(len(seen)):
        gain, posterior = _gain(model, prior, seen[step], added)
        gains.append(gain)
        posteriors.append(posterior)
        following = onward @ posterior @ onward.T + process
        if step > last_gap and np.abs(following - prior).max() <= _SETTLED * np.abs(following).max():
            break
        prior = following
    return np.array(gains), np.array(posteriors)


def _gain(model: StateSpace, prior: Floats, seen: NDArray[np.bool_], added: float) -> tuple[Floats, Floats]:
    """Return the gain and the covariance after a measurement; they depend on which channels are seen, not on values."""
    return _gain_of(model, prior.tobytes(), seen.tobytes(), added)


@lru_cache(maxsize=1024)  # a covariance settles after some steps, and all that pass through one filter begin alike
def _gain_of(model: StateSpace, known: bytes, there: bytes, added: float) -> tuple[Floats, Floats]:
    prior, seen = np.frombuffer(known).reshape(model.states, model.states), np.frombuffer(there, dtype=np.bool_)
    _, observation, _, noise = model.matrices
    gain, posterior = np.zeros((model.states, model.channels)), prior
    if seen.any():
        rows = observation[seen]
        whole = noise[np.ix_(seen, seen)] + added * np.eye(len(rows))
        gain[:, seen] = np.linalg.solve(rows @ prior @ rows.T + whole, rows @ prior).T
        left = np.eye(model.states) - gain @ observation
        raw = left @ prior @ left.T + gain[:, seen] @ whole @ gain[:, seen].T
        posterior = (raw + raw.T) / 2
    for shared in (gain, posterior):
        shared.setflags(write=False)
    return gain, posterior


def _links(model: StateSpace, gains: Floats) -> Floats:
    """(I - K C) A: what stays of a state when the next measurement is seen."""
    onward, observation, _, _ = model.matrices
    links: Floats = (np.eye(model.states) - gains @ observation) @ onward
    return links


def run_on(link: Floats, inputs: Floats) -> Floats:
    """Return x with x_t = F x_{t-1} + u_t: blocks at once by one matrix, their ends by the same rule on fewer steps."""
    steps, size = inputs.shape
    powers = [np.eye(size)]
    while len(powers) <= min(_BLOCK, steps):
        powers.append(link @ powers[-1])
    length = len(powers) - 1
    inside = np.zeros((length, size, length, size))
    for late in range(length):
        for early in range(late + 1):
            inside[late, :, early] = powers[late - early]
    count = -(-steps // length)
    padded = np.zeros((count * length, size))
    padded[:steps] = inputs
    found = padded.reshape(count, length * size) @ inside.reshape(length * size, length * size).T
    if count > 1:
        ends = run_on(powers[length], found[:, -size:])
        found[1:] += ends[:-1] @ np.concatenate(powers[1:]).T
    return found.reshape(count * length, size)[:steps]

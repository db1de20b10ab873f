"""The recursions under filter and smoother: how variances go from period to period, and how values follow them.

The state is the value, and for a trend its slope. Everything starts from a state that is known to be 0; what another
start would have added is linear in it, and is carried along as further columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from chronodp.postprocess.columns import Floats

__all__ = ["Passage", "Variances", "chain", "filter_variances", "pass_back", "pass_forward", "transition"]

_SETTLED = 1e-14  # relative change below which a variance stays where it is


@dataclass(frozen=True, slots=True)
class Variances:
    """What a filter knows before it sees any value, for d numbers of state.

    Attributes:
        precision: 1 / F_t, where F_t is the variance of a value's surprise; 0 where a sample is missing (periods).
        gain: k_t, how far a surprise moves the state (periods × d).
        filtered: the covariance of the state once the value of its period is seen (periods × d × d).
    """

    precision: Floats
    gain: Floats
    filtered: Floats


@dataclass(frozen=True, slots=True)
class Passage:
    """Values that went through the filter.

    Attributes:
        states: after each period, from a start at 0 (periods × d × columns).
        reach: what a start of 1 in each number adds to them (periods × d × d).
        surprises: each value less what was expected of it, from a start at 0 (periods × columns).
        responses: how far a start of 1 in each number raises what is expected (periods × d).
    """

    states: Floats
    reach: Floats
    surprises: Floats
    responses: Floats


def transition(order: int) -> Floats:
    """Return T, by which a state goes on: [1], or [1 1; 0 1] with a slope."""
    return np.triu(np.ones((order, order)))


def filter_variances(noise: Floats, paces: Floats) -> Iterator[Variances]:
    """Yield the variances of several settings at once, stopping early where they no longer change.

    Args:
        noise: variance of the noise, periods × settings; infinite where a sample is missing.
        paces: variance of what moves each number of the state, settings × d.
    """
    periods, count = noise.shape
    order = paces.shape[1]
    onward, moved = transition(order), paces[:, :, None] * np.eye(order)
    precision, gain = np.empty((periods, count)), np.empty((periods, count, order))
    filtered = np.empty((periods, count, order, order))
    steady = bool(np.all(noise == noise[:1]))
    predicted = np.zeros((count, order, order))
    for period in range(periods):
        precision[period] = 1 / (predicted[:, 0, 0] + noise[period])
        gain[period] = predicted[:, :, 0] * precision[period, :, None]
        # F times the gain's square is what the value takes away (Durbin and Koopman, section 4.3).
        filtered[period] = predicted - gain[period, :, :, None] * predicted[:, None, 0, :]
        following = onward @ filtered[period] @ onward.T + moved
        if steady and period % 8 == 0 and np.all(np.abs(following - predicted) <= _SETTLED * np.abs(following)):
            for series in (precision, gain, filtered):
                series[period + 1 :] = series[period]
            break
        predicted = following
    for setting in range(count):
        yield Variances(precision[:, setting], gain[:, setting], filtered[:, setting])


def pass_forward(values: Floats, variances: Variances) -> Passage:
    """Return what the filter makes of values (periods × columns; anything finite where a sample is missing)."""
    order = variances.gain.shape[1]
    onward, gain = transition(order), variances.gain
    inputs = np.zeros((len(values), order, values.shape[1] + order))
    inputs[:, :, order:] = gain[:, :, None] * values[:, None, :]
    inputs[0, :, :order] = np.eye(order) - gain[0, :, None] * np.eye(order)[:1]
    found = chain(_kept(variances), inputs)
    expected = np.zeros((len(values), values.shape[1] + order))
    expected[0, 0] = 1.0
    expected[1:] = (onward[:1] @ found[:-1])[:, 0]
    return Passage(found[:, :, order:], found[:, :, :order], values - expected[:, order:], expected[:, :order])


def pass_back(surprises: Floats, variances: Variances) -> tuple[Floats, Floats]:
    """Return what later surprises say of each state: a score (periods × d × columns) and their information (… × d × d).

    s_{t-1} = T' Z' v_t / F_t + A_t' s_t and N_{t-1} = T' Z' Z T / F_t + A_t' N_t A_t, both 0 at the end, where
    A_t = (I - k_t Z) T: section 4.4 of Durbin and Koopman for states that have seen their own value.
    """
    periods, order = variances.gain.shape
    seen = transition(order)[0]
    scores, information = np.zeros((periods, order, surprises.shape[1])), np.zeros((periods, order * order, 1))
    scores[:-1] = seen[:, None] * (variances.precision[:, None] * surprises)[1:, None, :]
    information[:-1] = np.outer(seen, seen).reshape(-1, 1) * variances.precision[1:, None, None]
    # What stands at t comes from t + 1: shifted by one, then run from the end.
    links = np.roll(_kept(variances), -1, axis=0)[::-1].transpose(0, 2, 1)
    squared = np.einsum("tij,tkl->tikjl", links, links).reshape(periods, order * order, order * order)
    found = chain(squared, information[::-1])[::-1].reshape(periods, order, order)
    return chain(links, scores[::-1])[::-1], found


def chain(links: Floats, inputs: Floats) -> Floats:
    """Return x with x_t = A_t x_{t-1} + u_t and x before the first of 0, by one banded triangular solve.

    Args:
        links: A_t, periods × d × d; the first is not used.
        inputs: u_t, periods × d × columns.

    >>> chain(np.full((3, 1, 1), 0.5), np.ones((3, 1, 1))).ravel().tolist()
    [1.0, 1.5, 1.75]
    """
    from scipy.linalg.lapack import dtbtrs

    periods, order, columns = inputs.shape
    bands = np.zeros((2 * order, periods, order))
    for row in range(order):
        for column in range(order):
            bands[order + row - column, :-1, column] = -links[1:, row, column]
    solved, _ = dtbtrs(
        bands.reshape(2 * order, periods * order), inputs.reshape(periods * order, columns), uplo="L", diag="U"
    )
    found: Floats = np.ascontiguousarray(solved).reshape(periods, order, columns)
    return found


def _kept(variances: Variances) -> Floats:
    """(I - k Z) T: what stays of a state when the next value is seen."""
    onward = transition(variances.gain.shape[1])
    kept: Floats = onward - variances.gain[:, :, None] * onward[:1]
    return kept

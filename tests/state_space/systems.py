"""Systems that several tests use, and the same answers by one large normal law."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.state_space import StateSpace

Floats = NDArray[np.float64]


def scalar(**changed: Any) -> StateSpace:
    """The room of the reference values."""
    parts = {"transition": [[0.95]], "observation": [[1.0]], "process_noise": [[0.1]], "measurement_noise": [[0.5]]}
    return StateSpace(**(parts | changed))


def thermal(known: Any) -> StateSpace:
    """A building of air and walls, as the reference values have it."""
    thermal2 = known["thermal2"]
    return StateSpace(thermal2["A"], thermal2["C"], thermal2["Q"], [[thermal2["r"]]], cause=thermal2["B"])


def drawn(generator: np.random.Generator, states: int, channels: int) -> StateSpace:
    """A stable system with full covariances and a start of its own."""
    onward = generator.normal(size=(states, states))
    onward *= 0.9 / np.abs(np.linalg.eigvals(onward)).max()

    def covariance(size: int) -> Floats:
        root = generator.normal(size=(size, size))
        found: Floats = root @ root.T + 0.1 * np.eye(size)
        return found

    return StateSpace(
        onward,
        generator.normal(size=(channels, states)),
        covariance(states),
        covariance(channels),
        initial_mean=generator.normal(size=states),
        initial_covariance=covariance(states),
    )


def conditioned(model: StateSpace, values: Floats, added: float, upto: int) -> tuple[Floats, Floats]:
    """Means and variances of all states given values up to a step, by writing the joint normal law out."""
    onward, observation, process, noise = model.matrices
    n, steps = model.states, len(values)
    mean, covariance = [model.start], np.zeros((steps * n, steps * n))
    own = np.array(model.initial_covariance)
    for step in range(steps):
        here = slice(step * n, (step + 1) * n)
        covariance[here, here] = own
        for late in range(step + 1, steps):
            there = slice(late * n, (late + 1) * n)
            power = np.linalg.matrix_power(onward, late - step)
            covariance[there, here] = power @ own
            covariance[here, there] = covariance[there, here].T
        mean.append(onward @ mean[-1])
        own = onward @ own @ onward.T + process
    means = np.concatenate(mean[:-1])
    seen = ~np.isnan(values)
    seen[upto + 1 :] = False
    look = np.kron(np.eye(steps), observation)[seen.ravel()]
    whole = np.kron(np.eye(steps), noise + added * np.eye(model.channels))[np.ix_(seen.ravel(), seen.ravel())]
    gain = covariance @ look.T @ np.linalg.inv(look @ covariance @ look.T + whole)
    found = means + gain @ (values.ravel()[seen.ravel()] - look @ means)
    left = covariance - gain @ look @ covariance
    return found.reshape(steps, n), np.diagonal(left).reshape(steps, n)

"""A linear state-space model: how a hidden state moves, and what sensors see of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Floats
from chronodp.privacy import document, settle

__all__ = ["Matrix", "StateSpace"]

Matrix = tuple[tuple[float, ...], ...]

_LARGEST = 1e50
_ROUNDING = 1e-12  # of a matrix's size: what is taken for rounding in symmetry and eigenvalues


@document("state_space")
@dataclass(frozen=True)
class StateSpace:
    """A hidden state that moves by itself and is seen through noise.

    x_{t+1} = A x_t + B u_t + w_t and y_t = C x_t + v_t, where

    * x_t is the hidden state of n numbers and y_t the measurement of m channels,
    * w_t and v_t are independent noise with covariances Q and R,
    * u_t is a cause that someone is to be hidden in (see `CausedChange`); it is part of no estimate.

    All of it is public: physics, data sheets, or fitted to other data. Privacy does not rest on it, unless a change is
    stated on the cause; the intervals do. What is known to be added to the state, such as the weather, is to be
    subtracted before.

    Attributes:
        transition: A, n × n.
        observation: C, m × n.
        process_noise: Q, n × n, symmetric and positive semidefinite.
        measurement_noise: R, m × m, symmetric and positive definite.
        cause: B, n × p; None if changes are stated on measurements.
        initial_mean: of x_0, n numbers; None for zeros.
        initial_covariance: of x_0 before its measurement, n × n; None for that of a filter that has run for long.

    >>> room = StateSpace(transition=[[0.95]], observation=[[1.0]], process_noise=[[0.1]], measurement_noise=[[0.5]])
    >>> room.states, room.channels, room.transition
    (1, 1, ((0.95,),))
    """

    transition: Any
    observation: Any
    process_noise: Any
    measurement_noise: Any
    cause: Any = None
    initial_mean: Any = None
    initial_covariance: Any = None

    def __post_init__(self) -> None:
        n, m = self._sizes()
        settle(
            self,
            transition=_matrix("transition", self.transition, (n, n)),
            observation=_matrix("observation", self.observation, (m, n)),
            process_noise=_covariance("process_noise", self.process_noise, n, definite=False),
        )
        noise = _covariance("measurement_noise", self.measurement_noise, m, definite=True)
        settle(self, measurement_noise=noise)
        if self.cause is not None:
            width = _array("cause", self.cause, f"{n} × p numbers")
            columns = width.shape[1] if width.ndim == 2 else 0
            settle(self, cause=_matrix("cause", self.cause, (n, max(columns, 1))))
        if self.initial_mean is not None:
            mean = _array("initial_mean", self.initial_mean, f"{n} numbers, one a state")
            if mean.shape != (n,):
                raise InvalidArgument("initial_mean", f"shape {mean.shape}", f"of shape ({n},): one number a state")
            settle(self, initial_mean=tuple(mean.tolist()))
        if self.initial_covariance is not None:
            start = _covariance("initial_covariance", self.initial_covariance, n, definite=False)
            settle(self, initial_covariance=start)

    @property
    def states(self) -> int:
        """How many numbers the state has, n."""
        return len(self.transition)

    @property
    def channels(self) -> int:
        """How many numbers a measurement has, m."""
        return len(self.observation)

    @property
    def matrices(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return A, C, Q, R as arrays."""
        return (
            np.array(self.transition),
            np.array(self.observation),
            np.array(self.process_noise),
            np.array(self.measurement_noise),
        )

    @property
    def start(self) -> Floats:
        """The mean of the first state."""
        return np.zeros(self.states) if self.initial_mean is None else np.array(self.initial_mean)

    def _sizes(self) -> tuple[int, int]:
        transition = _array("transition", self.transition, "n × n numbers")
        if transition.ndim != 2 or transition.shape[0] != transition.shape[1] or not transition.size:
            raise InvalidArgument("transition", f"shape {transition.shape}", "square, n × n for a state of n numbers")
        n = transition.shape[0]
        observation = _array("observation", self.observation, f"m × {n} numbers")
        if observation.ndim != 2 or observation.shape[1] != n or not observation.size:
            allowed = f"of shape (m, {n}): a row for each channel, a column for each of {n} states"
            raise InvalidArgument("observation", f"shape {observation.shape}", allowed)
        return n, observation.shape[0]


def _array(name: str, given: ArrayLike, allowed: str) -> Floats:
    try:
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(name, given, allowed) from None
    if not np.all(np.abs(array) <= _LARGEST):
        raise InvalidArgument(name, given, f"{allowed}, finite and at most {_LARGEST:g} in size")
    return array


def _matrix(name: str, given: ArrayLike, shape: tuple[int, int]) -> Matrix:
    array = _array(name, given, f"{shape[0]} × {shape[1]} numbers")
    if array.shape != shape:
        raise InvalidArgument(name, f"shape {array.shape}", f"of shape {shape}")
    return tuple(tuple(row) for row in array.tolist())


def _covariance(name: str, given: ArrayLike, size: int, *, definite: bool) -> Matrix:
    matrix = np.array(_matrix(name, given, (size, size)))
    slack = _ROUNDING * float(np.abs(matrix).max(initial=0.0))
    if float(np.abs(matrix - matrix.T).max()) > slack:
        raise InvalidArgument(name, "a matrix that is not symmetric", "symmetric, as a covariance is")
    even = (matrix + matrix.T) / 2
    least = float(np.linalg.eigvalsh(even)[0])
    if definite and least <= slack:
        allowed = "positive definite: noise in every direction of a measurement"
        raise InvalidArgument(name, f"a matrix with the eigenvalue {least:g}", allowed)
    if least < -slack:
        allowed = "positive semidefinite: no direction has a negative variance"
        raise InvalidArgument(name, f"a matrix with the eigenvalue {least:g}", allowed)
    return tuple(tuple(row) for row in even.tolist())

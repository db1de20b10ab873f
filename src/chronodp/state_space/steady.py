"""Where a filter settles: the error and the gain that no longer change, before any measurement is seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Floats
from chronodp.privacy import check_number
from chronodp.state_space.model import StateSpace

__all__ = ["SteadyState", "check_settles", "error_with_gain", "solve_steady", "wander"]

_BLIND = 1e-9  # singular values below so much of the largest count as 0
_EDGE = 1e-9  # eigenvalues this near to size 1 do not fade


@dataclass(frozen=True, slots=True, eq=False)
class SteadyState:
    """What a filter knows once it has run for long.

    Attributes:
        prior: covariance of the state before its measurement, n × n.
        posterior: covariance of the state with its measurement, n × n.
        gain: how far a surprise moves the state, n × m.
    """

    prior: Floats
    posterior: Floats
    gain: Floats


def solve_steady(model: StateSpace, *, added: float = 0.0) -> SteadyState:
    """Return the steady state of the filter whose gain is made for the added noise.

    P = A P A' - A P C' (C P C' + R + σ² I)⁻¹ C P A' + Q is solved for the prior covariance P; the gain is
    K = P C' (C P C' + R + σ² I)⁻¹ and the posterior (I - K C) P, where

    * A, C, Q, R are the model's matrices (see `StateSpace`),
    * σ² is ``added``, the variance of the noise that privacy adds to every channel.

    Args:
        model: the system; a mode that does not fade must be seen by the sensors and moved by the process noise.
        added: variance of the private noise; 0 for the filter without privacy.

    >>> room = StateSpace(transition=[[0.95]], observation=[[1.0]], process_noise=[[0.1]], measurement_noise=[[0.5]])
    >>> [round(float(solve_steady(room, added=added).posterior[0, 0]), 6) for added in (0.0, 1.0, 10.0)]
    [0.166975, 0.293477, 0.62283]

    References:
        Anderson, Moore (1979), Optimal filtering, sections 4.4 and 4.5.
    """
    from scipy.linalg import LinAlgError, solve_discrete_are

    check_settles(model)
    onward, seen, process, noise = model.matrices
    whole = noise + _check_added(added) * np.eye(model.channels)
    try:
        prior = solve_discrete_are(onward.T, seen.T, process, whole)
    except (LinAlgError, ValueError):
        raise InvalidArgument("model", "a system", "one whose Riccati equation can be solved in floats") from None
    prior = (prior + prior.T) / 2
    gain: Floats = np.linalg.solve(seen @ prior @ seen.T + whole, seen @ prior).T.astype(np.float64)
    return SteadyState(prior, _after(prior, gain, seen, whole), gain)


def error_with_gain(model: StateSpace, gain: Floats, *, added: float = 0.0) -> Floats:
    """Return the posterior covariance of a filter with any other fixed gain, such as one made for no privacy.

    It solves S = F S F' + (I - K C) Q (I - K C)' + K (R + σ² I) K' with F = (I - K C) A.

    >>> room = StateSpace(transition=[[0.95]], observation=[[1.0]], process_noise=[[0.1]], measurement_noise=[[0.5]])
    >>> round(float(error_with_gain(room, solve_steady(room).gain, added=10.0)[0, 0]), 6)
    2.026836
    """
    from scipy.linalg import solve_discrete_lyapunov

    onward, seen, process, noise = model.matrices
    if np.shape(gain) != (model.states, model.channels):
        allowed = f"of shape ({model.states}, {model.channels}): a row a state, a column a channel"
        raise InvalidArgument("gain", f"shape {np.shape(gain)}", allowed)
    left = np.eye(model.states) - gain @ seen
    fading = left @ onward
    if np.abs(np.linalg.eigvals(fading)).max() >= 1 - _EDGE:
        raise InvalidArgument("gain", "a matrix", "one with which errors fade: (I - K C) A has an eigenvalue of size 1")
    whole = noise + _check_added(added) * np.eye(model.channels)
    error: Floats = np.asarray(solve_discrete_lyapunov(fading, left @ process @ left.T + gain @ whole @ gain.T), float)
    return (error + error.T) / 2


def wander(model: StateSpace) -> Floats | None:
    """Return the covariance of the state where nothing is measured; None if it grows without end."""
    from scipy.linalg import solve_discrete_lyapunov

    onward, _, process, _ = model.matrices
    if np.abs(np.linalg.eigvals(onward)).max() >= 1 - _EDGE:
        return None
    spread: Floats = np.asarray(solve_discrete_lyapunov(onward, process), float)
    return (spread + spread.T) / 2


def check_settles(model: StateSpace) -> None:
    """Raise unless a filter of this model settles: say which mode fails, and why.

    For every eigenvalue of A of size 1 or more, [λ I - A; C] and [λ I - A, Q] must have full rank (detectable and
    stabilisable).
    """
    if not isinstance(model, StateSpace):
        raise InvalidArgument("model", model, "a StateSpace")
    onward, seen, process, _ = model.matrices
    for value in np.linalg.eigvals(onward):
        if abs(value) < 1 - _EDGE:
            continue
        rest = value * np.eye(model.states) - onward
        mode = f"{value.real:g}" if abs(value.imag) < _EDGE else f"{value.real:g} ± {abs(value.imag):g}i"
        if _lacks_rank(np.vstack((rest, _even(seen)))):
            raise InvalidArgument(
                "model",
                f"a mode of eigenvalue {mode} that no channel sees",
                "detectable: errors in such a mode never fade, so observe it or make it stable (size below 1)",
            )
        if _lacks_rank(np.hstack((rest, _even(process)))):
            raise InvalidArgument(
                "model",
                f"a mode of eigenvalue {mode} that no process noise moves",
                "stabilisable: the gain for such a mode tends to 0 or hangs on the start; give it process noise",
            )


def _even(matrix: Floats) -> Floats:
    """A matrix scaled to size 1, so that its units do not decide its rank."""
    size = float(np.abs(matrix).max(initial=0.0))
    return matrix / size if size else matrix


def _lacks_rank(matrix: Floats) -> bool:
    sizes = np.linalg.svd(matrix, compute_uv=False)
    return bool(sizes[min(matrix.shape) - 1] <= _BLIND * sizes[0]) if sizes[0] else True


def _after(prior: Floats, gain: Floats, seen: Floats, whole: Floats) -> Floats:
    """The posterior in Joseph's form, which stays symmetric and positive."""
    left = np.eye(len(prior)) - gain @ seen
    found: Floats = left @ prior @ left.T + gain @ whole @ gain.T
    return (found + found.T) / 2


def _check_added(added: float) -> float:
    if check_number("added", added) < 0:
        raise InvalidArgument("added", added, "a variance of at least 0")
    return float(added)

"""What one unit can change: the measurements themselves, or a cause that reaches them through the system.

*Sensitivity on the cause* of ``docs/explanation/proofs/state-estimation.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from chronodp.errors import InvalidArgument, MissingBound
from chronodp.postprocess import Floats
from chronodp.privacy import Assumption, Sensitivity, Touched, check_positive, document, settle
from chronodp.state_space.model import StateSpace

__all__ = ["LONGEST_RESPONSE", "CausedChange", "Change", "MeasuredChange", "cause_sensitivity", "impulse_response"]

LONGEST_RESPONSE = 2**20
"""Steps over which the reach of a cause is computed."""

_ABOVE = 1 + 1e-9  # far more than floats lose in these sums
_LARGEST = 1e50


@document("measured_change")
@dataclass(frozen=True, slots=True)
class MeasuredChange:
    """One unit changes every channel of a measurement it is in by at most ``most``.

    With `Event` that is one measurement; with `User` and ``max_periods`` what a person contributes over time.
    """

    most: float

    def __post_init__(self) -> None:
        settle(self, most=check_positive("change", self.most))

    def __str__(self) -> str:
        return f"measurements changed by at most {self.most:g}"


@document("caused_change")
@dataclass(frozen=True, slots=True)
class CausedChange:
    """One unit changes every input u_t of the system it is in by at most ``most``; measurements follow through C A^k B.

    For what is hidden in the cause, such as who is at home: one hour's heat stays in a building's temperature for
    days, and protecting single measurements does not protect it. The guarantee rests on the model's A, B and C.
    """

    most: float

    def __post_init__(self) -> None:
        settle(self, most=check_positive("change", self.most))

    def __str__(self) -> str:
        return f"inputs changed by at most {self.most:g}, seen through the system"

    @property
    def assumption(self) -> Assumption:
        """What must be true of the world."""
        statement = "a cause changes measurements by no more than the model's response C A^k B says"
        return Assumption("linear response", statement)


Change: TypeAlias = MeasuredChange | CausedChange


def impulse_response(model: StateSpace, steps: int) -> Floats:
    """Return C A^k B for k = 0, 1, … (steps × channels × inputs): what one unit of input does to later measurements.

    >>> tank = StateSpace([[0.5]], [[1.0]], [[0.1]], [[0.1]], cause=[[2.0]])
    >>> impulse_response(tank, 4).ravel().tolist()
    [2.0, 1.0, 0.5, 0.25]
    """
    if model.cause is None:
        raise MissingBound("cause", "say how inputs enter the state: StateSpace(..., cause=B)")
    onward, observation, _, _ = model.matrices
    reached = np.array(model.cause)[None]
    power = onward
    with np.errstate(over="ignore", invalid="ignore"):
        while len(reached) < steps:
            reached = np.concatenate((reached, power @ reached[: steps - len(reached)]))
            power = power @ power
        response: Floats = observation @ reached
    if not np.all(np.abs(response) <= _LARGEST):
        raise InvalidArgument(
            "model",
            "an unstable system",
            f"one whose response to a cause stays bounded over {steps:,} steps: eigenvalues of the transition of size "
            "above 1 make every earlier cause count more and more",
        )
    return response


def cause_sensitivity(model: StateSpace, change: CausedChange, touched: Touched, *, horizon: int) -> Sensitivity:
    """Return how far one unit's inputs change all measurements of the horizon together.

    l2² <= Δ² Σ_{s,t} r_{|s-t|} over the touched steps s and t, with r_j = Σ_{a,b} |Σ_k H_k' H_{k+j}|_{ab}, and
    l1 <= Δ × touched steps × Σ_k Σ |H_k|, where

    * H_k = C A^k B is the impulse response up to the horizon,
    * Δ is the change of each input. Of steps that lie anywhere, the largest r_j are taken.

    It is attained where all entries of the response have one sign and steps lie together.

    >>> tank = StateSpace([[0.5]], [[1.0]], [[0.1]], [[0.1]], cause=[[2.0]])
    >>> once = cause_sensitivity(tank, CausedChange(1.0), Touched(1, together=True), horizon=50)
    >>> round(once.l1, 6), round(once.l2**2, 6)
    (4.0, 5.333333)
    """
    if horizon > LONGEST_RESPONSE:
        raise InvalidArgument("horizon", horizon, f"at most {LONGEST_RESPONSE:,} steps where a cause is to be hidden")
    response = impulse_response(model, horizon)
    lags = _correlations(response)
    steps = min(touched.periods, horizon)
    if touched.together:
        weights = np.concatenate(([steps], 2 * np.arange(steps - 1, 0, -1)))
        square = float(weights @ lags[:steps])
    else:
        # Row s of the double sum meets k different lags, of either sign: the k largest of all of them.
        both = np.concatenate((lags[:1], np.repeat(lags[1:], 2)))
        square = steps * float(np.sort(both)[::-1][:steps].sum())
    l1 = steps * float(np.abs(response).sum()) * change.most
    if not l1:
        raise InvalidArgument("cause", "inputs that no channel ever sees", "a cause that reaches the measurements")
    # A sum is also at most that of steps apart, which is smaller where the response changes sign.
    l2 = min(math.sqrt(square), steps * math.sqrt(float(lags[0]))) * change.most
    return Sensitivity(l1 * _ABOVE, l2 * _ABOVE)


def _correlations(response: Floats) -> Floats:
    """Σ_{ab} |Σ_k H_k' H_{k+j}|_{ab} for every lag j; what the transform loses is added."""
    from scipy.fft import irfft, next_fast_len, rfft

    steps = len(response)
    length = next_fast_len(2 * steps, real=True)
    spectra = rfft(response, length, axis=0)
    products = np.einsum("fca,fcb->fab", spectra.conj(), spectra)
    lags: Floats = np.abs(irfft(products, length, axis=0)[:steps]).sum(axis=(1, 2))
    lags += 1e-13 * float((response**2).sum()) * response.shape[2]
    return lags

"""Steps of an alert: state and values in, state and alerts out.

The threshold is noisy once, for the whole run; every value has fresh noise of its own. What is told is which steps
fired. `start` draws N and `advance` compares x_t + M_t with τ + N: "What is told" and "Why it is private" in
``docs/explanation/proofs/alerts.md``. `tell_values` is *Values told* there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.alerts.answer import AlertAnswer
from chronodp.alerts.design import AlertDesign
from chronodp.alerts.scaling import to_quanta
from chronodp.alerts.state import AlertState
from chronodp.errors import InvalidArgument
from chronodp.privacy import Grid, at_least, check_kind
from chronodp.randomness import Entropy, check_entropy

__all__ = ["Alarms", "advance", "start", "tell_values"]

_BLOCK = 2**16


@dataclass(frozen=True, slots=True, eq=False)
class Alarms:
    """Which steps fired.

    Attributes:
        periods: their numbers.
        values: their noisy values; None if no values are told.
    """

    periods: NDArray[np.int64]
    values: NDArray[np.float64] | None

    def answers(self) -> list[AlertAnswer]:
        """Return one answer for each."""
        values = [None] * len(self.periods) if self.values is None else self.values.tolist()
        return [AlertAnswer(period, True, value) for period, value in zip(self.periods.tolist(), values, strict=True)]


def start(design: AlertDesign, entropy: Entropy) -> AlertState:
    """Return the state before the first step, with the noisy threshold of the whole run."""
    check_kind("design", design, AlertDesign, "an AlertDesign")
    noise = int(design.noise.draw(at_least(design.threshold_scale), 1, check_entropy(entropy))[0])
    return AlertState(design.threshold_steps + noise, alerts=0, period=0)


def advance(design: AlertDesign, state: AlertState, values: ArrayLike, entropy: Entropy) -> tuple[AlertState, Alarms]:
    """Return the state after the next values, or after the last alert if it comes before, and the steps that fired.

    A step fires if value + noise >= threshold + noise; for `below` both are negated first.

    Guarantee: all steps of a run together are ``design.cost``-differentially private for ``design.unit``, also when
    values are chosen after seeing earlier answers. Quiet steps are free, however many and however often asked again.

    >>> from chronodp.alerts.design import design_alert
    >>> from chronodp.privacy import User
    >>> from chronodp.randomness import seeded
    >>> design, entropy = design_alert(above=500.0, change=1.0, unit=User(), max_alerts=2, epsilon=1.0), seeded(1)
    >>> state, alarms = advance(design, start(design, entropy), [100.0, 900.0, 100.0, 900.0, 900.0], entropy)
    >>> alarms.periods.tolist(), state.period         # the last step was not asked any more
    ([1, 3], 4)
    """
    check_kind("design", design, AlertDesign, "an AlertDesign")
    check_kind("state", state, AlertState, "an AlertState")
    entropy = check_entropy(entropy)
    left = design.max_alerts - state.alerts
    if left <= 0:
        raise InvalidArgument(
            "state", f"one with {state.alerts} alerts told", f"one with fewer than {design.max_alerts}"
        )
    # Negated after rounding, as the threshold was: exponential noise moves upwards only, and must push towards firing.
    steps = design.sign * to_quanta(values, design.step)
    scale = at_least(design.query_scale)
    found: list[int] = []
    asked = 0
    while asked < len(steps) and len(found) < left:
        block = steps[asked : asked + _BLOCK]
        # All comparisons of a block may be made at once: the threshold stays and every value has its own noise.
        fired = np.flatnonzero(block + design.noise.draw(scale, len(block), entropy) >= state.threshold)
        found += (asked + fired[: left - len(found)]).tolist()
        # Steps after the last alert that is paid for were not asked: their comparisons are thrown away unseen.
        asked = found[-1] + 1 if len(found) == left else asked + len(block)
    places = np.array(found, dtype=np.int64)
    following = replace(state, alerts=state.alerts + len(found), period=state.period + asked)
    told = tell_values(design, steps[places], entropy) if design.value_epsilon else None
    return following, Alarms(state.period + places, told)


def tell_values(design: AlertDesign, steps: NDArray[np.int64], entropy: Entropy) -> NDArray[np.float64]:
    """Return the values of alerts with noise of their own, at their own price."""
    # A fresh draw: the noise of the comparison, once told, would bound N from above (third of the wrong variants).
    noisy = steps + entropy.laplace(at_least(design.value_scale), len(steps))
    return Grid(design.step).to_values(design.sign * noisy)

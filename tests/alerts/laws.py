"""The law of short streams of an alert: every draw of `start` and `advance`, weighted by its exact probability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from chronodp.alerts import Exponential, Noise, Split, advance, start
from chronodp.audit.enumerated_entropy import EnumeratedEntropy
from chronodp.privacy.exact import at_least
from chronodp.randomness import Shape
from tests.audit.cases.alerts import tiny_alert

Floats = NDArray[np.float64]
Steps = Sequence[Sequence[int]]

_SCALES = 60  # e^-60 of the mass lies beyond


class Given(EnumeratedEntropy):
    """Answers the one request for noise with given numbers, and notes the scale that was asked for."""

    def __init__(self, numbers: NDArray[np.int64]) -> None:
        super().__init__([])
        self._numbers = numbers
        self.scale = 0.0

    def exponential(self, scale: float, size: Shape) -> NDArray[np.int64]:
        return self._give(scale, size)

    def laplace(self, scale: float, size: Shape) -> NDArray[np.int64]:
        return self._give(scale, size)

    def _give(self, scale: float, size: Shape) -> NDArray[np.int64]:
        assert size == len(self._numbers)
        self.scale = scale
        return self._numbers


def every_draw(noise: Noise, scale: float) -> tuple[NDArray[np.int64], Floats]:
    """Return every number that noise of this scale can be, and its probability."""
    reach = math.ceil(scale * _SCALES)
    if isinstance(noise, Exponential):
        places = np.arange(reach)
        return places, np.exp(-places / scale) * -math.expm1(-1 / scale)
    places = np.arange(-reach, reach + 1)
    far = np.exp(-(np.abs(places) - 0.5) / scale) * -math.expm1(-1 / scale) / 2
    return places, np.where(places == 0, -math.expm1(-0.5 / scale), far)


@dataclass(frozen=True)
class Law:
    """The law of an alert on a grid of whole numbers whose units change a value by one.

    Attributes:
        thresholds: probability of every noisy threshold.
        fires: for each of them, and for values from -reach to reach, the probability that a step fires.
        quiet: that it does not.
        reach: the largest value.
    """

    thresholds: Floats
    fires: Floats
    quiet: Floats
    reach: int

    def log_chances(self, values: Steps, fired: tuple[int, ...], times: tuple[int, ...]) -> Floats:
        """Return ln P(step i fires, or not, times i in a row) at each value of each step, with an axis a step."""
        logs = np.log(self.thresholds)
        for some, one, repeated in zip(values, fired, times, strict=True):
            logs = np.repeat(logs[..., np.newaxis], len(some), axis=-1)
            if repeated:
                chances = (self.fires if one else self.quiet)[:, np.array(some) + self.reach]
                with np.errstate(divide="ignore"):
                    told = repeated * np.log(chances)
                logs += told.reshape(len(told), *(1,) * (logs.ndim - 2), len(some))
        return np.asarray(logsumexp(logs, axis=0))


def law_of(noise: Noise, split: Split, *, monotone: bool = False, reach: int = 12) -> Law:
    """Return the law of `start` and of one step of `advance`."""
    design = tiny_alert(split, 2**20, monotone=monotone, noise=noise)  # so that every draw of one call is compared
    places, thresholds = every_draw(noise, float(design.threshold_scale))
    draws, weights = every_draw(noise, float(design.query_scale))
    fires, quiet = (np.zeros((len(places), 2 * reach + 1)) for _ in range(2))
    values = np.arange(-reach, reach + 1, dtype=np.float64)
    met, every = np.repeat(values, len(draws)), np.tile(draws, len(values))
    for row, place in enumerate(places):
        opening = Given(np.array([place]))
        state = start(design, opening)
        assert opening.scale == at_least(design.threshold_scale)
        entropy = Given(every)
        _, alarms = advance(design, state, met, entropy)
        assert entropy.scale == at_least(design.query_scale)
        fired = np.zeros(len(met), np.bool_)
        fired[alarms.periods] = True
        told = fired.reshape(len(values), len(draws))
        fires[row], quiet[row] = told @ weights, ~told @ weights
    return Law(thresholds, fires, quiet, reach)

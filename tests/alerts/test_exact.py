"""The worst loss, found by search over values, changes and events, is the price: neither more nor less.

The law of short streams is made of every draw of `start` and `advance`, weighted by its exact probability.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import logsumexp

from chronodp.alerts import Comparator, Exponential, Laplace, Noise, Split, advance, start
from chronodp.audit.enumerated_entropy import EnumeratedEntropy
from chronodp.audit.exact import examine
from chronodp.privacy import User
from chronodp.privacy.exact import at_least
from chronodp.randomness import Entropy, Shape
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


TEXTBOOK = Split(threshold=0.5, alert=0.25)
BOTH: list[Noise] = [Exponential(), Laplace()]
ANY = (-1, 0, 1)
ONE_WAY = ((0, 1), (-1, 0))

law = cache(law_of)


def runs(alerts: int) -> Iterator[tuple[Steps, tuple[int, ...], tuple[int, ...]]]:
    """Yield values to try at each step, which steps fire, and how often each is repeated."""
    for quiet in (0, 1, 3, 100, 10**5):  # quiet so many times at one value, then alerts at another
        yield ((-2, 0, 2), (-11, -6, -2, 0, 3)), (0, 1), (quiet, alerts)
    for fired in product((0, 1), repeat=3):  # all answers of three steps with at most so many alerts
        if sum(fired) <= alerts:
            yield ((-9, 0, 2),) * 3, fired, (1, 1, 1)


def worst(found: Law, alerts: int, *, moves: tuple[int, ...] = ANY) -> float:
    """Return the largest log ratio of any event between values and the same values moved by ``moves``."""
    largest = 0.0
    for values, fired, times in runs(alerts):
        here = found.log_chances(values, fired, times)
        kept = here >= -600  # beyond it is what sums of floats can tell
        met = [sorted({value + move for value in some for move in moves}) for some in values]
        chances = found.log_chances(met, fired, times)
        for changes in product(moves, repeat=len(values)):
            places = (
                [there.index(value + change) for value in some]
                for some, there, change in zip(values, met, changes, strict=True)
            )
            largest = max(largest, *np.abs(here - chances[np.ix_(*places)], where=kept, out=np.zeros(here.shape)).flat)
    return largest


@pytest.mark.parametrize(("alerts", "price"), [(1, 0.75), (3, 1.25)])
@pytest.mark.parametrize("noise", BOTH, ids=str)
@pytest.mark.slow
def test_the_worst_loss_is_the_price(noise: Noise, alerts: int, price: float) -> None:
    assert tiny_alert(TEXTBOOK, alerts, noise=noise).cost.epsilon == price
    assert worst(law(noise, TEXTBOOK), alerts) == pytest.approx(price, abs=1e-6)


@pytest.mark.parametrize(("alerts", "price", "leak"), [(1, 0.75, 1.0), (3, 1.25, 2.0)])
@pytest.mark.parametrize("noise", BOTH, ids=str)
@pytest.mark.slow
def test_half_the_noise_is_enough_for_monotone_values_and_for_no_others(
    noise: Noise, alerts: int, price: float, leak: float
) -> None:
    found = law(noise, TEXTBOOK, monotone=True)
    assert max(worst(found, alerts, moves=moves) for moves in ONE_WAY) == pytest.approx(price, abs=1e-6)
    assert worst(found, alerts) == pytest.approx(leak, abs=1e-6)


@pytest.mark.parametrize("noise", BOTH, ids=str)
@pytest.mark.slow
def test_the_search_notices_narrower_noise_and_one_alert_too_many(noise: Noise) -> None:
    thin = Split(threshold=0.5 / 0.9, alert=0.25 / 0.9)
    assert worst(law(noise, thin), 1) > 0.75 + 0.05
    assert worst(law(noise, TEXTBOOK), 2) > 0.75 + 0.2


@pytest.mark.slow
@pytest.mark.parametrize("noise", BOTH, ids=str)
@pytest.mark.parametrize("side", ["above", "below"])
def test_a_check_costs_epsilon(noise: Noise, side: str) -> None:
    once = Comparator(**{side: 0.0}, change=1.0, unit=User(), epsilon=4.0, noise=noise, step=1.0)

    def check(value: int, *, entropy: Entropy) -> bool:
        return once.fires(value, entropy)

    pairs = [(value, value + 1) for value in range(-4, 4)]
    finding = examine(check, pairs)
    assert not finding.refutes(4.0)
    assert finding.epsilon == pytest.approx(4.0, abs=1e-9 if isinstance(noise, Exponential) else 1.0)

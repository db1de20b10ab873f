"""The worst loss, found by search over values, changes and events, is the price: neither more nor less."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np
import pytest

from chronodp.alerts import Comparator, Exponential, Laplace, Noise, Split
from chronodp.audit.exact import compare_outcomes, examine
from chronodp.privacy import User
from chronodp.randomness import Entropy
from tests.alerts.laws import Law, Steps, law_of
from tests.audit.cases.alerts import tiny_alert, watch_walk

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
def test_every_outcome_of_two_steps_of_the_real_thing() -> None:
    walk = watch_walk(tiny_alert(Split(8.0, 16.0), 1))
    pairs = [((0, -1), (1, -2)), ((0, 0), (1, 1)), ((0, 1), (-1, 0)), ((2, -1), (1, 0))]
    finding = compare_outcomes([(walk.law(first), walk.law(second)) for first, second in pairs])
    assert not finding.refutes(24.0)
    assert finding.epsilon == pytest.approx(24.0, abs=1e-6)


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


@pytest.mark.slow
def test_exponential_noise_attains_the_price_after_one_quiet_step() -> None:
    found = law(Exponential(), TEXTBOOK)
    here = found.log_chances(((0,), (-6,)), (0, 1), (1, 3)).item()
    there = found.log_chances(((1,), (-7,)), (0, 1), (1, 3)).item()
    assert here - there == pytest.approx(1.25, abs=1e-12)
    assert math.isfinite(there)

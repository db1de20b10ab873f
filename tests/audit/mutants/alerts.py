"""Alerts with the mistakes that were made in print, and three that are easily made."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from chronodp.alerts import AlertDesign, Exponential, Split, advance, start
from chronodp.privacy import Claim, PureCost, User
from chronodp.randomness import Entropy
from tests.audit.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

Values = tuple[int, ...]

# Noise so narrow that every outcome can be walked through. One unit changes each value by one.
_SPLIT = Split(threshold=16.0, alert=12.0)
_THRESHOLD = 1 / 16
_QUERY = 2 / 12


def watch_once(values: Values, *, entropy: Entropy) -> Values:
    """Tell one alert."""
    return _watch(values, 1, entropy)


def watch_twice(values: Values, *, entropy: Entropy) -> Values:
    """Tell two alerts."""
    return _watch(values, 2, entropy)


def watch_without_noise_on_values(values: Values, *, entropy: Entropy) -> Values:
    """Compare values as they are with the noisy threshold."""
    threshold = _noise(_THRESHOLD, entropy)
    return _told(values, lambda value: value >= threshold)


def watch_without_end(values: Values, *, entropy: Entropy) -> Values:
    """Go on after the alert that was paid for."""
    threshold = _noise(_THRESHOLD, entropy)
    return tuple(int(value + _noise(_QUERY, entropy) >= threshold) for value in values)


def watch_and_tell_the_noisy_value(values: Values, *, entropy: Entropy) -> Values:
    """Tell with the alert the noisy value that was compared: it bounds the noisy threshold from above."""
    threshold = _noise(_THRESHOLD, entropy)
    told: list[int] = []
    for value in values:
        noisy = value + _noise(_QUERY, entropy)
        told.append(int(noisy >= threshold))
        if told[-1]:
            return (*told, noisy)
    return tuple(told)


def watch_twice_with_noise_for_one(values: Values, *, entropy: Entropy) -> Values:
    """Tell two alerts with the noise that the same money buys for one."""
    threshold = _noise(_THRESHOLD, entropy)
    return _told(values, lambda value: value + _noise(_QUERY / 2, entropy) >= threshold, alerts=2)


def watch_with_fresh_thresholds(values: Values, *, entropy: Entropy) -> Values:
    """Draw both noises anew at every step, at the price of one threshold."""
    return _told(values, lambda value: value + _noise(_QUERY, entropy) >= _noise(_THRESHOLD, entropy))


def watch_as_if_monotone(values: Values, *, entropy: Entropy) -> Values:
    """Halve the noise of values that one unit may move up and down."""
    threshold = _noise(_THRESHOLD, entropy)
    return _told(values, lambda value: value + _noise(_QUERY / 2, entropy) >= threshold)


def watch_with_noise_downwards(values: Values, *, entropy: Entropy) -> Values:
    """Subtract exponential noise from values and threshold: quiet steps then cost as much as alerts."""
    threshold = -_noise(_THRESHOLD, entropy)
    return _told(values, lambda value: value - _noise(_QUERY, entropy) >= threshold)


def _watch(values: Values, alerts: int, entropy: Entropy) -> Values:
    design = _design(alerts)
    state = start(design, entropy)
    told = []
    for value in values:
        state, alarms = advance(design, state, [value], entropy)
        told.append(len(alarms.periods))
        if state.alerts == alerts:
            break
    return tuple(told)


@cache
def _design(alerts: int) -> AlertDesign:
    return AlertDesign(
        above=0.0, change=1.0, unit=User(), max_alerts=alerts, epsilon=_SPLIT.total(alerts), split=_SPLIT, step=1.0
    )


def _told(values: Values, fires: Callable[[int], bool], *, alerts: int = 1) -> Values:
    told: list[int] = []
    for value in values:
        told.append(int(fires(value)))
        if sum(told) == alerts:
            break
    return tuple(told)


def _noise(scale: float, entropy: Entropy) -> int:
    return int(Exponential().draw(scale, 1, entropy)[0])


def _mutant(
    name: str,
    broken: Callable[..., object],
    neighbours: tuple[tuple[Values, Values], ...],
    *,
    alerts: int = 1,
) -> Mutant:
    return Mutant(
        name=name,
        claim=Claim(User(), PureCost(_SPLIT.total(alerts)), "docs/explanation/proofs/alerts.md"),
        sound=watch_once if alerts == 1 else watch_twice,
        broken=broken,
        neighbours=neighbours,
    )


MUTANTS: tuple[Mutant, ...] = (
    _mutant("alerts without noise on values", watch_without_noise_on_values, (((0, 1), (1, 0)),)),
    _mutant("alerts without end", watch_without_end, (((0, 1, 1), (1, 0, 0)),)),
    _mutant("alerts that tell the noisy value they compared", watch_and_tell_the_noisy_value, (((0, 0), (1, 0)),)),
    _mutant("two alerts with the noise for one", watch_twice_with_noise_for_one, (((0, 1, 1), (1, 0, 0)),), alerts=2),
    _mutant("alerts whose threshold is drawn anew at every step", watch_with_fresh_thresholds, (((0, 0), (1, 1)),)),
    _mutant("monotone noise for values that move both ways", watch_as_if_monotone, (((0, 1), (1, 0)),)),
    _mutant("exponential noise downwards", watch_with_noise_downwards, (((-1, -1, 0), (0, 0, -1)),)),
)

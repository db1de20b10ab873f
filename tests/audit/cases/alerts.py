"""Alerts and single checks: every outcome of a few steps, samples of longer streams, who adapts; mistakes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from functools import cache

import numpy as np

from chronodp.alerts import (
    Alert,
    AlertDesign,
    AlertState,
    Comparator,
    Exponential,
    Laplace,
    Noise,
    Split,
    advance,
    start,
)
from chronodp.audit.adaptive import Game, Live
from chronodp.audit.case import AuditCase
from chronodp.audit.statistical import Sampled
from chronodp.audit.steps import StepEnumerator
from chronodp.audit.walked import Enumerated, Known
from chronodp.privacy import Claim, PureCost, User
from chronodp.randomness import Entropy, seeded
from tests.audit.cases.ledgers import WatchedLedger, temporary_ledger
from tests.audit.few_ahead import FewAhead
from tests.audit.registry import Entry, Mutant, on_trial

Values = tuple[float, ...]

_ARGUMENT = "docs/explanation/proofs/alerts.md"
_LONGEST, _LOWEST, _CLOSER, _BACK = 16, 0.0, 0.5, 1.0  # of the adaptive adversary


def tiny_alert(
    split: Split, max_alerts: int, *, step: float = 1.0, monotone: bool = False, noise: Noise | None = None
) -> AlertDesign:
    """Return an alert whose values one unit changes by 1 each, on a grid of whole numbers unless told otherwise."""
    return AlertDesign(
        above=0.0,
        change=1.0,
        unit=User(),
        max_alerts=max_alerts,
        epsilon=split.total(max_alerts),
        split=split,
        monotone=monotone,
        noise=noise or Exponential(),
        step=step,
    )


def watch_walk(design: AlertDesign) -> StepEnumerator[AlertState]:
    """Return the alert as the exact auditor walks it, step by step."""

    def step(state: AlertState, value: float, entropy: Entropy) -> tuple[AlertState, Hashable]:
        if state.alerts == design.max_alerts:
            return state, None
        after, alarms = advance(design, state, [float(value)], entropy)
        return after, len(alarms.periods)

    return StepEnumerator(
        start=lambda entropy: start(design, entropy),
        step=step,
        key=lambda state: (state.threshold, state.alerts, state.period),
    )


def _alerts() -> tuple[AuditCase, ...]:
    return (_walked(1), _walked(2), _every_strategy(), _sampled(), _adaptive())


def _walked(max_alerts: int) -> AuditCase:
    design = tiny_alert(Split(threshold=8.0, alert=8.0), max_alerts)
    loud = (-2.0,) * max_alerts
    return on_trial(
        f"sparse vector, {max_alerts} alert{'s' * (max_alerts > 1)}",
        watch_walk(design),
        (
            ((0.0, *(-1.0,) * max_alerts), (1.0, *loud)),
            ((0.0, 0.0, *(0.0,) * max_alerts), (1.0, 1.0, *(-1.0,) * max_alerts)),
            ((2.0, -1.0, 0.0), (1.0, 0.0, 1.0)),
        ),
        _claim(design),
        Known(),
    )


def _every_strategy() -> AuditCase:
    """Every pair of sequences from three values: along each path of answers any strategy is one of them."""
    design = tiny_alert(Split(threshold=8.0, alert=8.0), 2)
    sequences = tuple(itertools.product((-1.0, 0.0, 1.0), repeat=3))
    near = tuple(
        (one, two)
        for one, two in itertools.combinations(sequences, 2)
        if max(abs(first - second) for first, second in zip(one, two, strict=True)) <= 1
    )
    return on_trial("sparse vector against every adaptive strategy", watch_walk(design), near, _claim(design), Known())


def _sampled() -> AuditCase:
    """Ten quiet steps and one that fires, on a fine grid at epsilon 1.5."""
    design = tiny_alert(Split(threshold=1.0, alert=0.5), 1, step=2.0**-10)
    quiet = 10

    def run(values: Values, *, entropy: Entropy) -> tuple[int, ...]:
        state = start(design, entropy)
        _, alarms = advance(design, state, np.array(values), entropy)
        return tuple(alarms.periods.tolist())

    return on_trial(
        "sparse vector at ε = 1.5",
        run,
        (((0.0,) * quiet + (-4.0,), (1.0,) * quiet + (-5.0,)), ((0.0,) * 3, (1.0, 1.0, -1.0))),
        _claim(design),
        Sampled(),
    )


def _adaptive() -> AuditCase:
    """The adversary feels its way up to the noisy threshold, and turns the change round once it has fired."""
    design = tiny_alert(Split(threshold=1.0, alert=1.0), 2, step=2.0**-10)

    def opened(entropy: Entropy) -> Live:
        states = [start(design, entropy)]

        def step(value: float, /) -> int:
            after, alarms = advance(design, states[-1], [value], entropy)
            states.append(after)
            return len(alarms.periods)

        return step

    def closer(answers: tuple[int, ...]) -> tuple[float, float] | None:
        fired = sum(answers)
        if fired == 2 or len(answers) == _LONGEST:
            return None
        if fired:  # it fired where the threshold was felt: there the change goes the other way
            return _BACK, _BACK - 1.0
        level = _LOWEST + _CLOSER * len(answers)
        return level, level + 1.0

    return on_trial(
        "sparse vector whose values follow its answers", Game(opened, closer), ((0, 1),), _claim(design), Sampled()
    )


def _public() -> tuple[AuditCase, ...]:
    """The alert with its ledger, step by step and at once, opened by itself or with other queries."""
    design = tiny_alert(Split(threshold=24.0, alert=20.0), 1)

    def by_itself(ledger: WatchedLedger, entropy: Entropy) -> Alert:
        return Alert.open(design, ledger=ledger, dataset="audit", name="alarm", entropy=entropy)

    def with_others(ledger: WatchedLedger, entropy: Entropy) -> Alert:
        ledger.fulfil(
            "audit",
            request="audit",
            cost=design.cost,
            unit=design.unit,
            plan="",
            source="",
            produce=lambda: ("", by_nobody),
            openings=(Alert.opening(design, "alarm", entropy=entropy),),
        )
        return Alert.resume(ledger, "alarm", entropy=entropy)

    with temporary_ledger(design.unit) as ledger:
        by_nobody = by_itself(ledger, seeded(1)).certificate
    found = []
    for name, opened in (("opened by itself", by_itself), ("opened with other queries", with_others)):
        for how, ask in (("step by step", _one_by_one), ("all at once", _at_once)):
            found.append(_asked(f"an alert {name}, asked {how}", design, opened, ask))
    return tuple(found)


def _asked(
    name: str,
    design: AlertDesign,
    opened: Callable[[WatchedLedger, Entropy], Alert],
    ask: Callable[[Alert, Values], tuple[bool, ...]],
) -> AuditCase:
    def run(values: Values, *, entropy: Entropy) -> tuple[bool, ...]:
        with temporary_ledger(design.unit) as ledger:
            return ask(opened(ledger, FewAhead(entropy, len(values))), values)

    return on_trial(name, run, (((0.0, 0.0), (1.0, -1.0)),), _claim(design), Enumerated())


def _one_by_one(alert: Alert, values: Values) -> tuple[bool, ...]:
    return tuple(bool(alert.step(value)) for value in values if not alert.halted)


def _at_once(alert: Alert, values: Values) -> tuple[bool, ...]:
    return tuple(bool(fired) for fired in np.atleast_1d(alert.steps(values).fired))


def _claim(design: AlertDesign) -> Claim:
    return Claim(design.unit, design.cost, _ARGUMENT)


def _comparators() -> tuple[AuditCase, ...]:
    return (_comparator(Exponential()), _comparator(Laplace()))


def _comparator(noise: Noise) -> AuditCase:
    once = Comparator(above=0.0, change=1.0, unit=User(), epsilon=4.0, noise=noise, step=1.0)

    def check(value: float, *, entropy: Entropy) -> bool:
        return once.fires(value, entropy)

    return on_trial(
        f"one check, {noise}",
        check,
        tuple((value, value + 1) for value in range(-4, 4)),
        Claim(once.unit, once.cost, _ARGUMENT),
        Enumerated(),
    )


Whole = tuple[int, ...]

# Noise so narrow that every outcome can be walked through. One unit changes each value by one.
_SPLIT = Split(threshold=16.0, alert=12.0)
_THRESHOLD = 1 / 16
_QUERY = 2 / 12


def watch_once(values: Whole, *, entropy: Entropy) -> Whole:
    """Tell one alert."""
    return _watch(values, 1, entropy)


def watch_twice(values: Whole, *, entropy: Entropy) -> Whole:
    """Tell two alerts."""
    return _watch(values, 2, entropy)


def watch_without_noise_on_values(values: Whole, *, entropy: Entropy) -> Whole:
    """Compare values as they are with the noisy threshold."""
    threshold = _noise(_THRESHOLD, entropy)
    return _told(values, lambda value: value >= threshold)


def watch_without_end(values: Whole, *, entropy: Entropy) -> Whole:
    """Go on after the alert that was paid for."""
    threshold = _noise(_THRESHOLD, entropy)
    return tuple(int(value + _noise(_QUERY, entropy) >= threshold) for value in values)


def watch_and_tell_the_noisy_value(values: Whole, *, entropy: Entropy) -> Whole:
    """Tell with the alert the noisy value that was compared: it bounds the noisy threshold from above."""
    threshold = _noise(_THRESHOLD, entropy)
    told: list[int] = []
    for value in values:
        noisy = value + _noise(_QUERY, entropy)
        told.append(int(noisy >= threshold))
        if told[-1]:
            return (*told, noisy)
    return tuple(told)


def watch_twice_with_noise_for_one(values: Whole, *, entropy: Entropy) -> Whole:
    """Tell two alerts with the noise that the same money buys for one."""
    threshold = _noise(_THRESHOLD, entropy)
    return _told(values, lambda value: value + _noise(_QUERY / 2, entropy) >= threshold, alerts=2)


def watch_with_fresh_thresholds(values: Whole, *, entropy: Entropy) -> Whole:
    """Draw both noises anew at every step, at the price of one threshold."""
    return _told(values, lambda value: value + _noise(_QUERY, entropy) >= _noise(_THRESHOLD, entropy))


def watch_as_if_monotone(values: Whole, *, entropy: Entropy) -> Whole:
    """Halve the noise of values that one unit may move up and down."""
    threshold = _noise(_THRESHOLD, entropy)
    return _told(values, lambda value: value + _noise(_QUERY / 2, entropy) >= threshold)


def watch_with_noise_downwards(values: Whole, *, entropy: Entropy) -> Whole:
    """Subtract exponential noise from values and threshold: quiet steps then cost as much as alerts."""
    threshold = -_noise(_THRESHOLD, entropy)
    return _told(values, lambda value: value - _noise(_QUERY, entropy) >= threshold)


def _watch(values: Whole, alerts: int, entropy: Entropy) -> Whole:
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


def _told(values: Whole, fires: Callable[[int], bool], *, alerts: int = 1) -> Whole:
    told: list[int] = []
    for value in values:
        told.append(int(fires(value)))
        if sum(told) == alerts:
            break
    return tuple(told)


def _noise(scale: float, entropy: Entropy) -> int:
    return int(Exponential().draw(scale, 1, entropy)[0])


def _mutant(
    name: str, broken: Callable[..., object], neighbours: tuple[tuple[Whole, Whole], ...], *, alerts: int = 1
) -> Mutant:
    return Mutant(
        name,
        Claim(User(), PureCost(_SPLIT.total(alerts)), "docs/explanation/proofs/alerts.md"),
        watch_once if alerts == 1 else watch_twice,
        broken,
        neighbours,
    )


ENTRIES = (
    Entry("alert (sparse vector)", (advance, start, Exponential),
          "whole numbers on a grid; noise of exactly the stated law, its scale rounded up", _alerts),
    Entry("alert with its ledger", (Alert,),
          "whole numbers on a grid; noise of exactly the stated law, its scale rounded up", _public),
    Entry("comparator", (Comparator, Laplace),
          "whole numbers on a grid; noise of exactly the stated law, its scale rounded up", _comparators),
)  # fmt: skip


MUTANTS: tuple[Mutant, ...] = (
    _mutant("alerts without noise on values", watch_without_noise_on_values, (((0, 1), (1, 0)),)),
    _mutant("alerts without end", watch_without_end, (((0, 1, 1), (1, 0, 0)),)),
    _mutant("alerts that tell the noisy value they compared", watch_and_tell_the_noisy_value, (((0, 0), (1, 0)),)),
    _mutant("two alerts with the noise for one", watch_twice_with_noise_for_one, (((0, 1, 1), (1, 0, 0)),), alerts=2),
    _mutant("alerts whose threshold is drawn anew at every step", watch_with_fresh_thresholds, (((0, 0), (1, 1)),)),
    _mutant("monotone noise for values that move both ways", watch_as_if_monotone, (((0, 1), (1, 0)),)),
    _mutant("exponential noise downwards", watch_with_noise_downwards, (((-1, -1, 0), (0, 0, -1)),)),
)

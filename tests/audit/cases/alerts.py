"""Alerts and single checks: every outcome of a few steps, samples of longer streams, and an adversary who adapts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable

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
from chronodp.privacy import Claim, User
from chronodp.randomness import Entropy, seeded
from tests.audit.cases.ledgers import WatchedLedger, temporary_ledger
from tests.audit.few_ahead import FewAhead
from tests.audit.registry import Entry

__all__ = ["ENTRIES", "tiny_alert", "watch_walk"]

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
    return AuditCase(
        name=f"sparse vector, {max_alerts} alert{'s' * (max_alerts > 1)}",
        mechanism=watch_walk(design),
        neighbours=(
            ((0.0, *(-1.0,) * max_alerts), (1.0, *loud)),
            ((0.0, 0.0, *(0.0,) * max_alerts), (1.0, 1.0, *(-1.0,) * max_alerts)),
            ((2.0, -1.0, 0.0), (1.0, 0.0, 1.0)),
        ),
        claim=_claim(design),
        checks=(Known(),),
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
    return AuditCase(
        name="sparse vector against every adaptive strategy",
        mechanism=watch_walk(design),
        neighbours=near,
        claim=_claim(design),
        checks=(Known(),),
    )


def _sampled() -> AuditCase:
    """Ten quiet steps and one that fires, on a fine grid at epsilon 1.5."""
    design = tiny_alert(Split(threshold=1.0, alert=0.5), 1, step=2.0**-10)
    quiet = 10

    def run(values: Values, *, entropy: Entropy) -> tuple[int, ...]:
        state = start(design, entropy)
        _, alarms = advance(design, state, np.array(values), entropy)
        return tuple(alarms.periods.tolist())

    return AuditCase(
        name="sparse vector at ε = 1.5",
        mechanism=run,
        neighbours=(((0.0,) * quiet + (-4.0,), (1.0,) * quiet + (-5.0,)), ((0.0,) * 3, (1.0, 1.0, -1.0))),
        claim=_claim(design),
        checks=(Sampled(),),
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

    return AuditCase(
        name="sparse vector whose values follow its answers",
        mechanism=Game(opened, closer),
        neighbours=((0, 1),),
        claim=_claim(design),
        checks=(Sampled(),),
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

    return AuditCase(
        name=name, mechanism=run, neighbours=(((0.0, 0.0), (1.0, -1.0)),), claim=_claim(design), checks=(Enumerated(),)
    )


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

    return AuditCase(
        name=f"one check, {noise}",
        mechanism=check,
        neighbours=tuple((value, value + 1) for value in range(-4, 4)),
        claim=Claim(once.unit, once.cost, _ARGUMENT),
        checks=(Enumerated(),),
    )


ENTRIES = (
    Entry(
        name="alert (sparse vector)",
        covers=(advance, start, Exponential),
        precision="whole numbers on a grid; noise of exactly the stated law, its scale rounded up",
        cases=_alerts,
    ),
    Entry(
        name="alert with its ledger",
        covers=(Alert,),
        precision="whole numbers on a grid; noise of exactly the stated law, its scale rounded up",
        cases=_public,
    ),
    Entry(
        name="comparator",
        covers=(Comparator, Laplace),
        precision="whole numbers on a grid; noise of exactly the stated law, its scale rounded up",
        cases=_comparators,
    ),
)

"""Alerts and single checks: every outcome of a few steps, samples of longer streams, and an adversary who adapts."""

from __future__ import annotations

from collections.abc import Hashable

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
from chronodp.audit.registry import Entry
from chronodp.audit.statistical import Sampled
from chronodp.audit.steps import Walk
from chronodp.audit.subject import Subject
from chronodp.audit.walked import Enumerated, Known
from chronodp.privacy import Claim, User
from chronodp.randomness import Entropy

__all__ = ["ENTRIES", "tiny_alert", "watch_walk"]

Values = tuple[float, ...]

_ARGUMENT = "docs/explanation/proofs/alerts.md"


def tiny_alert(split: Split, max_alerts: int, *, step: float = 1.0, monotone: bool = False) -> AlertDesign:
    """Return an alert whose values one unit changes by 1 each, on a grid of whole numbers unless told otherwise."""
    return AlertDesign(
        above=0.0,
        change=1.0,
        unit=User(),
        max_alerts=max_alerts,
        epsilon=split.total(max_alerts),
        split=split,
        monotone=monotone,
        step=step,
    )


def watch_walk(design: AlertDesign) -> Walk[AlertState]:
    """Return the alert as the exact auditor walks it, step by step."""

    def step(state: AlertState, value: float, entropy: Entropy) -> tuple[AlertState, Hashable]:
        if state.alerts == design.max_alerts:
            return state, None
        after, alarms = advance(design, state, [float(value)], entropy)
        return after, len(alarms.periods)

    return Walk(
        start=lambda entropy: start(design, entropy),
        step=step,
        key=lambda state: (state.threshold, state.alerts, state.period),
    )


def _alerts() -> tuple[Subject, ...]:
    return (_walked(1), _walked(2), _sampled(), _adaptive())


def _walked(max_alerts: int) -> Subject:
    design = tiny_alert(Split(threshold=8.0, alert=8.0), max_alerts)
    loud = (-2.0,) * max_alerts
    return Subject(
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


def _sampled() -> Subject:
    """Ten quiet steps and one that fires, on a fine grid at epsilon 1.5."""
    design = tiny_alert(Split(threshold=1.0, alert=0.5), 1, step=2.0**-10)
    quiet = 10

    def run(values: Values, *, entropy: Entropy) -> tuple[int, ...]:
        state = start(design, entropy)
        _, alarms = advance(design, state, np.array(values), entropy)
        return tuple(alarms.periods.tolist())

    return Subject(
        name="sparse vector at ε = 1.5",
        mechanism=run,
        neighbours=(((0.0,) * quiet + (-4.0,), (1.0,) * quiet + (-5.0,)), ((0.0,) * 3, (1.0, 1.0, -1.0))),
        claim=_claim(design),
        checks=(Sampled(),),
    )


def _adaptive() -> Subject:
    """The adversary comes closer while the alert is quiet, and turns the change round after it has fired once."""
    design = tiny_alert(Split(threshold=1.0, alert=0.5), 2, step=2.0**-10)

    def opened(entropy: Entropy) -> Live:
        states = [start(design, entropy)]

        def step(value: float, /) -> int:
            after, alarms = advance(design, states[-1], [value], entropy)
            states.append(after)
            return len(alarms.periods)

        return step

    def closer(answers: tuple[int, ...]) -> tuple[float, float] | None:
        if sum(answers) == 2 or len(answers) == 8:
            return None
        return (-2.0, -3.0) if sum(answers) else (-4.0 + len(answers), -3.0 + len(answers))

    return Subject(
        name="sparse vector whose values follow its answers",
        mechanism=Game(opened, closer),
        neighbours=((0, 1),),
        claim=_claim(design),
        checks=(Sampled(),),
    )


def _claim(design: AlertDesign) -> Claim:
    return Claim(design.unit, design.cost, _ARGUMENT)


def _comparators() -> tuple[Subject, ...]:
    return (_comparator(Exponential()), _comparator(Laplace()))


def _comparator(noise: Noise) -> Subject:
    once = Comparator(above=0.0, change=1.0, unit=User(), epsilon=4.0, noise=noise, step=1.0)

    def check(value: float, *, entropy: Entropy) -> bool:
        return once.fires(value, entropy)

    return Subject(
        name=f"one check, {noise}",
        mechanism=check,
        neighbours=tuple((value, value + 1) for value in range(-4, 4)),
        claim=Claim(once.unit, once.cost, _ARGUMENT),
        checks=(Enumerated(),),
    )


ENTRIES = (
    Entry(
        name="alert (sparse vector)",
        covers=(Alert, advance, start, Exponential, Laplace),
        precision="whole numbers on a grid; noise of exactly the stated law, its scale rounded up",
        subjects=_alerts,
    ),
    Entry(
        name="comparator",
        covers=(Comparator,),
        precision="whole numbers on a grid; noise of exactly the stated law, its scale rounded up",
        subjects=_comparators,
    ),
)

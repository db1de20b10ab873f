"""Streams that protect any window: every outcome of three steps, states that meet walked once; mistakes in sharing."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.audit.case import AuditCase
from chronodp.audit.statistical import Sampled
from chronodp.audit.steps import StepEnumerator
from chronodp.audit.walked import Enumerated, Known
from chronodp.privacy import Claim, Window
from chronodp.randomness import Entropy
from chronodp.series.windowed import (
    BudgetAbsorption,
    BudgetDistribution,
    Sample,
    Uniform,
    WindowedDesign,
    WindowedMechanism,
    WindowedState,
    WindowedStream,
    advance,
    start,
)
from tests.audit.cases.ledgers import WatchedLedger, temporary_ledger
from tests.audit.registry import Entry, Mutant, on_trial
from tests.audit.short_entropy import ShortEntropy

ARGUMENT = "docs/explanation/proofs/w-event.md"

Values: TypeAlias = tuple[float, ...]
Twist: TypeAlias = Callable[[WindowedState], WindowedState]
"""What a mutant does to the state after each step."""

PAIRS: tuple[tuple[Values, Values], ...] = (((1.0, 2.0, 2.0), (0.0, 1.0, 2.0)), ((0.0, 1.0, 2.0), (0.0, 0.0, 1.0)))
"""Neighbours within a window of 2: values follow the release of the path that tells most."""
CLIMB: tuple[Values, Values] = ((1.0, 2.0, 3.0), (0.0, 1.0, 2.0))
"""Neighbours within a window of 3."""

_NEAR = range(-2, 6)
_EPSILON, _LOUD = 4.0, 96.0


def tiny_windowed(mechanism: WindowedMechanism, window: int = 2, epsilon: float = _EPSILON) -> WindowedDesign:
    """Return one column of whole numbers, of which one person changes 1: the coarsest grid."""
    return WindowedDesign(mechanism, Window(window), 1.0, 1, 1, epsilon, 0.0, 1.0)


def _keep(state: WindowedState) -> WindowedState:
    return state


def windowed_walk(design: WindowedDesign, *, twist: Twist = _keep) -> StepEnumerator[WindowedState]:
    """Return the stream as the exact auditor walks it; a path ends once its release lies far out."""

    def step(state: WindowedState, value: float, entropy: Entropy) -> tuple[WindowedState, Hashable]:
        after, _ = advance(design, state, [value], entropy)
        released = int(after.released[0])
        answer: Hashable = (int(after.spent[-1]), released) if released in _NEAR else ("far", released > 0)
        return twist(after), answer

    return StepEnumerator(
        start=lambda _: start(design),
        step=step,
        key=lambda state: state.to_bytes(),
        ends=lambda answer: isinstance(answer, tuple) and answer[0] == "far",
        entropy=ShortEntropy,
    )


def _streams() -> tuple[AuditCase, ...]:
    found = [_walked(mechanism) for mechanism in (Uniform(), Sample(), BudgetDistribution(), BudgetAbsorption())]
    return (
        *found,
        *(_public(mechanism) for mechanism in (Sample(), BudgetDistribution(), BudgetAbsorption())),
        _sampled(),
    )


def _walked(mechanism: WindowedMechanism) -> AuditCase:
    design = tiny_windowed(mechanism)

    return on_trial(f"{mechanism}", windowed_walk(design), PAIRS, Claim(design.unit, design.cost, ARGUMENT), Known())


def _public(mechanism: WindowedMechanism) -> AuditCase:
    """The public call, ledger and all, for one step on a grid so coarse that it can be walked."""

    def open_on(ledger: WatchedLedger) -> WindowedStream:
        return WindowedStream(
            mechanism, window=2, change=1.0, epsilon=_LOUD, ledger=ledger, dataset="audit", name="audit"
        )

    def run(values: Values, *, entropy: Entropy) -> tuple[float, ...]:
        with temporary_ledger(Window(2)) as ledger:
            live = WindowedStream.open(coarse, ledger=ledger, dataset="audit", name="audit", entropy=entropy)
            return tuple(float(np.ravel(live.step(value).value)[0]) for value in values)

    with temporary_ledger(Window(2)) as ledger:
        opened = open_on(ledger)
        coarse, claim = replace(opened.design, step=1.0), opened.certificate.claim
    return on_trial(
        f"the stream with its ledger, {mechanism}", run, (((1.0,), (0.0,)), ((0.0,), (1.0,))), claim, Enumerated()
    )


def _sampled() -> AuditCase:
    """The public call: as many columns as there are samples, each with noise of its own."""

    def run(values: Values, *, entropy: Entropy) -> tuple[float, ...]:
        return tuple(runs(values, 1, entropy=entropy)[0].tolist())

    def runs(values: Values, count: int, *, entropy: Entropy) -> NDArray[np.float64]:
        with temporary_ledger(Window(2)) as ledger:
            live = WindowedStream(
                Uniform(),
                window=2,
                change=1.0,
                epsilon=1.0,
                columns=count,
                ledger=ledger,
                dataset="audit",
                name="audit",
                entropy=entropy,
            )
            rows = [live.step(np.full(count, value) if count > 1 else value).value for value in values]
        return np.column_stack(rows)

    with temporary_ledger(Window(2)) as ledger:
        claim = WindowedStream(
            Uniform(), window=2, change=1.0, epsilon=1.0, ledger=ledger, dataset="audit", name="audit"
        ).certificate.claim
    return on_trial(
        "any window with uniform shares",
        run,
        (((0.0, 0.0, 0.0), (1.0, 1.0, 0.0)), ((5.0, 5.0, 5.0), (5.0, 6.0, 4.0))),
        claim,
        Sampled(),
        many=runs,
    )


_ABSORPTION = tiny_windowed(BudgetAbsorption(), 2, epsilon=4.0)  # where the difference shows most, for what is walked
_DISTRIBUTION = tiny_windowed(BudgetDistribution(), 3, epsilon=5.0)
_SAMPLE = tiny_windowed(Sample())


def absorb_without_giving_up(state: WindowedState) -> WindowedState:
    """Take up the shares of quiet steps and forget that later steps must then be quiet."""
    published = state.spent[-1] > _ABSORPTION.watch
    return replace(state, anchor=state.step - 1 if published else state.anchor, spent=np.zeros(2, np.int64))


def forget_what_was_spent(state: WindowedState) -> WindowedState:
    """Let the budget of a step come back as soon as the step is over."""
    spent = np.zeros(3, np.int64)
    spent[-min(state.step, 3) :] = _DISTRIBUTION.watch
    return replace(state, spent=spent)


def _mutant(
    name: str,
    design: WindowedDesign,
    broken: StepEnumerator[WindowedState],
    pair: tuple[tuple[float, ...], tuple[float, ...]],
) -> Mutant:
    return Mutant(
        name, Claim(design.unit, design.cost, ARGUMENT), windowed_walk(design), broken, (pair,), checks=(Known(),)
    )


ENTRIES = (
    Entry("any window", (WindowedStream, advance, start),
          "whole numbers on a grid; shares of the budget are whole numbers", _streams),
)  # fmt: skip


MUTANTS: tuple[Mutant, ...] = (
    _mutant("absorption without nullification", _ABSORPTION, windowed_walk(_ABSORPTION, twist=absorb_without_giving_up),
            PAIRS[1]),
    _mutant("shares of a window that come back at once", _DISTRIBUTION,
            windowed_walk(_DISTRIBUTION, twist=forget_what_was_spent), CLIMB),
    _mutant("one release a window with nine tenths of its noise", _SAMPLE,
            windowed_walk(tiny_windowed(Sample(), epsilon=_SAMPLE.epsilon / 0.9)), PAIRS[0]),
)  # fmt: skip

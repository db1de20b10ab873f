"""Every outcome of tiny windowed streams, compared between neighbours; broken twins must be caught."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.series.windowed.paths import Twist, law

from chronodp.audit.exact import Finding, examine
from chronodp.privacy import Window
from chronodp.randomness import Entropy
from chronodp.series.windowed import (
    BudgetAbsorption,
    BudgetDistribution,
    Sample,
    Uniform,
    WindowedDesign,
    WindowedMechanism,
    WindowedState,
    advance,
    start,
)

EPSILON = 4.0
# Neighbours within a window of 2: values follow the release of the path that tells most.
PAIRS = [((1.0, 2.0, 2.0), (0.0, 1.0, 2.0)), ((0.0, 1.0, 2.0), (0.0, 0.0, 1.0))]
CLIMB = ((1.0, 2.0, 3.0), (0.0, 1.0, 2.0))


def tiny(mechanism: WindowedMechanism, window: int = 2, epsilon: float = EPSILON) -> WindowedDesign:
    """One column of whole numbers, of which one person changes 1: the coarsest grid."""
    return WindowedDesign(mechanism, Window(window), 1.0, 1, 1, epsilon, 0.0, 1.0)


def refuted(
    design: WindowedDesign,
    pair: tuple[Sequence[float], Sequence[float]],
    *,
    twist: Twist = lambda state: state,
    shrink: float = 1.0,
) -> bool:
    first, second = (law(design, rows, twist=twist, shrink=shrink) for rows in pair)
    return Finding(Fraction(1), None, ((first, second),)).refutes(EPSILON)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("mechanism", [Uniform(), Sample(), BudgetDistribution(), BudgetAbsorption()], ids=str)
def test_no_outcome_of_three_steps_refutes_epsilon(
    mechanism: WindowedMechanism, pair: tuple[Sequence[float], Sequence[float]]
) -> None:
    assert not refuted(tiny(mechanism), pair)


def test_budget_distribution_over_a_window_of_three() -> None:
    assert not refuted(tiny(BudgetDistribution(), 3), CLIMB)


def test_absorbing_without_giving_up_is_caught() -> None:
    def greedy(state: WindowedState) -> WindowedState:
        published = state.spent[-1] > tiny(BudgetAbsorption()).watch
        return replace(state, anchor=state.step - 1 if published else state.anchor, spent=np.zeros(2, np.int64))

    assert refuted(tiny(BudgetAbsorption()), PAIRS[1], twist=greedy)


def test_budget_that_comes_back_at_once_is_caught() -> None:
    design = tiny(BudgetDistribution(), 3)

    def forgetful(state: WindowedState) -> WindowedState:
        spent = np.zeros(3, np.int64)
        spent[-min(state.step, 3) :] = design.watch
        return replace(state, spent=spent)

    assert refuted(design, CLIMB, twist=forgetful)


@pytest.mark.parametrize("mechanism", [Uniform(), Sample(), BudgetAbsorption()], ids=str)
def test_narrower_noise_is_caught(mechanism: WindowedMechanism) -> None:
    assert refuted(tiny(mechanism), PAIRS[0], shrink=0.9)


def test_budget_distribution_with_narrower_noise_is_caught_over_a_window_of_one() -> None:
    # With a window of 1 a quarter of epsilon pays for the release and half for looking: noise must shrink by more.
    pair = ((1.0,), (0.0,))
    assert not refuted(tiny(BudgetDistribution(), 1), pair)
    assert refuted(tiny(BudgetDistribution(), 1), pair, shrink=0.7)


@pytest.mark.parametrize("mechanism", [BudgetDistribution(), BudgetAbsorption()], ids=str)
def test_a_step_holds_what_it_says(mechanism: WindowedMechanism) -> None:
    design = tiny(mechanism, 1, 30.0)

    def run(value: float, *, entropy: Entropy) -> object:
        state, released = advance(design, start(design), [value], entropy)
        return int(state.spent[-1]), float(released[0])

    finding = examine(run, [(0.0, 1.0), (1.0, 2.0)])
    assert not finding.refutes(30.0)
    assert finding.epsilon > 7.0  # it does tell something: the comparison is not empty

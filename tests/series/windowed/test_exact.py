"""Every outcome of tiny windowed streams, compared between neighbours; mutants must be caught."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.audit.cases.windowed import PAIRS, tiny_windowed, windowed_walk
from tests.audit.short_entropy import ShortEntropy

from chronodp.audit.exact import compare_outcomes, examine
from chronodp.randomness import Entropy, Shape
from chronodp.series.windowed import WindowedDesign, WindowedMechanism, advance, start
from chronodp.series.windowed.mechanisms import BudgetAbsorption, BudgetDistribution, Sample, Uniform

EPSILON = 4.0


class Narrow(ShortEntropy):
    """Makes noise narrower than was asked for."""

    def __init__(self, script: Sequence[int], shrink: float) -> None:
        super().__init__(script)
        self._shrink = shrink

    def laplace(self, scale: float, size: Shape) -> NDArray[np.int64]:
        return super().laplace(scale * self._shrink, size)


def refuted(design: WindowedDesign, *pairs: tuple[tuple[float, ...], tuple[float, ...]], shrink: float = 1.0) -> bool:
    walk = replace(windowed_walk(design), entropy=partial(Narrow, shrink=shrink))
    inputs = list({values for pair in pairs for values in pair})
    laws = dict(zip(inputs, walk.laws(inputs), strict=True))
    return compare_outcomes([(laws[one], laws[two]) for one, two in pairs]).refutes(EPSILON)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [Uniform(), Sample(), BudgetDistribution(), BudgetAbsorption()], ids=str)
def test_no_outcome_of_three_steps_refutes_epsilon(mechanism: WindowedMechanism) -> None:
    assert not refuted(tiny_windowed(mechanism), *PAIRS)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [Uniform(), Sample(), BudgetAbsorption()], ids=str)
def test_narrower_noise_is_caught(mechanism: WindowedMechanism) -> None:
    assert refuted(tiny_windowed(mechanism), PAIRS[0], shrink=0.9)


def test_budget_distribution_with_narrower_noise_is_caught_over_a_window_of_one() -> None:
    # With a window of 1 a quarter of epsilon pays for the release and half for looking: noise must shrink by more.
    pair = ((1.0,), (0.0,))
    assert not refuted(tiny_windowed(BudgetDistribution(), 1), pair)
    assert refuted(tiny_windowed(BudgetDistribution(), 1), pair, shrink=0.7)


@pytest.mark.parametrize("mechanism", [BudgetDistribution(), BudgetAbsorption()], ids=str)
def test_a_step_holds_what_it_says(mechanism: WindowedMechanism) -> None:
    design = tiny_windowed(mechanism, 1, 30.0)

    def run(value: float, *, entropy: Entropy) -> object:
        state, released = advance(design, start(design), [value], entropy)
        return int(state.spent[-1]), float(released[0])

    finding = examine(run, [(0.0, 1.0), (1.0, 2.0)])
    assert not finding.refutes(30.0)
    assert finding.epsilon > 7.0  # it does tell something: the comparison is not empty

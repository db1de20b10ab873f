"""Mistakes in sharing a budget over any window."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from chronodp.audit.steps import StepEnumerator
from chronodp.audit.walked import Known
from chronodp.privacy import Claim
from chronodp.series.windowed import BudgetAbsorption, BudgetDistribution, Sample, WindowedDesign, WindowedState
from tests.audit.cases.windowed import ARGUMENT, CLIMB, PAIRS, tiny_windowed, windowed_walk
from tests.audit.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

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
        name=name,
        claim=Claim(design.unit, design.cost, ARGUMENT),
        sound=windowed_walk(design),
        broken=broken,
        neighbours=(pair,),
        checks=(Known(),),
    )


MUTANTS: tuple[Mutant, ...] = (
    _mutant(
        "absorption without nullification",
        _ABSORPTION,
        windowed_walk(_ABSORPTION, twist=absorb_without_giving_up),
        PAIRS[1],
    ),
    _mutant(
        "shares of a window that come back at once",
        _DISTRIBUTION,
        windowed_walk(_DISTRIBUTION, twist=forget_what_was_spent),
        CLIMB,
    ),
    _mutant(
        "one release a window with nine tenths of its noise",
        _SAMPLE,
        windowed_walk(tiny_windowed(Sample(), epsilon=_SAMPLE.epsilon / 0.9)),
        PAIRS[0],
    ),
)

"""Mistakes in sharing a budget over any window."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from chronodp.audit.subjects.windowed import ARGUMENT, CLIMB, PAIRS, Twist, tiny_windowed, windowed_walk
from chronodp.audit.twins.twin import Twin
from chronodp.audit.walked import Known
from chronodp.privacy import Claim
from chronodp.series.windowed import BudgetAbsorption, BudgetDistribution, Sample, WindowedDesign, WindowedState

__all__ = ["TWINS"]

_ABSORBED, _RETURNED = 4.0, 5.0  # where the difference shows most, for what is walked


def absorb_without_giving_up(state: WindowedState) -> WindowedState:
    """Take up the shares of quiet steps and forget that later steps must then be quiet."""
    published = state.spent[-1] > tiny_windowed(BudgetAbsorption(), 2, _ABSORBED).watch
    return replace(state, anchor=state.step - 1 if published else state.anchor, spent=np.zeros(2, np.int64))


def forget_what_was_spent(state: WindowedState) -> WindowedState:
    """Let the budget of a step come back as soon as the step is over."""
    spent = np.zeros(3, np.int64)
    spent[-min(state.step, 3) :] = tiny_windowed(BudgetDistribution(), 3, _RETURNED).watch
    return replace(state, spent=spent)


def _twin(name: str, design: WindowedDesign, twist: Twist, pair: tuple[tuple[float, ...], tuple[float, ...]]) -> Twin:
    return Twin(
        name=name,
        claim=Claim(design.unit, design.cost, ARGUMENT),
        epsilon=design.epsilon,
        delta=0.0,
        sound=windowed_walk(design),
        broken=windowed_walk(design, twist=twist),
        neighbours=(pair,),
        checks=(Known(),),
    )


def _thin() -> Twin:
    design = tiny_windowed(Sample())
    return Twin(
        name="one release a window with nine tenths of its noise",
        claim=Claim(design.unit, design.cost, ARGUMENT),
        epsilon=design.epsilon,
        delta=0.0,
        sound=windowed_walk(design),
        broken=windowed_walk(tiny_windowed(Sample(), epsilon=design.epsilon / 0.9)),
        neighbours=(PAIRS[0],),
        checks=(Known(),),
    )


TWINS: tuple[Twin, ...] = (
    _twin(
        "absorption without nullification",
        tiny_windowed(BudgetAbsorption(), 2, _ABSORBED),
        absorb_without_giving_up,
        PAIRS[1],
    ),
    _twin(
        "shares of a window that come back at once",
        tiny_windowed(BudgetDistribution(), 3, _RETURNED),
        forget_what_was_spent,
        CLIMB,
    ),
    _thin(),
)

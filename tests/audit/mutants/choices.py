"""Mutants of private choices: the missing 2, ties by merit, one fit for all, a range that is not bounded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chronodp.audit.exact import Outcomes, outcomes
from chronodp.audit.walked import Known
from chronodp.privacy import BoundedRangeCost, Claim, Event, PureCost, Unit, User
from chronodp.randomness import Entropy
from chronodp.selection import (
    Blocks,
    ChoiceDesign,
    ChoiceMechanism,
    ExponentialMechanism,
    LeastSquares,
    MonotoneUtilities,
    NoisyMax,
    Order,
    PermuteAndFlip,
    Utilities,
    Validation,
    design_choice,
    losses_of,
    pick,
    tally,
)
from tests.audit.cases.selection import law_of_exponential
from tests.audit.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_ARGUMENT = "docs/explanation/proofs/selection.md"
_FLIP = PermuteAndFlip()
_REPLACED = User(relation="replace")
_ORDERS = (Order(0, 0, 0), Order(1, 0, 0))


def choose_among_replaced(values: tuple[int, ...], *, entropy: Entropy) -> int:
    """Choose by general utilities, with the 2."""
    design = _design(len(values), unit=_REPLACED, monotone=False)
    return pick(design, Utilities(values, change=1.0), entropy)


def choose_as_if_monotone(values: tuple[int, ...], *, entropy: Entropy) -> int:
    """Choose by general utilities as if they all moved in one direction: without the 2."""
    design = _design(len(values), unit=User(), monotone=True)
    return pick(design, MonotoneUtilities(values, change=1.0), entropy)


def settle_ties_by_chance(values: tuple[int, ...], *, entropy: Entropy) -> int:
    """Take the largest after noise on a coarse grid; among equals any."""
    design = ChoiceDesign(NoisyMax(), _REPLACED, ("first", "second"), 1.0, False, 8.0, 1.0)
    return pick(design, Utilities(values, change=1.0), entropy)


def settle_ties_by_merit(values: tuple[int, ...], *, entropy: Entropy) -> int:
    """Take the largest after exponential noise on a coarse grid; among equals the one that was the better before."""
    noisy = np.array(values) + entropy.exponential(2 / 8.0, len(values))
    tied = np.flatnonzero(noisy == noisy.max()).tolist()
    return max(tied, key=lambda place: (values[place], place))


def fit_in_blocks(series: tuple[float, ...], *, entropy: Entropy) -> int:
    """Let blocks of the series vote on whether it remembers."""
    blocks = Blocks(series, length=12)
    votes = tally(losses_of(blocks.series, _ORDERS, Validation(LeastSquares(), 4, 12)))
    design = _design(2, unit=Event(), monotone=False)
    return pick(design, Utilities(votes, change=1.0), entropy)


def fit_once(series: tuple[float, ...], *, entropy: Entropy) -> int:
    """Fit the whole series once and add up clipped errors, as if one value changed one of them."""
    clipped = Validation(LeastSquares(), 24, 48, largest_error=1.0)
    errors = 24 * losses_of([np.array(series)], _ORDERS, clipped)[0]
    return pick(_design(2, unit=Event(), monotone=False), Utilities(-errors, change=1.0), entropy)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A choice whose law is known: from one try of the exponential mechanism, else from every outcome."""

    design: ChoiceDesign

    def __call__(self, values: tuple[int, ...], *, entropy: Entropy) -> int:
        kind = MonotoneUtilities if self.design.monotone else Utilities
        return pick(self.design, kind(values, change=1.0), entropy)

    def law(self, values: tuple[int, ...]) -> Outcomes:
        if isinstance(self.design.mechanism, ExponentialMechanism):
            return law_of_exponential(self.design, values)
        return outcomes(lambda entropy: self(values, entropy=entropy))


def _design(count: int, *, unit: Unit, monotone: bool, mechanism: ChoiceMechanism = _FLIP) -> ChoiceDesign:
    names = tuple(f"candidate {place}" for place in range(count))
    return design_choice(mechanism, names, unit=unit, change=1.0, monotone=monotone, epsilon=1.0)


def _remembering() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """A series that remembers, and the same with one early value far off, which makes the fit forget."""
    series = [0.0]
    for place in range(47):
        series.append(0.95 * series[-1] + (0.6 if place % 7 < 3 else -0.4))
    moved = list(series)
    moved[5] = 40.0
    return tuple(series), tuple(moved)


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        name="choice without the 2 where a person is replaced",
        claim=Claim(_REPLACED, PureCost(1.0), _ARGUMENT),
        sound=choose_among_replaced,
        broken=choose_as_if_monotone,
        neighbours=(((0, 3, 3), (1, 2, 2)),),
    ),
    Mutant(
        name="permute-and-flip charged at the bounded-range price",
        claim=Claim(_REPLACED, BoundedRangeCost(1.0), _ARGUMENT),
        sound=_Chosen(_design(2, unit=_REPLACED, monotone=False, mechanism=ExponentialMechanism())),
        broken=_Chosen(_design(2, unit=_REPLACED, monotone=False)),
        neighbours=(((0, 1), (1, 0)),),
        checks=(Known(),),
    ),
    Mutant(
        name="bounded range without the 2 where a person is replaced",
        claim=Claim(_REPLACED, BoundedRangeCost(1.0), _ARGUMENT),
        sound=_Chosen(_design(3, unit=_REPLACED, monotone=False, mechanism=ExponentialMechanism())),
        broken=_Chosen(_design(3, unit=User(), monotone=True, mechanism=ExponentialMechanism())),
        neighbours=(((0, 0, 0), (1, 0, -1)),),
        checks=(Known(),),
    ),
    Mutant(
        name="noisy maximum whose ties go to the better candidate",
        claim=Claim(_REPLACED, PureCost(8.0), _ARGUMENT),
        sound=settle_ties_by_chance,
        broken=settle_ties_by_merit,
        neighbours=(((2, 0), (1, 1)),),
    ),
    Mutant(
        name="model order scored by one fit of the whole series",
        claim=Claim(Event(), PureCost(1.0), _ARGUMENT),
        sound=fit_in_blocks,
        broken=fit_once,
        neighbours=(_remembering(),),
    ),
)

"""Private choices, every outcome walked; the missing 2, ties by merit, one fit for all, a range that is not bounded."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from chronodp.audit.case import AuditCase
from chronodp.audit.exact import Outcomes, outcomes
from chronodp.audit.walked import Enumerated, Known
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
    Panel,
    PermuteAndFlip,
    Utilities,
    Validation,
    attempt_exponential,
    choose,
    choose_order,
    design_choice,
    exponents_of,
    losses_of,
    pick,
    score_gaps,
    tally,
)
from tests.audit.cases.ledgers import temporary_ledger
from tests.audit.registry import Entry, Mutant, on_trial

Values = tuple[int, ...]

_ARGUMENT = "docs/explanation/proofs/selection.md"
_REPLACED = User(relation="replace")
_FAR = ((0, 40, 40), (1, 39, 39))


def moves(count: int, *, monotone: bool) -> tuple[tuple[Values, Values], ...]:
    """Return pairs in which each utility moves by at most 1: from ties, leaders, laggards and random starts."""
    steps = (0, 1) if monotone else (-1, 0, 1)
    starts = [start for start in itertools.product((0, 2, 5), repeat=count) if min(start) == 0]
    starts += [tuple(row) for row in np.random.default_rng(1).integers(0, 9, (3, count)).tolist()]
    return tuple(
        (start, tuple(part + move for part, move in zip(start, moved, strict=True)))
        for start in starts
        for moved in itertools.product(steps, repeat=count)
    )


def law_of_exponential(design: ChoiceDesign, values: Values) -> Outcomes:
    """Return the law of one try, given that it accepts: tries are alike and independent, so it is that of the draw."""
    utilities = (MonotoneUtilities if design.monotone else Utilities)(values, change=1.0)
    exponents = exponents_of(design, score_gaps(design, utilities))
    tried = outcomes(lambda entropy: attempt_exponential(exponents, entropy, 1)).probabilities
    accepted = 1 - tried.get(None, Fraction(0))
    return Outcomes.of({place: part / accepted for place, part in tried.items() if place is not None}, Fraction(0))


def _choices() -> tuple[AuditCase, ...]:
    return (
        _walked("permute-and-flip, general", PermuteAndFlip(), monotone=False),
        _walked("permute-and-flip, monotone", PermuteAndFlip(), monotone=True),
        _exponential(),
        _noisy_maximum(),
        _paid(),
    )


def _walked(name: str, mechanism: ChoiceMechanism, *, monotone: bool) -> AuditCase:
    design = _design(mechanism, 3, monotone=monotone)

    def run(values: Values, *, entropy: Entropy) -> int:
        utilities = (MonotoneUtilities if monotone else Utilities)(values, change=1.0)
        return pick(design, utilities, entropy)

    return on_trial(name, run, moves(3, monotone=monotone), _claim(design), Enumerated())


@dataclass(frozen=True, slots=True)
class _Tries:
    """The exponential mechanism, which tries until it accepts: its law follows from that of one try."""

    design: ChoiceDesign

    def __call__(self, values: Values, *, entropy: Entropy) -> int:
        return pick(self.design, Utilities(values, change=1.0), entropy)

    def law(self, values: Values) -> Outcomes:
        return law_of_exponential(self.design, values)


def _exponential() -> AuditCase:
    design = _design(ExponentialMechanism(), 3, monotone=False)
    return on_trial(
        "exponential mechanism", _Tries(design), (_FAR, *moves(3, monotone=False)[::7]), _claim(design), Known()
    )


def _noisy_maximum() -> AuditCase:
    """On a grid so coarse that noise ties often and every outcome can be walked."""
    design = ChoiceDesign(NoisyMax(), _REPLACED, ("a", "b"), 1.0, False, 8.0, 1.0)

    def run(values: Values, *, entropy: Entropy) -> int:
        return pick(design, Utilities(values, change=1.0), entropy)

    return on_trial(
        "noisy maximum",
        run,
        (((0, 0), (1, 0)), ((0, 0), (-1, 1)), ((0, 3), (1, 2)), ((2, 0), (1, 1))),
        _claim(design),
        Enumerated(),
    )


def _paid() -> AuditCase:
    """The public call, ledger and all."""

    def run(values: Values, *, entropy: Entropy) -> int:
        with temporary_ledger(_REPLACED) as ledger:
            made = choose(
                ("a", "b", "c"),
                Utilities(values, change=1.0),
                epsilon=1.0,
                unit=_REPLACED,
                ledger=ledger,
                dataset="audit",
                request="audit",
                entropy=entropy,
            )
            return made.place

    with temporary_ledger(_REPLACED) as ledger:
        claim = choose(
            ("a",),
            Utilities((0,), change=1.0),
            epsilon=1.0,
            unit=_REPLACED,
            ledger=ledger,
            dataset="audit",
            request="a",
        ).certificate.claim
    return on_trial("a choice that is paid for", run, (((0, 2, 2), (1, 1, 1)),), claim, Enumerated())


def _orders() -> tuple[AuditCase, ...]:
    """The order of a model, chosen by votes of people's own series or of blocks of one: the public call."""
    people = np.random.default_rng(8).normal(size=(3, 40)).cumsum(axis=1)
    whole = people.ravel()
    moved = np.array(whole)
    moved[70] += 40.0

    def choose_for_people(count: int, *, entropy: Entropy) -> int:
        return _order(Panel(people[:count]), User(), entropy)

    def choose_for_blocks(moves: int, *, entropy: Entropy) -> int:
        return _order(Blocks(moved if moves else whole, length=40), Event(), entropy)

    return (
        on_trial(
            "the order of a model, by people",
            choose_for_people,
            ((0, 1), (1, 2), (2, 3)),
            Claim(User(), PureCost(1.0), _ARGUMENT),
            Enumerated(),
        ),
        on_trial(
            "the order of a model, by blocks of one series",
            choose_for_blocks,
            ((0, 1),),
            Claim(Event(), PureCost(1.0), _ARGUMENT),
            Enumerated(),
        ),
    )


def _order(pieces: Panel | Blocks, unit: Unit, entropy: Entropy) -> int:
    with temporary_ledger(unit) as ledger:
        made = choose_order(
            pieces,
            ("0,0,0", "0,1,0", "1,0,0"),
            epsilon=1.0,
            unit=unit,
            holdout=10,
            ledger=ledger,
            dataset="audit",
            request="audit",
            entropy=entropy,
            progress=lambda _: None,
        )
        return made.place


def _design(mechanism: ChoiceMechanism, count: int, *, monotone: bool) -> ChoiceDesign:
    names = tuple(f"candidate {place}" for place in range(count))
    unit = User() if monotone else _REPLACED
    return design_choice(mechanism, names, unit=unit, change=1.0, monotone=monotone, epsilon=1.0)


def _claim(design: ChoiceDesign) -> Claim:
    return Claim(design.unit, design.cost, _ARGUMENT)


_FLIP = PermuteAndFlip()
_ORDERS = (Order(0, 0, 0), Order(1, 0, 0))


def choose_among_replaced(values: tuple[int, ...], *, entropy: Entropy) -> int:
    """Choose by general utilities, with the 2."""
    design = _designed(len(values), unit=_REPLACED, monotone=False)
    return pick(design, Utilities(values, change=1.0), entropy)


def choose_as_if_monotone(values: tuple[int, ...], *, entropy: Entropy) -> int:
    """Choose by general utilities as if they all moved in one direction: without the 2."""
    design = _designed(len(values), unit=User(), monotone=True)
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
    design = _designed(2, unit=Event(), monotone=False)
    return pick(design, Utilities(votes, change=1.0), entropy)


def fit_once(series: tuple[float, ...], *, entropy: Entropy) -> int:
    """Fit the whole series once and add up clipped errors, as if one value changed one of them."""
    clipped = Validation(LeastSquares(), 24, 48, largest_error=1.0)
    errors = 24 * losses_of([np.array(series)], _ORDERS, clipped)[0]
    return pick(_designed(2, unit=Event(), monotone=False), Utilities(-errors, change=1.0), entropy)


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


def _designed(count: int, *, unit: Unit, monotone: bool, mechanism: ChoiceMechanism = _FLIP) -> ChoiceDesign:
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


ENTRIES = (
    Entry("private choice", (choose, pick), "utilities in whole steps; exact coins, the slope rounded down", _choices),
    Entry("order of a model", (choose_order,), "votes are whole numbers; exact coins", _orders),
)


MUTANTS: tuple[Mutant, ...] = (
    Mutant("choice without the 2 where a person is replaced", Claim(_REPLACED, PureCost(1.0), _ARGUMENT),
           choose_among_replaced, choose_as_if_monotone, (((0, 3, 3), (1, 2, 2)),)),
    Mutant("permute-and-flip charged at the bounded-range price", Claim(_REPLACED, BoundedRangeCost(1.0), _ARGUMENT),
           _Chosen(_designed(2, unit=_REPLACED, monotone=False, mechanism=ExponentialMechanism())),
           _Chosen(_designed(2, unit=_REPLACED, monotone=False)), (((0, 1), (1, 0)),), checks=(Known(),)),
    Mutant("bounded range without the 2 where a person is replaced", Claim(_REPLACED, BoundedRangeCost(1.0), _ARGUMENT),
           _Chosen(_designed(3, unit=_REPLACED, monotone=False, mechanism=ExponentialMechanism())),
           _Chosen(_designed(3, unit=User(), monotone=True, mechanism=ExponentialMechanism())),
           (((0, 0, 0), (1, 0, -1)),), checks=(Known(),)),
    Mutant("noisy maximum whose ties go to the better candidate", Claim(_REPLACED, PureCost(8.0), _ARGUMENT),
           settle_ties_by_chance, settle_ties_by_merit, (((2, 0), (1, 1)),)),
    Mutant("model order scored by one fit of the whole series", Claim(Event(), PureCost(1.0), _ARGUMENT), fit_in_blocks,
           fit_once, (_remembering(),)),
)  # fmt: skip

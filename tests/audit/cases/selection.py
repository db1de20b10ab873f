"""Private choices, every outcome walked."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from chronodp.audit.case import AuditCase
from chronodp.audit.exact import Outcomes, outcomes
from chronodp.audit.walked import Enumerated, Known
from chronodp.privacy import Claim, Event, PureCost, Unit, User
from chronodp.randomness import Entropy
from chronodp.selection import (
    Blocks,
    ChoiceDesign,
    ChoiceMechanism,
    ExponentialMechanism,
    MonotoneUtilities,
    NoisyMax,
    Panel,
    PermuteAndFlip,
    Utilities,
    attempt_exponential,
    choose,
    choose_order,
    design_choice,
    exponents_of,
    pick,
    score_gaps,
)
from tests.audit.cases.ledgers import temporary_ledger
from tests.audit.registry import Entry

__all__ = ["ENTRIES", "law_of_exponential", "moves"]

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

    return AuditCase(
        name=name,
        mechanism=run,
        neighbours=moves(3, monotone=monotone),
        claim=_claim(design),
        checks=(Enumerated(),),
    )


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
    return AuditCase(
        name="exponential mechanism",
        mechanism=_Tries(design),
        neighbours=(_FAR, *moves(3, monotone=False)[::7]),
        claim=_claim(design),
        checks=(Known(),),
    )


def _noisy_maximum() -> AuditCase:
    """On a grid so coarse that noise ties often and every outcome can be walked."""
    design = ChoiceDesign(NoisyMax(), _REPLACED, ("a", "b"), 1.0, False, 8.0, 1.0)

    def run(values: Values, *, entropy: Entropy) -> int:
        return pick(design, Utilities(values, change=1.0), entropy)

    return AuditCase(
        name="noisy maximum",
        mechanism=run,
        neighbours=(((0, 0), (1, 0)), ((0, 0), (-1, 1)), ((0, 3), (1, 2)), ((2, 0), (1, 1))),
        claim=_claim(design),
        checks=(Enumerated(),),
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
    return AuditCase(
        name="a choice that is paid for",
        mechanism=run,
        neighbours=(((0, 2, 2), (1, 1, 1)),),
        claim=claim,
        checks=(Enumerated(),),
    )


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
        AuditCase(
            name="the order of a model, by people",
            mechanism=choose_for_people,
            neighbours=((0, 1), (1, 2), (2, 3)),
            claim=Claim(User(), PureCost(1.0), _ARGUMENT),
            checks=(Enumerated(),),
        ),
        AuditCase(
            name="the order of a model, by blocks of one series",
            mechanism=choose_for_blocks,
            neighbours=((0, 1),),
            claim=Claim(Event(), PureCost(1.0), _ARGUMENT),
            checks=(Enumerated(),),
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


ENTRIES = (
    Entry(
        name="private choice",
        covers=(choose, pick),
        precision="utilities in whole steps; exact coins, the slope rounded down",
        cases=_choices,
    ),
    Entry(
        name="order of a model",
        covers=(choose_order,),
        precision="votes are whole numbers; exact coins",
        cases=_orders,
    ),
)

"""What a life is worth, and what an issue takes of it: whole numbers and fractions, never floats.

A life is as many *quanta* as a person may spend. One full period at the terms at which a series was opened takes the
same number of quanta in every place that a person may touch, so that exactly ``max_periods`` of them fit. Prices of
other terms are exact quotients, rounded up. The argument is "Prices" of ``docs/explanation/proofs/lifetime.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction

from chronodp.engines import LONGEST_LIFE, WholePrice
from chronodp.errors import InvalidArgument
from chronodp.privacy import Bounds, Sensitivity, most_change, per_period
from chronodp.series import Design, Noise, Table

__all__ = [
    "MOST_PERIODS",
    "life_of",
    "life_sensitivities",
    "quanta_of",
    "takes_of",
    "weight_of",
    "whole_price",
    "worth_of",
]

MOST_PERIODS = 2**30
"""Most periods of a life, times the places that one person may touch in each."""

_ROOT = 2**16


def quanta_of(law: str) -> int:
    """Return what one full period takes in each place.

    Under Gaussian noise the square of 2^16. Under Laplace noise half as many: sizes times that fit 62 bits.
    """
    return _ROOT * _ROOT if law == "gaussian" else 2**31


def life_of(table: Table, law: str, max_periods: int) -> int:
    """Return the quanta of a life of so many periods."""
    if max_periods * table.max_places > MOST_PERIODS:
        allowed = f"at most {MOST_PERIODS // table.max_places:,}: periods of a life times places of one person in each"
        raise InvalidArgument("max_periods", max_periods, allowed)
    return max_periods * table.max_places * quanta_of(law)


def life_sensitivities(table: Table, periods: int) -> tuple[Sensitivity, ...]:
    """Return how much one unit can change all issues together, of which so many periods of theirs count.

    All issues are one table without end, in which no more of a person count. With twice as many periods as count,
    someone replaced may leave all of theirs and enter others; more periods change nothing.
    """
    places = max(table.places, table.max_places)
    bounds = Bounds(2 * periods, periods, groups=places, max_groups=table.max_places)
    parts = table.contributions()
    return tuple(per_period(table.protected, bounds, part) for part in parts)


def weight_of(table: Table, noises: tuple[Noise, ...]) -> Fraction:
    """Return what one counted period may move, in the noise's own measure: squares for Gaussian, sizes for Laplace."""
    power = 2 if noises[0].law == "gaussian" else 1
    held = table.max_places
    return sum(
        (
            most_change(table.protected, 2 * held, held, part, power=power) / Fraction(noise.scale) ** power
            for part, noise in zip(table.contributions(), noises, strict=True)
        ),
        Fraction(0),
    )


def takes_of(base: Design, table: Table) -> int:
    """Return what one counted period of a table takes, of a life bought at the terms of ``base``."""
    full = base.table.max_places * quanta_of(base.law)
    return math.ceil(full * weight_of(table, base.noises) / weight_of(base.table, base.noises))


def worth_of(base: Design) -> Fraction:
    """Return how much one quantum of a life stands for: of μ² under Gaussian noise, of ε under Laplace."""
    return weight_of(base.table, base.noises) / (base.table.max_places * quanta_of(base.law))


def whole_price(takes: int, periods: int) -> WholePrice:
    """Return what 1, 2, … counted periods of an issue take, each as much as any."""
    if takes * periods > LONGEST_LIFE:
        raise InvalidArgument("end", f"{periods:,} periods", f"earlier: at most {LONGEST_LIFE // takes:,} in one issue")
    return WholePrice(tuple(takes * count for count in range(1, periods + 1)))

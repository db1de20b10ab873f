"""What a life is worth, and what an issue takes of it: whole numbers and fractions, never floats.

A life is as many *quanta* as a person may spend. One full period at the terms at which a series was opened takes the
same number of quanta in every place that a person may touch, so that exactly ``max_periods`` of them fit. Prices of
other terms are exact quotients, rounded up. The argument is "Prices" of ``docs/explanation/proofs/lifetime.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction

from chronodp.engines import LONGEST_LIFE, OwnPrice, WholePrice
from chronodp.errors import InvalidArgument
from chronodp.privacy import Bounds, Sensitivity, exact_sensitivity, most_change, per_period
from chronodp.series import Count, Design, Histogram, Noise, Pays, Sum, Table

__all__ = [
    "MOST_PERIODS",
    "asked_price",
    "folds_of",
    "has_both_signs",
    "life_of",
    "life_sensitivities",
    "own_costs_the_same",
    "own_price",
    "pays_own",
    "quanta_of",
    "reach_in_steps",
    "takes_of",
    "weight_of",
    "whole_price",
    "worth_of",
]

MOST_PERIODS = 2**30
"""Most periods of a life, times the places that one person may touch in each."""

_MOST_TIMES = 2**31  # of an OwnPrice
_FARTHEST = 2**30
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


def pays_own(table: Table) -> bool:
    """Return whether each can pay for what they add: where one kind of numbers is made of people's totals."""
    return type(table.measure) in (Count, Sum, Histogram)


def own_costs_the_same(table: Table) -> bool:
    """Return whether paying for what one adds is bought at the price of whole shares."""
    return pays_own(table) and life_sensitivities(table, 1, "own") == life_sensitivities(table, 1, "share")


def life_sensitivities(table: Table, periods: int, pays: Pays) -> tuple[Sensitivity, ...]:
    """Return how much one unit can change all issues together, of which so many periods of theirs count.

    All issues are one table without end, in which no more of a person count. With twice as many periods as count,
    someone replaced may leave all of theirs and enter others; more periods change nothing.
    """
    places = max(table.places, table.max_places)
    bounds = Bounds(2 * periods, periods, groups=places, max_groups=table.max_places)
    parts = table.contributions()
    if pays == "own" and table.unit.relation == "replace" and has_both_signs(table):
        # Values of both signs that are paid for by their size: |f - f'|² is at most 2|f|² + 2|f'|², and each is at
        # most what a life pays for. Fewer cells would be too few: small values lie in more periods than full ones.
        (part,) = parts
        held = periods * table.max_places
        return (exact_sensitivity(2 * held * part.presence, 4 * held * part.presence**2),)
    return tuple(per_period(table.protected, bounds, part) for part in parts)


def has_both_signs(table: Table) -> bool:
    """Return whether a person's totals may lie on both sides of 0."""
    return isinstance(table.measure, Sum) and table.measure.clip[0] < 0 < table.measure.clip[1]


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


def takes_of(base: Design, table: Table, pays: Pays) -> int:
    """Return the most that one counted period of a table takes, of a life bought at the terms of ``base``."""
    full = base.table.max_places * quanta_of(base.law)
    if pays == "own":
        reach = reach_in_steps(table, base.noises[0])
        return int(table.max_places * _own(own_price(base), reach))
    return math.ceil(full * weight_of(table, base.noises) / weight_of(base.table, base.noises))


def own_price(base: Design) -> OwnPrice:
    """Return what a total pays: a total at the clip of the terms of ``base`` pays the quanta of a full period.

    The noise of later terms is the same, so this price is theirs too: a larger clip lets larger totals through, and
    these pay more.
    """
    squared = base.law == "gaussian"
    over = reach_in_steps(base.table, base.noises[0])
    return OwnPrice(times=_ROOT if squared else quanta_of(base.law), over=over, squared=squared)


def folds_of(table: Table, law: str) -> int:
    """Return how many times what one life adds two lives may differ by, where each pays for what it adds.

    Of someone replaced |f - f'|² is at most |f|² + |f'|² if totals have one sign, and twice that if not; sizes add up.
    """
    if table.unit.relation != "replace":
        return 1
    return 4 if law == "gaussian" and has_both_signs(table) else 2


def worth_of(base: Design, pays: Pays) -> Fraction:
    """Return how much one quantum of a life stands for: of μ² under Gaussian noise, of ε under Laplace."""
    full = base.table.max_places * quanta_of(base.law)
    if pays == "share":
        return weight_of(base.table, base.noises) / full
    noise = base.noises[0]
    size = reach_in_steps(base.table, noise) * Fraction(noise.step) / Fraction(noise.scale)
    power = 2 if base.law == "gaussian" else 1
    return folds_of(base.table, base.law) * base.table.max_places * size**power / full


def asked_price(table: Table, noise: Noise, takes: int) -> OwnPrice:
    """Return what a total pays where one at the clip in every place takes at most so much."""
    squared, reach = noise.law == "gaussian", reach_in_steps(table, noise)
    most = takes // table.max_places
    times = math.isqrt(most) if squared else most
    if times > _MOST_TIMES:
        return OwnPrice(times=_MOST_TIMES, over=-(-_MOST_TIMES * reach // times), squared=squared)
    return OwnPrice(times=times, over=reach, squared=squared)


def whole_price(takes: int, periods: int) -> WholePrice:
    """Return what 1, 2, … counted periods of an issue take, each as much as any."""
    if takes * periods > LONGEST_LIFE:
        raise InvalidArgument("end", f"{periods:,} periods", f"earlier: at most {LONGEST_LIFE // takes:,} in one issue")
    return WholePrice(tuple(takes * count for count in range(1, periods + 1)))


def reach_in_steps(table: Table, noise: Noise) -> int:
    """Return the largest total of a table in steps of the noise's grid."""
    reach = max(map(abs, table.measure.clip_in_quanta(table.measure.row_step(noise.step))))
    if reach > _FARTHEST:
        size = float(_FARTHEST * noise.step)
        raise InvalidArgument("clip", table.measure.reach, f"at most {size:.3g}: on the grid of this series' noise")
    return max(reach, 1)


def _own(price: OwnPrice, total: int) -> int:
    root = -(-total * price.times // price.over)
    return root**2 if price.squared else root

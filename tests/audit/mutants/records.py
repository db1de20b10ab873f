"""Mistakes before any noise: nobody clipped, people who move counted once, a clock that a record can set."""

from __future__ import annotations

from chronodp.accounting import gaussian
from chronodp.privacy import Claim, Event, GaussianCost, LaplaceCost, User, UserPeriod
from chronodp.randomness import Entropy
from tests.audit.mutants.mutant import Mutant
from tests.audit.mutants.noise import noisy

__all__ = ["MUTANTS"]

Values = tuple[int, ...]
Grouped = tuple[tuple[int, int], ...]

_BOUNDING = "docs/explanation/proofs/bounding.md"
_SENSITIVITY = "docs/explanation/proofs/sensitivity.md"
_ROWS = "docs/explanation/proofs/rows.md"
_VARIANCE = "docs/explanation/proofs/variance.md"
_SCALE = 0.5


def add_up_clipped(values: Values, *, entropy: Entropy) -> int:
    """Add up values, each brought between 0 and 1 first."""
    return sum(min(1, max(0, value)) for value in values) + int(entropy.laplace(_SCALE, 1)[0])


def add_up_as_they_are(values: Values, *, entropy: Entropy) -> int:
    """Add up values as they come, with noise for values up to 1."""
    return sum(values) + int(entropy.laplace(_SCALE, 1)[0])


def add_up_squares(values: Values, *, entropy: Entropy) -> int:
    """Add up squares about the middle of the clip 0 to 2, less half of the largest: a person adds 1/2, in halves 1."""
    return sum(2 * (min(2, max(0, value)) - 1) ** 2 - 1 for value in values) + int(entropy.laplace(_SCALE, 1)[0])


def add_up_squares_about_zero(values: Values, *, entropy: Entropy) -> int:
    """Add up squares of values from 0 to 2, with noise for squares about the middle."""
    return sum(2 * min(2, max(0, value)) ** 2 - 1 for value in values) + int(entropy.laplace(_SCALE, 1)[0])


def weigh_by_day(rows: Values, *, entropy: Entropy) -> tuple[int, ...]:
    """Release the weight of a person's rows on each day, in halves: that of one row if there are any."""
    return noisy([2 * min(1, count) for count in rows], 2 * _SCALE, entropy)


def weigh_by_history(rows: Values, *, entropy: Entropy) -> tuple[int, ...]:
    """Release the same where one row's weight is shared by a person's rows on all days: a busy day takes it away."""
    return noisy([2 * count // max(1, sum(rows)) for count in rows], 2 * _SCALE, entropy)


def count_by_place(places: Values, *, entropy: Entropy) -> tuple[int, ...]:
    """Count people in two places, with noise for a person who leaves one and enters the other."""
    return noisy([places.count(0), places.count(1)], 2 * _SCALE, entropy)


def count_by_place_for_one(places: Values, *, entropy: Entropy) -> tuple[int, ...]:
    """Count people in two places, with noise for a person who is added or removed."""
    return noisy([places.count(0), places.count(1)], _SCALE, entropy)


def add_up_by_group(values: Grouped, *, entropy: Entropy) -> tuple[int, ...]:
    """Add up two groups clipped to 1 and to 2, the first in halves: one person moves either by 2, as noise allows."""
    return noisy([2 * _clipped_sum(values, 0, 1), _clipped_sum(values, 1, 2)], 2 * _SCALE, entropy)


def add_up_by_group_for_the_first(values: Grouped, *, entropy: Entropy) -> tuple[int, ...]:
    """Add up the same as they are, with noise for the first group's clip alone."""
    return noisy([_clipped_sum(values, 0, 1), _clipped_sum(values, 1, 2)], _SCALE, entropy)


def _clipped_sum(values: Grouped, group: int, most: int) -> int:
    return sum(min(most, max(0, value)) for place, value in values if place == group)


def count_two_days(days: Values, *, entropy: Entropy) -> tuple[int, ...]:
    """Count two days with Gaussian noise for a person on both: the root of two wider."""
    return tuple((days + entropy.gaussian(2**0.5, 2)).tolist())


def count_two_days_for_one(days: Values, *, entropy: Entropy) -> tuple[int, ...]:
    """Count two days with Gaussian noise for a person on one."""
    return tuple((days + entropy.gaussian(1.0, 2)).tolist())


def close_by_public_clock(times: Values, *, entropy: Entropy) -> int:
    """Count records of the window that is open, by a clock that no record can set."""
    return sum(time < 10 for time in times) + int(entropy.laplace(_SCALE, 1)[0])


def close_by_watermark(times: Values, *, entropy: Entropy) -> int:
    """Count records until one of a later time has come, which closes the window for all others."""
    counted = 0
    for time in times:
        if time >= 10:
            break
        counted += 1
    return counted + int(entropy.laplace(_SCALE, 1)[0])


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        name="values that nobody clips",
        claim=Claim(User(), LaplaceCost(1.0, _SCALE), _BOUNDING),
        sound=add_up_clipped,
        broken=add_up_as_they_are,
        neighbours=(((1, 3), (1,)),),
    ),
    Mutant(
        name="squares about zero, charged for squares about the middle",
        claim=Claim(User(), LaplaceCost(1.0, _SCALE), _VARIANCE),
        sound=add_up_squares,
        broken=add_up_squares_about_zero,
        neighbours=(((0, 2), (0,)), ((1, 2), (2,))),
    ),
    Mutant(
        name="rows weighed by a person's whole history, charged for a day",
        claim=Claim(UserPeriod("1D"), LaplaceCost(2.0, 2 * _SCALE), _ROWS),
        sound=weigh_by_day,
        broken=weigh_by_history,
        neighbours=(((3, 1), (0, 1)),),
    ),
    Mutant(
        name="a person who moves, charged for a person who comes",
        claim=Claim(User(relation="replace"), LaplaceCost(2.0, 2 * _SCALE), _SENSITIVITY),
        sound=count_by_place,
        broken=count_by_place_for_one,
        neighbours=(((0, 1), (1, 1)),),
    ),
    Mutant(
        name="clips by group, charged for one group's",
        claim=Claim(User(), LaplaceCost(2.0, 2 * _SCALE), _SENSITIVITY),
        sound=add_up_by_group,
        broken=add_up_by_group_for_the_first,
        neighbours=((((0, 3), (1, 5)), ((0, 3),)), (((0, 3), (1, 5)), ((1, 5),))),
    ),
    Mutant(
        name="two days of a person without the root of two",
        claim=Claim(User(), GaussianCost(2**0.5, 2**0.5), _SENSITIVITY),
        epsilon=1.0,
        delta=gaussian.delta_of(1.0, 1.0),
        sound=count_two_days,
        broken=count_two_days_for_one,
        neighbours=(((0, 0), (1, 1)),),
    ),
    Mutant(
        name="a watermark that one record from the future moves",
        claim=Claim(Event(), LaplaceCost(1.0, _SCALE), _BOUNDING),
        sound=close_by_public_clock,
        broken=close_by_watermark,
        neighbours=(((99, 1, 2, 3), (1, 2, 3)),),
    ),
)

"""Mistakes in sharing a budget: what is not paid for, and what is paid for once though it moves many times."""

from __future__ import annotations

from chronodp.privacy import Claim, LaplaceCost, User
from chronodp.randomness import Entropy
from tests.audit.mutants.mutant import Mutant
from tests.audit.mutants.noise import noisy

__all__ = ["MUTANTS"]

Days = tuple[tuple[int, ...], ...]
Hours = tuple[int, ...]

_PAGE = "docs/explanation/proofs/sharing-a-budget.md"
_SCALE = 0.125


def release_hours_and_their_sum(hours: Hours, *, entropy: Entropy) -> Hours:
    """Count people in two hours, each with noise for both, and add the noisy counts up."""
    told = noisy(hours, _SCALE, entropy)
    return (*told, sum(told))


def release_hours_and_a_total(hours: Hours, *, entropy: Entropy) -> Hours:
    """Take the total of the true counts instead, with noise of its own, as if that followed from the hours."""
    return (*noisy(hours, _SCALE, entropy), *noisy([sum(hours)], _SCALE, entropy))


def release_peaks(days: Days, *, entropy: Entropy) -> Hours:
    """Tell the peak of each of two days, with noise for a person who is there on both."""
    return noisy(map(max, days), _SCALE, entropy)


def release_peaks_at_the_price_of_one(days: Days, *, entropy: Entropy) -> Hours:
    """Reckon that a peak moves by one, however many periods a person is in: but every day has a peak."""
    return noisy(map(max, days), _SCALE / 2, entropy)


def release_a_peak(day: Hours, *, entropy: Entropy) -> Hours:
    """Tell the peak of a day."""
    return noisy([max(day)], _SCALE, entropy)


def release_a_peak_and_its_hour(day: Hours, *, entropy: Entropy) -> Hours:
    """Tell the hour of the peak as well, as it is: one person can move it from one hour to another."""
    return (*noisy([max(day)], _SCALE, entropy), day.index(max(day)))


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        name="a total with noise of its own, taken to follow from the hours",
        claim=Claim(User(), LaplaceCost(sensitivity=2.0, scale=_SCALE), _PAGE),
        sound=release_hours_and_their_sum,
        broken=release_hours_and_a_total,
        neighbours=(((3, 2), (2, 1)),),
    ),
    Mutant(
        name="peaks of many days at the price of one",
        claim=Claim(User(), LaplaceCost(sensitivity=2.0, scale=_SCALE), _PAGE),
        sound=release_peaks,
        broken=release_peaks_at_the_price_of_one,
        neighbours=((((3, 1), (0, 2)), ((2, 1), (0, 1))),),
    ),
    Mutant(
        name="the hour of a peak told with it",
        claim=Claim(User(), LaplaceCost(sensitivity=1.0, scale=_SCALE), _PAGE),
        sound=release_a_peak,
        broken=release_a_peak_and_its_hour,
        neighbours=(((2, 2), (1, 2)),),
    ),
)

"""Habits with bounds that cost what nobody books.

A bound read from the data, the better of two releases kept, a search that is paid for only if its release fits, and
totals scaled up by what was left out of them.
"""

from __future__ import annotations

from functools import cache

from chronodp.privacy import Claim, LaplaceCost, PureCost, User
from chronodp.randomness import Entropy
from chronodp.selection import ChoiceDesign, MonotoneUtilities, PermuteAndFlip, design_choice, pick
from tests.audit.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_CLIP, _SCALE, _ASKED = 2, 2.0, 2


def sum_with_a_declared_clip(totals: tuple[int, ...], *, entropy: Entropy) -> int:
    """Add up people's totals, each cut at a number that was said beforehand."""
    return sum(min(total, _CLIP) for total in totals) + int(entropy.laplace(_SCALE * _CLIP, 1)[0])


def sum_with_the_largest_as_clip(totals: tuple[int, ...], *, entropy: Entropy) -> int:
    """Look who has the largest total, which diagnostics show an owner, and take it for the clip."""
    clip = max(totals)
    return sum(min(total, clip) for total in totals) + int(entropy.laplace(_SCALE * clip, 1)[0])


def release_once(count: int, *, entropy: Entropy) -> int:
    """Publish one noisy number."""
    return count + int(entropy.laplace(_SCALE, 1)[0])


def keep_the_best_of_two(count: int, *, entropy: Entropy) -> int:
    """Draw two releases and publish the one that is nearer to the truth."""
    first, second = entropy.laplace(_SCALE, 2).tolist()
    return count + int(min(first, second, key=abs))


def choose_once(counts: tuple[int, int], *, entropy: Entropy) -> tuple[int, ...]:
    """Choose a bound by how many people it would cut; the choice is stored, and asked again it is the same."""
    return (pick(_choice(), MonotoneUtilities(counts, change=1.0), entropy),) * _ASKED


def choose_until_it_fits(counts: tuple[int, int], *, entropy: Entropy) -> tuple[int, ...]:
    """Book a price that follows the bound, after the choice: a budget that refuses it tells the choice for nothing."""
    return tuple(pick(_choice(), MonotoneUtilities(counts, change=1.0), entropy) for _ in range(_ASKED))


def sum_of_kept_days(days: tuple[tuple[int, int], ...], *, entropy: Entropy) -> int:
    """Add up one day of each person, who may have several."""
    return sum(total for total, _ in days) + int(entropy.laplace(_SCALE, 1)[0])


def sum_scaled_up(days: tuple[tuple[int, int], ...], *, entropy: Entropy) -> int:
    """Add up one day of each person times how many they have, to make up for those left out."""
    return sum(total * held for total, held in days) + int(entropy.laplace(_SCALE, 1)[0])


@cache
def _choice() -> ChoiceDesign:
    names = ("small", "large")
    return design_choice(PermuteAndFlip(), names, unit=User(), change=1.0, monotone=True, epsilon=1.0)


_FINDING = "docs/explanation/proofs/finding.md"
_BOUNDING = "docs/explanation/proofs/bounding.md"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        name="the largest total of the data as its clip",
        claim=Claim(User(), LaplaceCost(sensitivity=1.0, scale=_SCALE), _FINDING),
        sound=sum_with_a_declared_clip,
        broken=sum_with_the_largest_as_clip,
        neighbours=(((1, 1), (1, 1, 4)),),
    ),
    Mutant(
        name="the better of two releases kept, and one paid for",
        claim=Claim(User(), LaplaceCost(sensitivity=1.0, scale=_SCALE), _FINDING),
        sound=release_once,
        broken=keep_the_best_of_two,
        neighbours=((0, 1),),
    ),
    Mutant(
        name="a price that follows the bound found, booked after the choice",
        claim=Claim(User(), PureCost(1.0), _FINDING),
        sound=choose_once,
        broken=choose_until_it_fits,
        neighbours=(((0, 1), (1, 1)),),
    ),
    Mutant(
        name="totals scaled up by what was left out of them",
        claim=Claim(User(), LaplaceCost(sensitivity=1.0, scale=_SCALE), _BOUNDING),
        sound=sum_of_kept_days,
        broken=sum_scaled_up,
        neighbours=((((1, 1),), ((1, 1), (1, 12))),),
    ),
)

"""Mistakes in plain noise, plain answers and plain bounds."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from chronodp.accounting import gaussian
from chronodp.engines import Question, Record, reference_totals
from chronodp.privacy import Calendar, Claim, Event, GaussianCost, Grid, LaplaceCost, PureCost, Report, Swap, User
from chronodp.randomness import Entropy
from tests.audit.mutants.mutant import Mutant

__all__ = ["MUTANTS"]


def respond(bit: int, *, entropy: Entropy) -> int:
    """Tell the truth with probability 3/4."""
    return bit if entropy.coins(3, 4) else 1 - bit


def respond_too_truthfully(bit: int, *, entropy: Entropy) -> int:
    """Flip a coin to tell the truth, else flip one to answer at random: but the second coin leans to the truth."""
    if entropy.coins(1, 2):
        return bit
    return bit if entropy.coins(3, 5) else 1 - bit


def add_laplace(count: int, *, entropy: Entropy) -> int:
    """Add noise of scale 2 to a count."""
    return count + int(entropy.laplace(2.0, 1)[0])


def add_thin_laplace(count: int, *, entropy: Entropy) -> int:
    """Add noise of nine tenths of the scale."""
    return count + int(entropy.laplace(1.8, 1)[0])


def add_gaussian(count: int, *, entropy: Entropy) -> int:
    """Add Gaussian noise of standard deviation 2 to a count."""
    return count + int(entropy.gaussian(2.0, 1)[0])


def add_thin_gaussian(count: int, *, entropy: Entropy) -> int:
    """Add Gaussian noise of nine tenths of the standard deviation."""
    return count + int(entropy.gaussian(1.8, 1)[0])


def add_shared_noise(counts: tuple[int, int], *, entropy: Entropy) -> tuple[int, int]:
    """Add one draw to two counts: their difference is published without noise."""
    noise = int(entropy.laplace(0.5, 1)[0])
    return counts[0] + noise, counts[1] + noise


def add_own_noise(counts: tuple[int, int], *, entropy: Entropy) -> tuple[int, int]:
    """Add a draw of its own to each of two counts."""
    first, second = entropy.laplace(0.5, 2).tolist()
    return counts[0] + first, counts[1] + second


def shuffle(values: tuple[int, ...], *, entropy: Entropy) -> tuple[int, ...]:
    """Put values in a uniform order."""
    return tuple(values[index] for index in entropy.permutations(len(values))[0])


def shuffle_naively(values: tuple[int, ...], *, entropy: Entropy) -> tuple[int, ...]:
    """Exchange every place with any place: the n^n equally likely paths cannot fall evenly on n! orders."""
    mixed = list(values)
    for place in range(len(mixed)):
        other = int(entropy.integers(len(mixed), size=1)[0])
        mixed[place], mixed[other] = mixed[other], mixed[place]
    return tuple(mixed)


def release_in_floats(value: float, *, entropy: Entropy) -> float:
    """Add Laplace noise in floating point, by inversion: which floats can come out tells what went in."""
    uniform = (int(entropy.integers(256, size=1)[0]) + 0.5) / 256
    side = np.sign(uniform - 0.5)
    return float(value - 2.0 * side * math.log(1 - 2 * abs(uniform - 0.5)))


def count_visits(visits: tuple[tuple[str, int], ...], *, entropy: Entropy) -> tuple[int, ...]:
    """Count people on each of two days, one person on one day only."""
    return _noisy_visits(visits, max_periods=1, entropy=entropy)


def count_visits_without_limit(visits: tuple[tuple[str, int], ...], *, entropy: Entropy) -> tuple[int, ...]:
    """Count people on each of two days, as often as they come."""
    return _noisy_visits(visits, max_periods=None, entropy=entropy)


def _noisy_visits(visits: tuple[tuple[str, int], ...], *, max_periods: int | None, entropy: Entropy) -> tuple[int, ...]:
    question = _question(max_periods)
    records = [Record(person, int(question.calendar.edges[day])) for person, day in visits]
    totals = reference_totals(records, question, key="any")
    return tuple((totals.sums + entropy.laplace(0.5, 2)).tolist())


@cache
def _question(max_periods: int | None) -> Question:
    days = Calendar("1D", "2026-01-01", "2026-01-03")
    return Question(days, "day", "who", None, Grid(1.0), (0, 1), max_periods=max_periods)


_NOISE = "docs/explanation/proofs/noise.md"
_AUDIT = "docs/explanation/proofs/exact-audit.md"
_TWO_COUNTS = (((0, 0), (1, 0)), ((0, 0), (0, 1)))

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        name="randomised response that is true too often",
        claim=Claim(Report(), PureCost(math.log(3)), _AUDIT),
        sound=respond,
        broken=respond_too_truthfully,
        neighbours=((0, 1),),
    ),
    Mutant(
        name="Laplace noise of scale times 0.9",
        claim=Claim(Event(), LaplaceCost(sensitivity=1.0, scale=2.0), _NOISE),
        sound=add_laplace,
        broken=add_thin_laplace,
        neighbours=((0, 1),),
    ),
    Mutant(
        name="Gaussian noise of sigma times 0.9",
        claim=Claim(Event(), GaussianCost(sensitivity=1.0, sigma=2.0), _NOISE),
        epsilon=0.5,
        delta=gaussian.delta_of(0.5, 0.5),
        sound=add_gaussian,
        broken=add_thin_gaussian,
        neighbours=((0, 1),),
    ),
    Mutant(
        name="one draw of noise for two counts",
        claim=Claim(Event(), LaplaceCost(sensitivity=1.0, scale=0.5), _NOISE),
        sound=add_own_noise,
        broken=add_shared_noise,
        neighbours=_TWO_COUNTS,
    ),
    Mutant(
        name="a person who counts in every period, though one is paid for",
        claim=Claim(User(), LaplaceCost(sensitivity=1.0, scale=0.5), "docs/explanation/proofs/bounding.md"),
        sound=count_visits,
        broken=count_visits_without_limit,
        neighbours=(((("ann", 0), ("bo", 0), ("bo", 1)), (("ann", 0),)),),
    ),
    Mutant(
        name="shuffle that exchanges every place with any place",
        claim=Claim(Swap(3), PureCost(1e-9), _AUDIT),
        sound=shuffle,
        broken=shuffle_naively,
        neighbours=(((1, 2, 3), (2, 1, 3)), ((1, 2, 3), (1, 3, 2)), ((1, 2, 3), (3, 2, 1))),
    ),
    Mutant(
        name="Laplace noise in floating point",
        claim=Claim(Event(), LaplaceCost(sensitivity=1.0, scale=2.0), _NOISE),
        sound=add_laplace,
        broken=release_in_floats,
        neighbours=((0, 1),),
    ),
)

"""Mistakes in plain noise, answers and bounds: counts and clips, shared budgets, habits, records and live streams."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np

from chronodp.accounting import gaussian
from chronodp.engines import Question, Record, reference_totals
from chronodp.privacy import (
    Calendar,
    Claim,
    Event,
    GaussianCost,
    Grid,
    LaplaceCost,
    PureCost,
    Report,
    Swap,
    Unit,
    User,
    UserPeriod,
)
from chronodp.randomness import Entropy
from chronodp.selection import ChoiceDesign, MonotoneUtilities, PermuteAndFlip, design_choice, pick
from tests.audit.registry import Mutant

Told = tuple[Any, ...]
Arrivals = tuple[tuple[str, int, int], ...]
"""Records in the order of their arrival: who, the window the record is dated into, the hour the clock shows."""

_CLIP, _ASKED = 2, 2


def _tell(counts: Callable[[Any], Iterable[int]], scale: float, law: str = "laplace") -> Callable[..., Told]:
    """Return a mechanism that tells counts, each with noise of its own: what many mutants do right."""

    def tell(data: Any, *, entropy: Entropy) -> Told:
        exact = tuple(counts(data))
        drawn = getattr(entropy, law)(scale, len(exact)).tolist()
        return tuple(count + draw for count, draw in zip(exact, drawn, strict=True))

    return tell


def _one(count: int) -> tuple[int]:
    return (count,)


def respond(bit: int, *, entropy: Entropy) -> int:
    """Tell the truth with probability 3/4."""
    return bit if entropy.coins(3, 4) else 1 - bit


def respond_too_truthfully(bit: int, *, entropy: Entropy) -> int:
    """Flip a coin to tell the truth, else flip one to answer at random: but the second coin leans to the truth."""
    if entropy.coins(1, 2):
        return bit
    return bit if entropy.coins(3, 5) else 1 - bit


def add_shared_noise(counts: tuple[int, int], *, entropy: Entropy) -> tuple[int, int]:
    """Add one draw to two counts: their difference is published without noise."""
    noise = int(entropy.laplace(0.5, 1)[0])
    return counts[0] + noise, counts[1] + noise


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


def _visits(max_periods: int | None) -> Callable[..., Told]:
    """Count people on each of two days, one person on as many days as are said."""
    days = Calendar("1D", "2026-01-01", "2026-01-03")
    question = Question(days, "day", "who", None, Grid(1.0), (0, 1), max_periods=max_periods)

    def counts(visits: tuple[tuple[str, int], ...]) -> list[int]:
        records = [Record(person, int(days.edges[day])) for person, day in visits]
        return list(reference_totals(records, question, key="any").sums.tolist())

    return _tell(counts, 0.5)


def sum_with_the_largest_as_clip(totals: tuple[int, ...], *, entropy: Entropy) -> int:
    """Look who has the largest total, which diagnostics show an owner, and take it for the clip."""
    return sum(totals) + int(entropy.laplace(2.0 * max(totals), 1)[0])


def keep_the_best_of_two(count: int, *, entropy: Entropy) -> int:
    """Draw two releases and publish the one that is nearer to the truth."""
    first, second = entropy.laplace(2.0, 2).tolist()
    return count + int(min(first, second, key=abs))


def choose_once(counts: tuple[int, int], *, entropy: Entropy) -> tuple[int, ...]:
    """Choose a bound by how many people it would cut; the choice is stored, and asked again it is the same."""
    return (pick(_choice(), MonotoneUtilities(counts, change=1.0), entropy),) * _ASKED


def choose_until_it_fits(counts: tuple[int, int], *, entropy: Entropy) -> tuple[int, ...]:
    """Book a price that follows the bound, after the choice: a budget that refuses it tells the choice for nothing."""
    return tuple(pick(_choice(), MonotoneUtilities(counts, change=1.0), entropy) for _ in range(_ASKED))


@cache
def _choice() -> ChoiceDesign:
    names = ("small", "large")
    return design_choice(PermuteAndFlip(), names, unit=User(), change=1.0, monotone=True, epsilon=1.0)


def release_hours_and_their_sum(hours: Told, *, entropy: Entropy) -> Told:
    """Count people in two hours, each with noise for both, and add the noisy counts up."""
    told = _tell(iter, 0.125)(hours, entropy=entropy)
    return (*told, sum(told))


def release_a_peak_and_its_hour(day: Told, *, entropy: Entropy) -> Told:
    """Tell the hour of the peak as well, as it is: one person can move it from one hour to another."""
    return (max(day) + int(entropy.laplace(0.125, 1)[0]), day.index(max(day)))


def _clipped(values: Iterable[int], most: int) -> list[int]:
    return [min(most, max(0, value)) for value in values]


def weigh_by_history(rows: Told) -> list[int]:
    """Share one row's weight, in halves, among a person's rows on all days: a busy day takes it away."""
    return [2 * count // max(1, sum(rows)) for count in rows]


def _places(places: Told) -> list[int]:
    return [places.count(0), places.count(1)]


def _groups(first: int) -> Callable[[tuple[tuple[int, int], ...]], list[int]]:
    """Add up two groups clipped to 1 and to 2, the first so many times: in halves one person moves either by 2."""

    def add_up(values: tuple[tuple[int, int], ...]) -> list[int]:
        parts = [[value for place, value in values if place == group] for group in (0, 1)]
        return [first * sum(_clipped(parts[0], 1)), sum(_clipped(parts[1], 2))]

    return add_up


def close_by_the_clock(arrivals: Arrivals) -> list[int]:
    """Count records of two windows; a window closes when the public clock has passed it."""
    return [sum(window == one and hour <= one for _, window, hour in arrivals) for one in (0, 1)]


def close_by_event_time(arrivals: Arrivals) -> list[int]:
    """Close a window once a record is dated after it: one record from the future drops everyone's that follow."""
    counts, newest = [0, 0], 0
    for _, window, _ in arrivals:
        newest = max(newest, window)
        if window < len(counts) and window >= newest:
            counts[window] += 1
    return counts


def count_the_first_window(arrivals: Arrivals) -> list[int]:
    """Count each person once, in the first window they are in."""
    first: dict[str, int] = {}
    for who, window, _ in sorted(arrivals, key=lambda record: record[1]):
        first.setdefault(who, window)
    return [list(first.values()).count(window) for window in (0, 1)]


def count_the_first_after_a_restart(arrivals: Arrivals) -> list[int]:
    """Forget at the end of each window who has counted, as a process does whose state is lost."""
    return [len({who for who, dated, _ in arrivals if dated == window}) for window in (0, 1)]


def _held(arrivals: Arrivals) -> list[int]:
    """Count the records of each window: of a file that is read to its end, and of the one in its place an hour on."""
    return [sum(dated == window for _, dated, _ in arrivals) for window in (0, 1)]


def read_an_exchanged_file_by_its_length(arrivals: Arrivals) -> list[int]:
    """Take a file that is no shorter than what was read for the same one: one line more, and nobody's are read."""
    before = [record for record in arrivals if record[2] == 0]
    after = [record for record in arrivals if record[2] > 0]
    return _held((*before, *after[len(before) if len(after) >= len(before) else 0 :]))


def hand_on_what_was_drawn(arrivals: Arrivals, *, entropy: Entropy) -> Told:
    """Release the first window; its batch runs again after a kill, and hands on what the ledger has of it."""
    return 2 * _tell(lambda one: _held(one)[:1], 0.25)(arrivals, entropy=entropy)


def _laplace(sensitivity: float, scale: float, page: str, unit: Unit | None = None) -> Claim:
    return Claim(unit or User(), LaplaceCost(sensitivity, scale), f"docs/explanation/proofs/{page}.md")


_EVENT = Event()
_SUM = _laplace(1.0, 2.0, "finding")
_SHARED = _laplace(2.0, 0.125, "sharing-a-budget")
_NOISE, _AUDIT = "docs/explanation/proofs/noise.md", "docs/explanation/proofs/exact-audit.md"
_SENSITIVITY = "docs/explanation/proofs/sensitivity.md"
_LIVE = _laplace(1.0, 0.25, "live", _EVENT)
_CROWD: Arrivals = (("ann", 0, 0), ("bo", 0, 0), ("cy", 0, 0))
_EXCHANGED: Arrivals = (*_CROWD, ("ann", 1, 1), ("bo", 1, 1))
_ONE_MORE = ((_CROWD, (*_CROWD, ("eve", 0, 0))),)
_ORDERS = (((1, 2, 3), (2, 1, 3)), ((1, 2, 3), (1, 3, 2)), ((1, 2, 3), (3, 2, 1)))

MUTANTS: tuple[Mutant, ...] = (
    Mutant("randomised response that is true too often", Claim(Report(), PureCost(math.log(3)), _AUDIT),
           respond, respond_too_truthfully, ((0, 1),)),
    Mutant("Laplace noise of scale times 0.9", _laplace(1.0, 2.0, "noise", _EVENT),
           _tell(_one, 2.0), _tell(_one, 1.8), ((0, 1),)),
    Mutant("Gaussian noise of sigma times 0.9", Claim(_EVENT, GaussianCost(1.0, 2.0), _NOISE),
           _tell(_one, 2.0, "gaussian"), _tell(_one, 1.8, "gaussian"), ((0, 1),), 0.5, gaussian.delta_of(0.5, 0.5)),
    Mutant("one draw of noise for two counts", _laplace(1.0, 0.5, "noise", _EVENT),
           _tell(iter, 0.5), add_shared_noise, (((0, 0), (1, 0)), ((0, 0), (0, 1)))),
    Mutant("a person who counts in every period, though one is paid for", _laplace(1.0, 0.5, "bounding"),
           _visits(1), _visits(None), (((("ann", 0), ("bo", 0), ("bo", 1)), (("ann", 0),)),)),
    Mutant("shuffle that exchanges every place with any place", Claim(Swap(3), PureCost(1e-9), _AUDIT),
           shuffle, shuffle_naively, _ORDERS),
    Mutant("Laplace noise in floating point", _laplace(1.0, 2.0, "noise", _EVENT),
           _tell(_one, 2.0), release_in_floats, ((0, 1),)),
    # Of bounds and of habits with them.
    Mutant("the largest total of the data as its clip", _SUM,
           _tell(lambda totals: [sum(min(total, _CLIP) for total in totals)], 2.0 * _CLIP),
           sum_with_the_largest_as_clip, (((1, 1), (1, 1, 4)),)),
    Mutant("the better of two releases kept, and one paid for", _SUM,
           _tell(_one, 2.0), keep_the_best_of_two, ((0, 1),)),
    Mutant("a price that follows the bound found, booked after the choice", Claim(User(), PureCost(1.0), _SUM.argument),
           choose_once, choose_until_it_fits, (((0, 1), (1, 1)),)),
    # One day of each person, who may have several; and that day times how many they have.
    Mutant("totals scaled up by what was left out of them", _laplace(1.0, 2.0, "bounding"),
           _tell(lambda days: [sum(total for total, _ in days)], 2.0),
           _tell(lambda days: [sum(total * held for total, held in days)], 2.0), ((((1, 1),), ((1, 1), (1, 12))),)),
    # Of sharing a budget.
    Mutant("a total with noise of its own, taken to follow from the hours", _SHARED,
           release_hours_and_their_sum, _tell(lambda hours: (*hours, sum(hours)), 0.125), (((3, 2), (2, 1)),)),
    # A peak moves by one, however many periods a person is in: but every day has a peak.
    Mutant("peaks of many days at the price of one", _SHARED,
           _tell(lambda days: map(max, days), 0.125), _tell(lambda days: map(max, days), 0.125 / 2),
           ((((3, 1), (0, 2)), ((2, 1), (0, 1))),)),
    Mutant("the hour of a peak told with it", _laplace(1.0, 0.125, "sharing-a-budget"),
           _tell(lambda day: [max(day)], 0.125), release_a_peak_and_its_hour, (((2, 2), (1, 2)),)),
    # Before any noise.
    Mutant("values that nobody clips", _laplace(1.0, 0.5, "bounding"),
           _tell(lambda values: [sum(_clipped(values, 1))], 0.5), _tell(lambda values: [sum(values)], 0.5),
           (((1, 3), (1,)),)),
    # About the middle of the clip 0 to 2, less half of the largest square, a person adds 1/2: in halves 1.
    Mutant("squares about zero, charged for squares about the middle", _laplace(1.0, 0.5, "variance"),
           _tell(lambda values: [sum(2 * (one - 1) ** 2 - 1 for one in _clipped(values, 2))], 0.5),
           _tell(lambda values: [sum(2 * one**2 - 1 for one in _clipped(values, 2))], 0.5),
           (((0, 2), (0,)), ((1, 2), (2,)))),
    Mutant("rows weighed by a person's whole history, charged for a day", _laplace(2.0, 1.0, "rows", UserPeriod("1D")),
           _tell(lambda rows: [2 * min(1, count) for count in rows], 1.0), _tell(weigh_by_history, 1.0),
           (((3, 1), (0, 1)),)),
    Mutant("a person who moves, charged for a person who comes",
           Claim(User(relation="replace"), LaplaceCost(2.0, 1.0), _SENSITIVITY),
           _tell(_places, 1.0), _tell(_places, 0.5), (((0, 1), (1, 1)),)),
    Mutant("clips by group, charged for one group's", _laplace(2.0, 1.0, "sensitivity"),
           _tell(_groups(2), 1.0), _tell(_groups(1), 0.5),
           ((((0, 3), (1, 5)), ((0, 3),)), (((0, 3), (1, 5)), ((1, 5),)))),
    Mutant("two days of a person without the root of two", Claim(User(), GaussianCost(2**0.5, 2**0.5), _SENSITIVITY),
           _tell(iter, 2**0.5, "gaussian"), _tell(iter, 1.0, "gaussian"), (((0, 0), (1, 1)),),
           1.0, gaussian.delta_of(1.0, 1.0)),
    # Of live streams.
    Mutant("windows closed by event time, so that a record from the future drops those of others", _LIVE,
           _tell(close_by_the_clock, 0.25), _tell(close_by_event_time, 0.25), ((_CROWD, (("eve", 9, 0), *_CROWD)),)),
    Mutant("a limit on a person's windows that a restart forgets", _laplace(1.0, 0.25, "live"),
           _tell(count_the_first_window, 0.25), _tell(count_the_first_after_a_restart, 0.25),
           ((_CROWD, (("eve", 0, 0), ("eve", 1, 1), *_CROWD)),)),
    Mutant("a file that was exchanged told by its length, so that one line decides whether all others are read", _LIVE,
           _tell(_held, 0.25), _tell(read_an_exchanged_file_by_its_length, 0.25),
           ((_EXCHANGED, (*_EXCHANGED, ("eve", 1, 1))),)),
    Mutant("a window drawn again, at no price, when its batch runs again after a kill", _LIVE,
           hand_on_what_was_drawn, _tell(lambda one: 2 * _held(one)[:1], 0.25), _ONE_MORE),
    Mutant("a batch that runs again after a kill counted on top of itself", _LIVE,
           _tell(_held, 0.25), _tell(lambda arrivals: [2 * count for count in _held(arrivals)], 0.25), _ONE_MORE),
)  # fmt: skip

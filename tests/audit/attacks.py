"""Attacks from end to end: each succeeds against a naive version and fails against chronodp."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.audit.attacks import MembershipTest
from chronodp.audit.bounds import at_least
from chronodp.dataset import Aggregate
from chronodp.errors import ChronodpError, StreamConflict
from chronodp.ledger import Ledger
from chronodp.privacy import Event, Unit, User
from chronodp.series import EachPeriod, Plan, Stream
from tests.audit.cases.ledgers import temporary_ledger

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_ERROR = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """How often an adversary guessed one bit of one person, who is promised an epsilon of 1.

    Attributes:
        name: of the attack.
        naive: what it is tried against first, in words.
        naive_hits: right guesses against the naive version.
        naive_guesses: all of them; an adversary may wait for outputs that tell.
        our_hits: right guesses against chronodp.
        our_guesses: all of them.
    """

    name: str
    naive: str
    naive_hits: int
    naive_guesses: int
    our_hits: int
    our_guesses: int

    @property
    def ceiling(self) -> float:
        """The most often that a guess can be right if the promise holds: e^ε / (1 + e^ε)."""
        return 1 / (1 + math.exp(-1.0))

    @property
    def breaks_naive(self) -> bool:
        """Whether the naive version surely lets more through than the promise allows."""
        return _surely(self.naive_hits, self.naive_guesses) > self.ceiling

    @property
    def breaks_ours(self) -> bool:
        """Whether chronodp surely lets more through than it promises."""
        return _surely(self.our_hits, self.our_guesses) > self.ceiling


def _surely(hits: int, guesses: int) -> float:
    return float(at_least(hits, guesses, _ERROR)) if guesses else 0.0


def _values(plan: Plan, ledger: Ledger, request: str = "audit") -> Floats:
    """Release a plan by its public call and return what is published."""
    made = plan.release(ledger, dataset="audit", request=request, progress=lambda _: None)
    return np.asarray(made.to_pandas()["value"].to_numpy(), dtype=np.float64)


def _as_paid(plans: Sequence[tuple[str, Plan]], unit: Unit) -> list[float]:
    """Return the answers, each of one number, that a budget of 1 pays for."""
    seen: list[float] = []
    with temporary_ledger(unit, epsilon=1.0) as ledger:
        for request, plan in plans:
            try:
                seen.append(float(_values(plan, ledger, request)[0]))
            except ChronodpError:
                break
    return seen


def _total(number: float, epsilon: float) -> Plan:
    """Plan a total of people, of whom each adds one."""
    return Aggregate([float(number)], change=1.0, unit=User(), max_periods=1).plan(epsilon=epsilon)


def floats(trials: int, ours: int | None = None) -> Attempt:
    """Guess 0 or 1 behind Laplace noise, wherever last digits are finer than a number that was added to 1 can have.

    Which floating-point numbers can come out tells what went in (Mironov 2012).
    """
    secrets = np.random.default_rng().integers(0, 2, 20 * trials)
    naive = _fine(secrets, secrets + np.random.default_rng().laplace(0.0, 1.0, len(secrets)))
    tried = secrets[: None if ours is None else 20 * ours]
    # Each secret is one period of a release under `Event`: each has noise of its own, and epsilon 1.
    plan = Aggregate(tried.astype(np.float64), change=1.0, unit=Event()).plan(epsilon=1.0)
    with temporary_ledger(Event()) as ledger:
        told = _fine(tried, _values(plan, ledger))
    return Attempt(
        name="last digits of floating-point noise",
        naive="numpy.random.laplace added to a float",
        naive_hits=naive[0],
        naive_guesses=naive[1],
        our_hits=told[0],
        our_guesses=told[1],
    )


def _fine(secrets: Integers, outputs: Floats) -> tuple[int, int]:
    """Return how many guesses of 0 were right, and how many were made."""
    fine = (outputs * 2.0**53) % 1 != 0
    return int(np.count_nonzero(secrets[fine] == 0)), int(np.count_nonzero(fine))


def averaging(trials: int, ours: int | None = None) -> Attempt:
    """Ask for one total as often as answers come, under old and new names, and guess it by their mean."""

    def answers(secret: int) -> list[float]:
        plan = Aggregate([float(secret)], change=1.0, unit=Event()).plan(epsilon=0.5)
        return _as_paid([(f"again {number // 2}", plan) for number in range(1_000)], Event())

    name, naive = "averaging repeated releases", "fresh noise for every request, and nobody counts them"
    return _by_mean(trials, ours, answers, name=name, naive=naive, scale=2.0, count=1_000)


def rewinding(trials: int, ours: int | None = None) -> Attempt:
    """Open a stream, keep its first state, release the first step from it as often as that works; guess by the mean."""
    name, naive = "replay and rewind of a stream", "a stream whose state is a file that can be put back"
    return _by_mean(trials, ours, _rewound, name=name, naive=naive, scale=1.0, count=100)


def _rewound(secret: int) -> list[float]:
    seen: list[float] = []
    options: dict[str, Any] = {"change": 1.0, "unit": Event(), "epsilon": 1.0, "dataset": "audit", "name": "audit"}
    with temporary_ledger(Event()) as ledger:
        first = Stream(EachPeriod(), horizon=2, ledger=ledger, **options)
        for live in [first, *(Stream.resume(ledger, "audit") for _ in range(3))]:  # all of the first state
            try:
                seen.append(live.step(float(secret)).value)
            except StreamConflict:
                continue
        for _ in range(3):
            try:
                seen.append(Stream.resume(ledger, "audit").step(float(secret), period=0).value)
            except StreamConflict:
                break
    return seen


def _by_mean(
    trials: int,
    ours: int | None,
    answers: Callable[[int], Sequence[float]],
    *,
    name: str,
    naive: str,
    scale: float,
    count: int,
) -> Attempt:
    """Guess secrets by the mean of ``count`` fresh draws of Laplace noise, and of the answers that chronodp gives."""
    secrets = np.random.default_rng().integers(0, 2, trials).tolist()
    tried = secrets[:ours]
    noise = np.random.default_rng().laplace(0.0, scale, (trials, count))
    return Attempt(
        name=name,
        naive=naive,
        naive_guesses=trials,
        our_guesses=len(tried),
        naive_hits=sum(bool(np.mean(secret + row) > 0.5) == secret for secret, row in zip(secrets, noise, strict=True)),
        our_hits=sum(bool(np.mean(answers(secret)) > 0.5) == secret for secret in tried),
    )


def differencing(trials: int, ours: int | None = None) -> Attempt:
    """Ask for everybody's total and for everybody's but one, and guess the person's bit by the difference."""
    crowds = np.random.default_rng().integers(0, 2, (trials, 50))
    totals = np.column_stack([crowds.sum(axis=1), crowds[:, 1:].sum(axis=1)])

    def hits(secrets: Integers, told: Floats) -> int:
        return int(np.count_nonzero((told[:, 0] - told[:, 1] > 0.5) == secrets))

    # Two releases of epsilon 0.5 each, about the same people: together they cost 1.
    asked = [
        _as_paid([("all", _total(everybody, 0.5)), ("all but one", _total(others, 0.5))], User())
        for everybody, others in totals[:ours].tolist()
    ]
    return Attempt(
        name="differencing of overlapping questions",
        naive="exact totals, refused for fewer than 10 people",
        naive_guesses=trials,
        our_guesses=len(asked),
        naive_hits=hits(crowds[:, 0], totals.astype(np.float64)),
        our_hits=hits(crowds[:ours, 0], np.array(asked)),
    )


_CROWD, _LENGTH, _MEMORY, _SHOCK = 4, 144, 0.8, 0.25
_CHANGE = 2.0  # the most that one person changes a reading: series lie between -1 and 1


def membership(trials: int, ours: int | None = None) -> Attempt:
    """Decide by the likelihood ratio whether a known series is among those added up.

    Their autoregression is public, and so is the noise: whoever looks for a trace weighs readings by both.
    """
    draws, unit = np.random.default_rng(), User(relation="replace")

    def plan_of(total: Floats) -> Plan:
        return Aggregate(total, change=_CHANGE, unit=unit, max_periods=_LENGTH).plan(epsilon=1.0)

    variance = 2 * plan_of(np.zeros(_LENGTH)).design.noises[0].scale ** 2  # Laplace, independent
    exact, noisy = _membership_test(0.0), _membership_test(variance)
    naive = hits = tried = 0
    for inside in draws.integers(0, 2, trials).tolist():
        crowd = np.array([_remembering(draws) for _ in range(_CROWD)])
        known = crowd[0] if inside else _remembering(draws)
        total = crowd.sum(axis=0)
        naive += int((exact.log_ratio(total, known) > 0) == bool(inside))
        if ours is None or tried < ours:
            with temporary_ledger(unit) as ledger:
                released = _values(plan_of(total), ledger)
            hits += int((noisy.log_ratio(released, known) > 0) == bool(inside))
            tried += 1
    return Attempt(
        name="membership by a known autoregression",
        naive="the exact sum of a few people's series",
        naive_guesses=trials,
        our_guesses=tried,
        naive_hits=naive,
        our_hits=hits,
    )


def _remembering(draws: np.random.Generator) -> Floats:
    """A series between -1 and 1 that remembers."""
    shocks = draws.normal(0.0, _SHOCK, _LENGTH)
    values = np.zeros(_LENGTH)
    for step in range(_LENGTH):
        values[step] = np.clip((_MEMORY * values[step - 1] if step else 0.0) + shocks[step], -1, 1)
    return values


def _membership_test(noise: float) -> MembershipTest:
    """The others are one fewer if the known series is in the sum; noise has so much variance on each reading."""
    back = np.subtract.outer(np.arange(_LENGTH), np.arange(_LENGTH))
    moves = np.where(back >= 0, _MEMORY ** np.maximum(back, 0), 0.0) * _SHOCK
    one, noises = moves @ moves.T, noise * np.eye(_LENGTH)
    return MembershipTest((_CROWD - 1) * one + noises, _CROWD * one + noises)


def reconstruction(trials: int, ours: int | None = None) -> Attempt:
    """Ask for totals of random halves of twenty people, and find all their bits by least squares.

    Many questions about random subsets have one solution that fits them all (Dinur and Nissim 2003).
    """
    people, questions = 20, 160
    draws = np.random.default_rng()
    naive = hits = guessed = tried = 0
    while tried < trials:
        bits = draws.integers(0, 2, people)
        subsets = draws.integers(0, 2, (questions, people))
        exact = (subsets @ bits).astype(np.float64)
        naive += _solved(bits, subsets, exact + draws.uniform(-1.0, 1.0, questions))
        if ours is None or guessed < ours:
            asked = [(f"{number}", _total(total, 0.02)) for number, total in enumerate(exact.tolist())]
            hits, guessed = hits + _solved(bits, subsets, np.array(_as_paid(asked, User()))), guessed + people
        tried += people
    return Attempt(
        name="reconstruction from many questions",
        naive="each total is off by up to 1, however many are asked",
        naive_guesses=tried,
        our_guesses=guessed,
        naive_hits=naive,
        our_hits=hits,
    )


def _solved(bits: Integers, subsets: Integers, answers: Floats) -> int:
    solution = np.linalg.lstsq(subsets[: len(answers)].astype(np.float64), answers, rcond=None)[0]
    return int(np.count_nonzero((solution > 0.5) == bits))


_PEOPLE, _HOURS, _ZONES, _SHARED, _SEEN = 200, 12, 6, 5, 5


def linkage(trials: int, ours: int | None = None) -> Attempt:
    """Know where somebody was at five hours of the day, find the trajectory, and read off where they were at night.

    A few known points find a person among pseudonymous trajectories, though k people share every point.
    """
    draws = np.random.default_rng()
    naive = hits = tried = 0
    for _ in range(trials):
        places = draws.integers(0, _ZONES, (_PEOPLE, _HOURS))
        nights = draws.integers(0, 2, _PEOPLE)
        target = int(draws.integers(_PEOPLE))
        hours = draws.choice(_HOURS, _SEEN, replace=False)
        truth = int(nights[target])
        fits = np.flatnonzero(np.all(_suppressed(places)[:, hours] == places[target, hours], axis=1))
        naive += int((int(nights[fits[0]]) if len(fits) == 1 else int(draws.integers(2))) == truth)
        if ours is None or tried < ours:
            # Guess from the released count of the night, knowing everybody else.
            (count,) = _as_paid([("night", _total(nights.sum(), 1.0))], User())
            hits, tried = hits + int((count - (nights.sum() - truth) > 0.5) == truth), tried + 1
    return Attempt(
        name="linkage of trajectories",
        naive=f"names removed, points shared by fewer than {_SHARED} people left out",
        naive_guesses=trials,
        our_guesses=tried,
        naive_hits=naive,
        our_hits=hits,
    )


def _suppressed(places: Integers) -> Integers:
    """Return trajectories in which every point is shared by enough people; others are -1."""
    shown = places.copy()
    for hour in range(_HOURS):
        counts = np.bincount(places[:, hour], minlength=_ZONES)
        shown[counts[places[:, hour]] < _SHARED, hour] = -1
    return shown


# Each is called with a number of trials; a second one says how many of these are tried on chronodp too, else all.
ATTACKS: tuple[Callable[..., Attempt], ...] = (
    floats,
    averaging,
    rewinding,
    differencing,
    membership,
    reconstruction,
    linkage,
)

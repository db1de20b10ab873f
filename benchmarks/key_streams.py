"""Keys found over a year by the number of looks: how many, and for how long they are public.

A made table: 200,000 people, whose numbers of records are geometric with mean 8, under keys of a Zipf law with exponent
1.05 on 100,000. Ten keys of each person count, and their first meetings lie evenly over the year; the first ten of all
that a person meets would lie earlier, and keys be found earlier. Thresholds are those of the library's designs; noise
is normal, of the designs' own shape. The library's own stream runs once.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Topic, show
from chronodp.ledger import Ledger
from chronodp.privacy import User
from chronodp.series.key_streams import KeyStream, KeyStreamDesign, design_key_stream

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

PEOPLE, UNIVERSE, DAYS, MOST = 200_000, 100_000, 365, 10
LOOKS = (1, 2, 4, 6, 12, 26, 52, 122, 365)
SEEDS = 3


@dataclass(frozen=True, eq=False)
class Meetings:
    """Who first met which key on which day, as far as it counts."""

    person: Integers
    key: Integers
    day: Integers


@lru_cache
def meetings() -> tuple[Meetings, int]:
    """Return ten keys of each person, when they were met, and how many keys people hold in all."""
    rng = np.random.default_rng(1)
    weights = np.cumsum(1 / np.arange(1, UNIVERSE + 1) ** 1.05)
    person = np.repeat(np.arange(PEOPLE), rng.geometric(1 / 8, PEOPLE))
    key = np.searchsorted(weights / weights[-1], rng.random(len(person)))
    pairs = np.sort(person * UNIVERSE + key)
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]
    person, key = pairs // UNIVERSE, pairs % UNIVERSE
    order = np.lexsort((rng.random(len(pairs)), person))
    person, key = person[order], key[order]
    kept = np.arange(len(person)) - np.searchsorted(person, person) < MOST
    day = rng.integers(DAYS, size=int(kept.sum()))
    return Meetings(person[kept], key[kept], day), int(np.count_nonzero(np.bincount(pairs % UNIVERSE)))


def measure() -> Topic:
    table, held = meetings()
    topic = Topic(
        f"Keys found in a year: {PEOPLE:,} people, {held:,} keys, {len(table.key):,} first meetings that count, ε = 1, "
        "δ = 1e-6",
        "python -m benchmarks.key_streams",
        ("looks", "people needed at the first", "at the last", "keys", "key-years"),
        everywhere=True,
    )
    for looks in LOOKS:
        design = _design(looks)
        needed = design.people_needed
        keys, years = np.mean([_found(design, seed) for seed in range(SEEDS)], axis=0)
        topic.rows.append((looks, float(needed[0]), float(needed[-1]), round(float(keys)), round(float(years))))
    tau = float(_design(1).people_needed[0])
    for batches in (12, DAYS):
        keys, years = np.mean([_each_alone(batches, seed) for seed in range(SEEDS)], axis=0)
        topic.rows.append((f"{batches} batches, each by itself", tau, tau, round(float(keys)), round(float(years))))
    found = _run()
    topic.notes = [
        f"mean of {SEEDS} seeds of the noise; a key-year is one key public for a year",
        f"the library's own stream of 12 looks, ledger and all, found {found:,} keys",
        "each by itself: the new people of a batch against a threshold, and keys stay, as libraries for batches do",
    ]
    return topic


def _design(looks: int) -> KeyStreamDesign:
    return design_key_stream(unit=User(), horizon=DAYS, looks=looks, max_keys=MOST, epsilon=1.0, delta=1e-6)


def _new(ends: Integers) -> Integers:
    """Return how many people first met each key, by stretch of days."""
    table, _ = meetings()
    place = np.searchsorted(ends, table.day)
    counts = np.bincount(place * UNIVERSE + table.key, minlength=len(ends) * UNIVERSE)
    return counts.reshape(len(ends), UNIVERSE)


def _found(design: KeyStreamDesign, seed: int) -> tuple[int, float]:
    """Return how many keys are told, and for how many years together."""
    from scipy.signal import fftconvolve

    ends = np.array(design.look_steps)
    people = np.cumsum(_new(ends), axis=0)
    held = people[-1] > 0
    draws = np.random.default_rng(seed).standard_normal((design.looks, int(held.sum()))) * design.noise.scale
    shaped = fftconvolve(draws, design.shape.inverse(design.looks)[:, None], axes=0)[: design.looks]
    noise = np.cumsum(shaped, axis=0)
    passed = (people[:, held] + noise >= design.people_needed[:, None]) & (people[:, held] > 0)
    return _public(passed, ends)


def _public(passed: NDArray[np.bool_], ends: Integers) -> tuple[int, float]:
    told = passed.any(axis=0)
    first = ends[passed.argmax(axis=0)]
    return int(told.sum()), float((DAYS - 1 - first[told]).sum() / DAYS)


def _each_alone(batches: int, seed: int) -> tuple[int, float]:
    """Return the same by batches; all cost what one does, since a person is new to ten keys in all."""
    ends = np.array(_design(batches).look_steps)
    new = _new(ends)
    noise = np.random.default_rng(seed).standard_normal(new.shape) * _design(1).deviations[0]
    return _public((new + noise >= _design(1).people_needed[0]) & (new > 0), ends)


def _run() -> int:
    """Return how many keys the library's stream finds in a year."""
    table, _ = meetings()
    order = np.argsort(table.day, kind="stable")
    cuts = np.searchsorted(table.day[order], np.arange(1, DAYS))
    with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "budget.db") as ledger:
        ledger.open("web", unit=User(), epsilon=1.0, delta=1e-6, reserve=4e-7)
        live = KeyStream.open(_design(12), ledger=ledger, dataset="web", name="pages")
        for places in np.split(order, cuts):
            people, keys = table.person[places].tolist(), table.key[places].tolist()
            live.step((f"p{who}", f"/{key}") for who, key in zip(people, keys, strict=True))
        return len(live.keys)


if __name__ == "__main__":
    show(measure)

"""How Threshold starts as printed, and what becomes of Forward without collisions (Fig. 3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from chronodp.audit.exact import outcomes
from chronodp.randomness import Entropy, seeded
from chronodp.temporal import Threshold, expected_warm_up
from experiments.claims import Claim, Pair, Tolerance, always, computation, equal, limit
from experiments.temporal_perturbation.rows import row

__all__ = ["collision_free_runs", "delays_without_collisions", "rows"]

_ENUMERATED = {(3, 2): (1.0, 7), (4, 3): (2.2, 6)}
_SIMULATED = {(5, 3): (2.0, 60), (10, 5): (3.1, 60), (10, 7): (5.0, 60), (20, 10): (5.0, 100)}
"""Windows and thresholds, with a budget that chooses them and the length of a run."""

STEPS = {
    (3, 2): 1.5,
    (4, 2): 3.7619,
    (4, 3): 1.3333,
    (5, 2): 7.2950,
    (5, 3): 3.0804,
    (5, 4): 1.25,
    (6, 3): 5.4240,
    (8, 4): 7.0571,
    (10, 5): 8.6771,
    (10, 7): 3.8874,
    (10, 9): 1.1111,
}
"""Expected steps until c = c₀, by window and threshold, from an independent linear system."""


def rows() -> list[Claim]:
    """Return the rows of sections IV-A and IV-B."""
    return [_figure_3(), _printed_start(), _amortised(), _warm_up()]


def _one_more(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: [[*path, path[-1] + 1] for path in function(*args)]


@computation()
def delays_without_collisions(window: int, steps: int) -> list[float]:
    """Return the mean delay at each step if a value goes to any empty time of its window, exactly.

    The chain runs over which of the k − 1 times before the newest are taken.
    """
    states: dict[frozenset[int], float] = {frozenset(): 1.0}
    found = []
    for _ in range(steps):
        after: defaultdict[frozenset[int], float] = defaultdict(float)
        mean = 0.0
        for taken, chance in states.items():
            empty = [slot for slot in range(window) if slot not in taken]
            for slot in empty:
                part = chance / len(empty)
                mean += part * slot
                after[frozenset(one - 1 for one in (*taken, slot) if one)] += part
        found.append(mean)
        states = after
    return found


@computation(ever_more_empty=_one_more)
def empty_counts(window: int, threshold: int) -> list[list[int]]:
    """Return how many times of its window are empty at each step of runs from the printed start.

    Of small windows every run, of larger ones fifty.
    """
    return [_empty(source, window) for source in _sources(window, threshold)]


@computation()
def empty_share(window: int, epsilon: float, length: int) -> float:
    """Return the share of times at which nothing is released, of a run from the printed start."""
    blurred = Threshold(window, epsilon, start="printed").perturb(range(length), entropy=seeded("printed start"))
    return blurred.damage.empty


@computation()
def warm_up(window: int, threshold: int) -> float:
    """Return how many steps pass on average until c = c₀, by the library."""
    return expected_warm_up(window, threshold)


def collision_free_runs(window: int, steps: int, runs: int) -> list[list[int]]:
    """Return the delays of some runs of Forward without collisions, as Fig. 3 tells."""
    entropy = seeded("collision-free")
    found = []
    for _ in range(runs):
        taken = np.zeros(steps + window, dtype=np.bool_)
        delays = []
        for time in range(steps):
            empty = np.flatnonzero(~taken[time : time + window])
            delay = int(empty[int(entropy.integers(len(empty), 1)[0])])
            taken[time + delay] = True
            delays.append(delay)
        found.append(delays)
    return found


def _figure_3() -> Claim:
    return row(
        id="L16",
        place="IV-A, Fig. 3",
        says="Forward without collisions ends with every value k − 1 times late",
        rule=limit,
        stated=2.0,
        tolerance=Tolerance(absolute=1e-9),
        readings={"mean delay, k = 3, exactly": lambda: delays_without_collisions(3, 200)},
        tokens=("a matter of time",),
        parameters="ours: k = 3, every empty time alike",
    )


def _printed_start() -> Claim:
    def agree() -> list[bool]:
        return [
            all(after <= before for before, after in pairwise(path)) and min(path) >= threshold
            for window, threshold in (*_ENUMERATED, *_SIMULATED)
            for path in empty_counts(window, threshold)
        ]

    return row(
        id="L17",
        place="IV-B, Algorithm 1, lines 1 to 6",
        says="from a start with all times empty their number c falls to c₀, never rises and stays there",
        rule=always,
        stated="so in every run",
        readings={"every run at k = 3 and 4, 50 runs each up to k = 20": agree},
        tokens=("remains c_0",),
        parameters="ours: (k, c₀) = (3, 2), (4, 3), (5, 3), (10, 5), (10, 7), (20, 10)",
        note="the library starts in the steady state unless it is told to start as printed",
    )


def _amortised() -> Claim:
    lengths = (100, 1_000, 10_000, 100_000)
    return row(
        id="L18",
        place="IV-D, footnote 3",
        says="the times that stay empty at the start amount to nothing in a long series",
        rule=limit,
        stated=0.0,
        tolerance=Tolerance(absolute=1e-3),
        readings={
            "k = 10, c₀ = 7; share of empty times in 100 to 100,000": lambda: [
                empty_share(10, 5.0, length) for length in lengths
            ]
        },
        tokens=("amortized to 0",),
        parameters="ours: k = 10, ε = 5",
        note="k − c₀ times in all",
    )


def _warm_up() -> Claim:
    return row(
        id="N41",
        place="",
        says="steps from the printed start until c = c₀, on average",
        rule=equal,
        stated="an independent linear system",
        tolerance=Tolerance(absolute=5e-5),
        readings={
            "eleven pairs of k and c₀": lambda: [
                Pair(warm_up(*case), steps, f"k = {case[0]}, c₀ = {case[1]}") for case, steps in STEPS.items()
            ]
        },
        origin="ours",
        parameters="ours: k = 3 to 10",
    )


@cache
def _sources(window: int, threshold: int) -> list[tuple[int, ...]]:
    if (window, threshold) in _SIMULATED:
        epsilon, length = _SIMULATED[window, threshold]
        runs = np.broadcast_to(np.arange(length), (50, length))
        mechanism = Threshold(window, epsilon, start="printed")
        return [tuple(path) for path in mechanism.perturb_panel(runs, entropy=seeded("printed")).source.tolist()]
    epsilon, length = _ENUMERATED[window, threshold]
    mechanism = Threshold(window, epsilon, start="printed")

    def run(entropy: Entropy) -> object:
        return tuple(mechanism.perturb(range(length), entropy=entropy).source.tolist())

    return list(outcomes(run).probabilities)  # type: ignore[arg-type]


def _empty(source: tuple[int, ...], window: int) -> list[int]:
    """Return how many times of its window are empty when each value comes, as far as the release shows it."""
    return [
        sum(not 0 <= value < time for value in source[time : time + window]) for time in range(len(source) - window + 1)
    ]

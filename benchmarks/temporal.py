"""Blurring times: values a second with secure randomness on one core, beside the paper's algorithms in plain Python."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.harness import TURNS, Topic, duel, show
from chronodp.temporal import Backward, BlockShuffle, Forward, NoisySort, Threshold

EPSILON = 5.0
WINDOWS = (20, 200)
LENGTH = 1_000_000
Plain = tuple[Callable[[], object], int]  # a loop, and how many values it makes


def measure() -> Topic:
    topic = Topic(
        f"Blurring times, ε = {EPSILON:g}, secure randomness, one core",
        "python -m benchmarks.temporal",
        (
            "mechanism",
            "window",
            "million values a second",
            "the same in plain Python",
            "ratio",
            "ratio to the paper's Algorithm 1 in plain Python",
        ),
    )
    series, panel = np.arange(float(LENGTH)), np.zeros((1000, 1000))
    for window in WINDOWS:
        algorithm_1 = partial(_plain_threshold, window, _threshold_of(window), 20_000), 20_000
        block, back, ahead = BlockShuffle(window, EPSILON), Backward(window, EPSILON), Forward(window, EPSILON)
        sent = Threshold(window, EPSILON)
        rows: list[tuple[str, Callable[[], object], Plain | None]] = [
            ("block shuffle", partial(block.perturb, series), (partial(_plain_block, window, 40_000), 40_000)),
            ("block shuffle, panel of 1,000", partial(block.perturb_panel, panel), None),
            ("Backward", partial(back.perturb, series), (partial(_plain_backward, window, 50_000), 50_000)),
            ("Forward", partial(ahead.perturb, series), (partial(_plain_forward, window, 50_000), 50_000)),
            ("Threshold, one series", partial(sent.perturb, series), algorithm_1),
            ("Threshold, panel of 1,000", partial(sent.perturb_panel, panel), algorithm_1),
            ("noisy sort", partial(NoisySort(window, EPSILON).perturb, series), None),
        ]
        for name, work, plain in rows:
            found, _, over = _duel(work, algorithm_1)
            _, other, ratio = (found, 0.0, 0.0) if plain is None else _duel(work, plain)
            beside = ("", "") if plain is None else (other / 1e6, ratio)
            topic.rows.append((name, window, found / 1e6, *beside, over))
    topic.notes = [
        TURNS,
        "plain Python uses the `random` module, neither secure nor exact; ours draws whole numbers from AES-256",
        f"Threshold at a window of 200 is extended: no threshold has a derived budget of {EPSILON:g} there",
    ]
    return topic


def _duel(work: Callable[[], object], plain: Plain) -> tuple[float, ...]:
    return duel(work, plain[0], LENGTH, plain[1], rounds=5)


def _threshold_of(window: int) -> int:
    return Threshold(window, EPSILON).choice.threshold


def _plain_backward(window: int, length: int) -> list[int]:
    own = math.exp(EPSILON / 2) / (window - 1 + math.exp(EPSILON / 2))
    return [time if random.random() < own else max(0, time - random.randint(1, window - 1)) for time in range(length)]


def _plain_forward(window: int, length: int) -> list[int | None]:
    own = math.exp(EPSILON / 2) / (window - 1 + math.exp(EPSILON / 2))
    released: list[int | None] = [None] * (length + window)
    for time in range(length):
        released[time if random.random() < own else time + random.randint(1, window - 1)] = time
    return released


def _plain_threshold(window: int, threshold: int, length: int) -> list[int | None]:
    """Algorithm 1 as printed: the empty times of the window are counted at every step."""
    taken = [False] * (length + window)
    released: list[int | None] = [None] * (length + window)
    for time in range(length):
        empty = [slot for slot in range(time, time + window) if not taken[slot]]
        slot = random.choice(empty) if len(empty) > threshold or taken[time] else time
        taken[slot] = True
        released[slot] = time
    return released


def _plain_block(window: int, length: int) -> list[int]:
    odds = math.exp(EPSILON)
    released: list[int] = []
    for start in range(0, length, window):
        order = list(range(start, start + window))
        for place in range(1, window):
            if random.random() * (odds + place) >= odds:
                other = random.randrange(place)
                order[place], order[other] = order[other], order[place]
        released += order
    return released


if __name__ == "__main__":
    show(measure)

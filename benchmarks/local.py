"""Reports of devices, perturbed and collected: whole arrays here, one call a report elsewhere, and a plain loop."""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from collections.abc import Callable

import numpy as np

from benchmarks.harness import Topic, alone, peak, show
from chronodp.local import Collector, Fresh, LocalPlan, OptimizedUnary, RandomizedResponse, estimate, simulate

REPORTS = 10_000_000
FEW = 100_000
CHOICES = 32
EPSILON = 1.0


def measure() -> Topic:
    topic = Topic(
        f"{REPORTS // 1_000_000} million reports of {CHOICES} values perturbed and collected, one core",
        "python -m benchmarks.local",
        (
            "mechanism",
            "chronodp, s",
            "GiB",
            "million reports a second",
            "multi-freq-ldpy",
            "ratio",
            "plain loop",
            "ratio to it",
        ),
    )
    for name, plain in (("randomised response", _loop_response), ("optimised unary", _loop_unary)):
        loop, peer = FEW / _timed(plain) / 1e6, alone(_peer, name)
        for way, work in (("", _as_arrays), (", as records with ids", _as_records)):
            seconds, gibibytes = alone(work, name)
            mine = REPORTS / seconds / 1e6
            row = (name + way, seconds, gibibytes, mine, peer, mine / peer if peer else None, loop, mine / loop)
            topic.rows.append(tuple("not installed" if cell is None else cell for cell in row))
    topic.notes = [
        "seconds are of the processor",
        "chronodp: exact rational odds from AES-256, from values to frequencies; the peak of the whole process",
        "as records: reports with plan, slot and id; their shape is checked and duplicates are dropped",
        f"multi-freq-ldpy (compiled by numba) and the plain loop: {FEW:,} reports, floats compared with a fast "
        "generator, compilation not counted",
    ]
    return topic


def _mechanism(name: str) -> RandomizedResponse | OptimizedUnary:
    return RandomizedResponse(EPSILON, CHOICES) if name == "randomised response" else OptimizedUnary(EPSILON, CHOICES)


def _as_records(name: str) -> tuple[float, float]:
    plan = LocalPlan(name, _mechanism(name), Fresh(horizon=10))
    values = np.random.default_rng(1).integers(CHOICES, size=(REPORTS // 10, 10))
    began = time.process_time()
    collector = Collector(plan)
    collector.add(simulate(plan, values))
    estimate(plan, collector.tally)
    return time.process_time() - began, peak()


def _as_arrays(name: str) -> tuple[float, float]:
    mechanism = _mechanism(name)
    values = np.random.default_rng(1).integers(CHOICES, size=REPORTS)
    best = math.inf
    for _ in range(3):
        began = time.process_time()
        mechanism.law.frequencies(mechanism.support(mechanism.perturb(values)), REPORTS)
        best = min(best, time.process_time() - began)
    return best, peak()


def _peer(name: str) -> float | None:
    """Million reports a second of multi-freq-ldpy, one client call each, as its interface has it."""
    try:
        from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
        from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client
    except ImportError:
        return None
    values = np.random.default_rng(1).integers(CHOICES, size=FEW)

    def respond() -> None:
        GRR_Aggregator_MI([GRR_Client(value, CHOICES, EPSILON) for value in values], CHOICES, EPSILON)

    def encode() -> None:
        UE_Aggregator_MI([UE_Client(value, CHOICES, EPSILON, True) for value in values], EPSILON, True)

    work = respond if name == "randomised response" else encode
    work()
    return FEW / min(_timed(work) for _ in range(3)) / 1e6


def _loop_response() -> None:
    truth = math.exp(EPSILON) / (math.exp(EPSILON) + CHOICES - 1)
    counts: Counter[int] = Counter()
    for number in range(FEW):
        value = number % CHOICES
        if random.random() >= truth:
            other = random.randrange(CHOICES - 1)
            value = other + (other >= value)
        counts[value] += 1


def _loop_unary() -> None:
    chance = 1 / (math.exp(EPSILON) + 1)
    counts = [0] * CHOICES
    for number in range(FEW):
        held = number % CHOICES
        for value in range(CHOICES):
            counts[value] += random.random() < (0.5 if value == held else chance)


def _timed(work: Callable[[], None]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


if __name__ == "__main__":
    show(measure)

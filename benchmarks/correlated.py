"""Coupled sequences: exact leakage, certified bounds and releases at growing size, beside plain Laplace noise."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.harness import Topic, alone, peak, show
from chronodp.correlated import CouplingMarkovChain, Fran, LeakageModel, Mean, leakage
from chronodp.correlated.mixtures import largest_log_ratio
from chronodp.ledger import Ledger
from chronodp.privacy import Window
from chronodp.randomness import secure

SIZES: tuple[int, ...] = (1_000, 10_000, 100_000)
DEGREE = 8


def town(sequences: int, stay: float = 0.6) -> CouplingMarkovChain:
    """Binary sequences that hear themselves and seven others each."""
    chance = np.random.default_rng(1)
    others = chance.integers(0, sequences, size=(sequences, DEGREE - 1))
    tails = np.concatenate([np.arange(sequences)[:, None], others], axis=1)
    weights = np.broadcast_to([0.3, *[0.7 / (DEGREE - 1)] * (DEGREE - 1)], tails.shape)
    heads = np.repeat(np.arange(sequences), DEGREE)
    coupling = sparse.csr_array((weights.ravel(), (heads, tails.ravel())), shape=(sequences, sequences))
    return CouplingMarkovChain([[stay, 1 - stay], [1 - stay, stay]], coupling)


def measure() -> Topic:
    topic = Topic(
        f"Coupled sequences of degree {DEGREE}, binary, the mean at ε_C = 1: seconds by size",
        "python -m benchmarks.correlated",
        (
            "sequences",
            "set-up, s",
            "bound for all at age 1 / 3 / 6, s",
            "certified at age 1 / 3 / 6",
            "a release, ms",
            "plain noise on the same mean, ms",
            "ratio",
            "most memory, GiB",
        ),
    )
    for size in SIZES:
        topic.rows.append(alone(at_size, size))
    points = timed_points(20_000)
    topic.notes = [
        "every bound is for all sequences at once, against an adversary who knows the present of all others",
        "a release is aged, drawn, sealed, on disk and paid for; plain noise is neither stored nor paid for",
        f"exact leakage of two laws with 20,000 support points: {points * 1e3:.1f} ms",
    ]
    return topic


def at_size(size: int) -> tuple[object, ...]:
    begun = time.perf_counter()
    gauge = LeakageModel(town(size))
    _ = gauge.field, gauge.least
    setup = time.perf_counter() - begun
    seconds, bounds = [], []
    for age in (1, 3, 6):
        begun = time.perf_counter()
        bounds.append(leakage(gauge, query=Mean(), ages=age, epsilon=1.0).certified)
        seconds.append(time.perf_counter() - begun)
    released, plain = releases(gauge, size)
    return (
        f"{size:,}",
        setup,
        " / ".join(f"{part:.2f}" for part in seconds),
        " / ".join(f"{part:.3g}" for part in bounds),
        released * 1e3,
        plain * 1e3,
        released / plain,
        peak(),
    )


def releases(gauge: LeakageModel, size: int) -> tuple[float, float]:
    """Median seconds of a release of the stream, and of a mean with noise and nothing else."""
    chance, entropy = np.random.default_rng(2), secure()
    taken, plain = [], []
    with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "budget.db") as ledger:
        ledger.open("town", unit=Window(1, relation="replace"), epsilon=1.0)
        live = Fran(gauge, query=Mean(), ages=3, epsilon=1.0, ledger=ledger, dataset="town", name="live")
        for _ in range(30):
            snapshot = chance.integers(0, 2, size=size)
            begun = time.perf_counter()
            live.step(snapshot)
            taken.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            _ = (int(snapshot.sum()) << 20) + int(entropy.laplace(2.0**20, 1)[0])
            plain.append(time.perf_counter() - begun)
    return statistics.median(taken[5:]), statistics.median(plain[5:])


def timed_points(count: int) -> float:
    chance = np.random.default_rng(3)
    support, laws = chance.random(count), chance.dirichlet(np.ones(count), size=2)
    begun = time.perf_counter()
    largest_log_ratio(support, laws[0], laws[1], scale=0.5)
    return time.perf_counter() - begun


if __name__ == "__main__":
    if "--size" in sys.argv[1:]:
        SIZES = (int(sys.argv[sys.argv.index("--size") + 1]),)
    show(measure)

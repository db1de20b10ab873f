"""Lower bounds on epsilon from the same mechanisms and as many samples: here and by jax-privacy's auditor."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Topic, show
from chronodp.accounting import gaussian
from chronodp.audit import Allowance, AuditCase, Sampled
from chronodp.privacy import ApproximateCost, Claim, Cost, Event, GaussianCost, LaplaceCost, PureCost
from chronodp.randomness import Entropy, secure

SAMPLES = 20_000
ROUNDS = 25
ERROR = 0.05
DELTA = 1e-5
STEPS = 2**12
SIGMA = gaussian.sigma(1.0, DELTA)
ODDS = math.floor(2**40 * math.e / (1 + math.e))

Many = Callable[..., NDArray[np.int64]]


def laplace(value: int, count: int, *, entropy: Entropy) -> NDArray[np.int64]:
    return value * STEPS + entropy.laplace(STEPS, count)


def gauss(value: int, count: int, *, entropy: Entropy) -> NDArray[np.int64]:
    return value * STEPS + entropy.gaussian(SIGMA * STEPS, count)


def respond(value: int, count: int, *, entropy: Entropy) -> NDArray[np.int64]:
    return np.where(entropy.coins(ODDS, 2**40, count), value, 1 - value)


CASES: tuple[tuple[str, Many, Cost, float], ...] = (
    ("Laplace", laplace, LaplaceCost(1.0, 1.0), 0.0),
    ("randomised response", respond, PureCost(1.0), 0.0),
    ("Gaussian noise, δ = 1e-5", gauss, GaussianCost(1.0, SIGMA), DELTA),
    ("the same, known only as (1, 1e-5)", gauss, ApproximateCost(1.0, DELTA), DELTA),
)


def measure() -> Topic:
    topic = Topic(
        "Lower bounds on a true ε of 1, from the same samples, at an error of 5 %",
        "python -m benchmarks.audit",
        (
            "mechanism",
            "samples of each input",
            "chronodp",
            "seconds",
            "jax-privacy",
            "its strategy",
            "seconds ",
            "ratio",
        ),
    )
    for name, many, cost, delta in CASES:
        pools = [_pool(many) for _ in range(ROUNDS)]
        mine, pace = _mean(partial(_ours, many, cost, delta), pools)
        for label, strategy in _strategies().items():
            theirs, their_pace = _mean(partial(_theirs, strategy, delta), pools)
            topic.rows.append((name, SAMPLES, mine, pace, theirs, label, their_pace, mine / theirs))
        if not _strategies():
            topic.rows.append((name, SAMPLES, mine, pace, "not installed", "", "", ""))
    topic.notes = [
        f"means of {ROUNDS} runs; both use {SAMPLES:,} outputs of each input in all, choosing an event included",
        "jax-privacy: CanaryScoreAuditor.epsilon_clopper_pearson, two-sided",
        "a claim of Gaussian noise is held to its whole curve here; known only as (ε, δ), a rare event must be found",
    ]
    return topic


def _pool(many: Many) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    entropy = secure()
    return many(0, SAMPLES, entropy=entropy), many(1, SAMPLES, entropy=entropy)


def _ours(many: Many, cost: Cost, delta: float, pool: tuple[NDArray[np.int64], NDArray[np.int64]]) -> float:
    used = [0, 0]

    def next_of_pool(value: int, count: int, *, entropy: Entropy) -> NDArray[np.int64]:  # noqa: ARG001 (drawn before)
        used[value] += count
        return pool[value][used[value] - count : used[value]]

    case = AuditCase(
        name="tried",
        mechanism=lambda value, *, entropy: int(many(value, 1, entropy=entropy)[0]),
        many=next_of_pool,
        neighbours=((0, 1),),
        claim=Claim(Event(), cost, "here"),
        delta=delta,
    )
    # Each rule proves with samples of its own.
    rules = 2 if isinstance(cost, GaussianCost) else 1
    share = int(SAMPLES / (0.2 + 0.8 * rules))
    return Sampled().attack(case, Allowance(samples=share, error=ERROR)).lower


def _theirs(strategy: Any, delta: float, pool: tuple[NDArray[np.int64], NDArray[np.int64]]) -> float:
    from jax_privacy import auditing

    auditor = auditing.CanaryScoreAuditor(pool[1].astype(np.float64), pool[0].astype(np.float64))
    found: Any = auditor.epsilon_clopper_pearson(ERROR, delta, one_sided=False, threshold_strategy=strategy)
    return float(found)


def _strategies() -> dict[str, Any]:
    try:
        from jax_privacy import auditing
    except ImportError:
        return {}
    return {"Bonferroni": auditing.Bonferroni(), "Split": auditing.Split(), "MultiSplit": auditing.MultiSplit()}


def _mean(run: Callable[..., float], pools: list[Any]) -> tuple[float, float]:
    values, times = [], []
    for pool in pools:
        started = time.perf_counter()
        values.append(run(pool))
        times.append(time.perf_counter() - started)
    return statistics.fmean(values), statistics.fmean(times)


if __name__ == "__main__":
    show(measure)

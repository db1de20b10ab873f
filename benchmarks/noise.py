"""Samples of noise a second on one core: exact here, exact elsewhere, and numpy's, which can be attacked."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.harness import Topic, duel, rate, show
from chronodp.randomness import secure

SCALE = 1000.3
SIZES = (10, 100, 1_000, 10_000, 1_000_000)


def measure_choices() -> Topic:
    topic = Topic(
        "Choices, million a second on one core, n = 1,000,000",
        "python -m benchmarks.noise --choices",
        ("choice", "chronodp", "numpy (unsafe)", "ratio"),
    )
    entropy, unsafe, size = secure(), np.random.default_rng(), 1_000_000
    exponents = np.full(size, 0.7)
    for name, ours, theirs in (
        ("integers below 1,000", lambda: entropy.integers(1000, size), lambda: unsafe.integers(1000, size=size)),
        ("coins 1/3", lambda: entropy.coins(1, 3, size), lambda: unsafe.random(size) < 1 / 3),
        (
            "coins e^-0.7",
            lambda: entropy.exponential_coins(exponents),
            lambda: unsafe.random(size) < np.exp(-exponents),
        ),
        (
            "places in permutations of 100",
            lambda: entropy.permutations(100, size // 100),
            lambda: unsafe.permuted(np.broadcast_to(np.arange(100), (size // 100, 100)), axis=1),
        ),
    ):
        mine, other, ratio = duel(ours, theirs, size, rounds=5)
        topic.rows.append((name, mine / 1e6, other / 1e6, ratio))
    return topic


def measure() -> Topic:
    topic = Topic(
        "Noise, million samples a second on one core",
        "python -m benchmarks.noise",
        ("noise", "n", "chronodp", "numpy (unsafe)", "ratio to numpy", "OpenDP", "ratio to OpenDP", "python-dp"),
    )
    entropy, unsafe = secure(), np.random.default_rng()
    peers = {"laplace": (_opendp("laplace"), _pydp("laplace")), "gaussian": (_opendp("gaussian"), _pydp("gaussian"))}
    for kind, ours, theirs in (
        ("laplace", entropy.laplace, unsafe.laplace),
        ("gaussian", entropy.gaussian, unsafe.normal),
    ):
        opendp, pydp = (peer and rate(peer, 2_000, seconds=0.5) / 1e6 for peer in peers[kind])
        for size in SIZES:
            mine, numpy_rate, ratio = duel(partial(ours, SCALE, size), partial(theirs, 0.0, SCALE, size), size)
            over = mine / 1e6 / opendp if opendp else None
            row = (kind, size, mine / 1e6, numpy_rate / 1e6, ratio, opendp, over, pydp)
            topic.rows.append(tuple("not installed" if cell is None else cell for cell in row))
    topic.notes = [
        "chronodp: exact floor(s Z + 1/2) on the integers, AES-256-CTR keyed by the operating system",
        "numpy: PCG64 in floating point, an attacker can tell inputs apart by the low bits of outputs",
        "OpenDP: vector of 2,000 integers; python-dp: one call a sample, as its interface has it",
        "ratio to numpy: the median of rounds run turn by turn; the rates are each one's best round",
    ]
    return topic


def _opendp(kind: str) -> Callable[[], object] | None:
    try:
        import opendp.prelude as dp
    except ImportError:
        return None
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=int))
    if kind == "laplace":
        mechanism = dp.m.make_laplace(domain, dp.l1_distance(T=int), scale=SCALE)
    else:
        mechanism = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=SCALE)
    return partial(mechanism, [0] * 2_000)


def _pydp(kind: str) -> Callable[[], object] | None:
    try:
        from pydp.distributions import GaussianDistribution, LaplaceDistribution
    except ImportError:
        return None
    made = LaplaceDistribution(epsilon=1.0, sensitivity=SCALE) if kind == "laplace" else GaussianDistribution(SCALE)
    return lambda: [made.sample() for _ in range(2_000)]


if __name__ == "__main__":
    show(measure_choices if "--choices" in sys.argv[1:] else measure)

"""Choices a second, for few and many candidates: exact here, OpenDP's noisy maximum, and numpy's, which is neither."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import TURNS, Topic, duel, show
from chronodp.privacy import User
from chronodp.randomness import secure
from chronodp.selection import (
    ChoiceDesign,
    ChoiceMechanism,
    ExponentialMechanism,
    MonotoneUtilities,
    NoisyMax,
    PermuteAndFlip,
    design_choice,
    pick,
    pick_runs,
)

COUNTS = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
ROWS = 1_000  # choices made in one call
MOST_OPENDP = 10_000


def measure() -> Topic:
    topic = Topic(
        "Private choices a second on one core, without the ledger",
        "python -m benchmarks.selection",
        ("candidates", "mechanism", "chronodp", "numpy (unsafe)", "ratio to numpy", "OpenDP", "ratio to OpenDP"),
    )
    entropy, unsafe = secure(), np.random.default_rng()
    for count in COUNTS:
        counts = np.random.default_rng(1).poisson(100, count)
        peer = _opendp(counts) if count <= MOST_OPENDP else None
        plain = partial(_plain, counts, unsafe)
        for mechanism in (PermuteAndFlip(), ExponentialMechanism(), NoisyMax()):
            ours = partial(pick, *_ours(mechanism, counts), entropy)
            mine, other, ratio = duel(ours, plain, 1, rounds=5)
            cells = duel(ours, peer, 1, rounds=5)[1:] if peer else ("not measured", "")
            topic.rows.append((count, str(mechanism), mine, other, ratio, *cells))
    for count in (10, 100):
        rows = np.random.default_rng(1).poisson(100, (ROWS, count))
        for mechanism in (PermuteAndFlip(), ExponentialMechanism(), NoisyMax()):
            design, _ = _ours(mechanism, rows[0])
            together = partial(pick_runs, design, rows.reshape(-1), np.full(ROWS, count), entropy)
            mine, other, ratio = duel(together, partial(_plain_rows, rows, unsafe), ROWS, rounds=5)
            topic.rows.append((count, f"{mechanism}, {ROWS:,} at once", mine, other, ratio, "not measured", ""))
    topic.notes = [
        TURNS,
        "monotone counts around 100, epsilon 1; choosing from utilities that are there already",
        "numpy: the largest after floating-point exponential noise; an attacker can see through it",
        f"OpenDP: make_noisy_max with exponential noise, up to {MOST_OPENDP:,} candidates, if it is installed",
    ]
    return topic


def _ours(mechanism: ChoiceMechanism, counts: NDArray[np.int64]) -> tuple[ChoiceDesign, MonotoneUtilities]:
    names = tuple(str(number) for number in range(len(counts)))
    design = design_choice(mechanism, names, unit=User(), change=1.0, monotone=True, epsilon=1.0)
    return design, MonotoneUtilities(counts, change=1.0)


def _plain(counts: NDArray[np.int64], unsafe: np.random.Generator) -> int:
    return int(np.argmax(counts + unsafe.exponential(1.0, len(counts))))


def _plain_rows(rows: NDArray[np.int64], unsafe: np.random.Generator) -> NDArray[np.int64]:
    return np.asarray(np.argmax(rows + unsafe.exponential(1.0, rows.shape), axis=1))


def _opendp(counts: NDArray[np.int64]) -> Callable[[], object] | None:
    try:
        import opendp.prelude as dp
    except ImportError:
        return None
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=int))
    mechanism = dp.m.make_noisy_max(domain, dp.linf_distance(T=int, monotonic=True), dp.max_divergence(), scale=1.0)
    return partial(mechanism, counts.tolist())


if __name__ == "__main__":
    show(measure)

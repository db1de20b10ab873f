"""Running totals step by step: error beside a binary tree and naive noise, and speed beside a plain loop."""

from __future__ import annotations

import math
import sys
import time
from functools import partial

import numpy as np

from benchmarks.harness import Topic, rate, show
from chronodp.privacy import Event
from chronodp.randomness import secure
from chronodp.series import RunningTotal
from chronodp.series.recursion import Recursion
from chronodp.series.shapes import BufferedLinear, SquareRoot, White, errors_of, lower_bound, reach_of
from chronodp.series.shapes.buffered_table import buffers_near
from chronodp.series.stream_design import design_stream

LENGTHS = (2**10, 2**14, 2**17, 2**20)


def measure() -> Topic:
    topic = Topic(
        "Running totals: root mean squared error, mean / largest, for sensitivity 1 and noise multiplier 1",
        "python -m benchmarks.continual",
        ("shape", *(f"2^{int(math.log2(length))}" for length in LENGTHS), "largest over the limit at 2^20"),
    )
    limits = [lower_bound(length) for length in LENGTHS]
    for name, errors in (
        ("theoretical limit (mean)", [(limit, math.nan) for limit in limits]),
        ("buffers, best mean", [_best(length, 0) for length in LENGTHS]),
        ("buffers, best largest", [_best(length, 1) for length in LENGTHS]),
        ("square root", [_of(SquareRoot(RunningTotal()), length) for length in LENGTHS]),
        ("binary tree", [_binary_tree(length) for length in LENGTHS]),
        ("independent noise, added up", [_of(White(), length) for length in LENGTHS]),
    ):
        cells = [f"{mean:.3f}" + ("" if math.isnan(largest) else f" / {largest:.3f}") for mean, largest in errors]
        topic.rows.append((name, *cells, "" if math.isnan(errors[-1][1]) else errors[-1][1] / limits[-1]))
    topic.notes = [
        "computed, not simulated; one period a person; binary tree: the textbook's, Gaussian noise on every block sum",
        "others would use the binary tree, or fresh noise at every step",
    ]
    return topic


def measure_speed() -> Topic:
    topic = Topic(
        "Streams of running totals, secure noise, one core: without the ledger",
        "python -m benchmarks.continual --speed",
        ("what", "million values a second", "ratio to a plain loop"),
    )
    design = design_stream(
        RunningTotal(),
        unit=Event(),
        change=1.0,
        horizon=2**20,
        max_periods=None,
        keys=1,
        max_groups=1,
        epsilon=1.0,
        delta=1e-6,
    )
    shape = design.shape
    if not isinstance(shape, BufferedLinear):
        raise TypeError(shape)
    entropy, recursion, scale = secure(), Recursion(shape), design.noise.scale / design.noise.step
    entropy.gaussian(scale, 10**6)

    def ahead(steps: int, keys: int) -> None:
        recursion.advance(recursion.start(keys), entropy.gaussian(scale, (steps, keys)))

    loop = rate(lambda: _plain_loop(shape, entropy.gaussian(scale, 2000).tolist()), 2000, seconds=1.0)
    for name, steps, keys in (("one stream, steps of 2^20", 2**20, 1), ("a million streams, one step", 1, 10**6)):
        work = partial(ahead, steps, keys)
        found = max(rate(work, steps * keys, seconds=1.0) for _ in range(3))
        topic.rows.append((name, found / 1e6, found / loop))
    topic.rows.append(("a plain Python loop", loop / 1e6, 1.0))
    begun = time.perf_counter()
    ahead(2**20, 1)
    topic.notes = [f"the noise of a release of 2^20 periods takes {time.perf_counter() - begun:.2f} s"]
    return topic


def _best(length: int, which: int) -> tuple[float, float]:
    return min((_of(shape, length) for shape in buffers_near(length, 1).values()), key=lambda errors: errors[which])


def _of(shape: White | SquareRoot | BufferedLinear, length: int) -> tuple[float, float]:
    errors = errors_of(RunningTotal(), shape, length)
    reach = reach_of(shape, length).l2(1, together=True)
    return errors.rmse_mean * reach, errors.rmse_max * reach


def _binary_tree(length: int) -> tuple[float, float]:
    """A total at t adds as many blocks as t has ones; a person is in one block of each level."""
    levels = int(math.log2(length)) + 1
    ones = np.bitwise_count(np.arange(1, length + 1))
    return math.sqrt(float(ones.mean()) * levels), math.sqrt(float(ones.max()) * levels)


def _plain_loop(shape: BufferedLinear, draws: list[int]) -> list[int]:
    buffers, noise = [0.0] * len(shape.theta), []
    for draw in draws:
        amount = draw - round(sum(weight * buffer for weight, buffer in zip(shape.omega, buffers, strict=True)))
        buffers = [decay * buffer + amount for decay, buffer in zip(shape.theta, buffers, strict=True)]
        noise.append(amount)
    return noise


if __name__ == "__main__":
    show(measure_speed if "--speed" in sys.argv[1:] else measure)

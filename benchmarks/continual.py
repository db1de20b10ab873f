"""Running totals step by step: error beside a binary tree and naive noise, and speed beside a plain loop."""

from __future__ import annotations

import math
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import TURNS, Topic, duel, rate, show
from chronodp.dataset import Aggregate
from chronodp.ledger import Ledger
from chronodp.privacy import Event
from chronodp.randomness import secure
from chronodp.series import RunningTotal
from chronodp.series.recursion import Recursion
from chronodp.series.shapes import (
    Banded,
    BufferedLinear,
    Shape,
    SquareRoot,
    Tree,
    White,
    errors_of,
    lower_bound,
    reach_of,
)
from chronodp.series.shapes.buffered_table import buffers_near
from chronodp.series.shapes.candidates import trees
from chronodp.series.stream_design import design_stream

LENGTHS = (2**10, 2**14, 2**17, 2**20)


def measure() -> Topic:
    topic = Topic(
        "Running totals: root mean squared error, mean / largest, for sensitivity 1 and noise multiplier 1",
        "python -m benchmarks.continual",
        ("shape", *(f"2^{int(math.log2(length))}" for length in LENGTHS), "largest over the limit at 2^20"),
        everywhere=True,
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
    for name, pure in (
        ("pure epsilon 1: tree with subtraction", [_pure_tree(length) for length in LENGTHS]),
        ("pure epsilon 1: independent noise, added up", [_pure_white(length) for length in LENGTHS]),
    ):
        topic.rows.append((name, *(f"{mean:.3f} / {largest:.3f}" for mean, largest in pure), ""))
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
        recursion.shape_draws(recursion.start(keys), entropy.gaussian(scale, (steps, keys)))

    def loop() -> None:
        _plain_loop(shape, entropy.gaussian(scale, 2000).tolist())

    loops = []
    for name, steps, keys in (
        ("one stream, steps of 2^20", 2**20, 1),
        ("one stream, steps of 2^10", 2**10, 1),
        ("a thousand streams, one step", 1, 10**3),
        ("a million streams, one step", 1, 10**6),
    ):
        found, plain, ratio = duel(partial(ahead, steps, keys), loop, steps * keys, 2000)
        loops.append(plain)
        topic.rows.append((name, found / 1e6, ratio))
    topic.rows.append(("a plain Python loop", max(loops) / 1e6, 1.0))
    topic.notes = [
        TURNS,
        f"a release of 2^20 periods tuned for running totals, plan, ledger and all: {_release():.2f} s of it",
    ]
    return topic


def _release() -> float:
    with tempfile.TemporaryDirectory() as home, Ledger(Path(home) / "budget.db") as ledger:
        ledger.open("totals", unit=Event(), epsilon=1.0, delta=1e-6)
        totals = np.ones(2**20)
        begun = time.process_time()
        plan = Aggregate(totals, change=1.0, unit=Event()).plan(epsilon=1.0, delta=1e-6, tuned_for=RunningTotal())
        plan.release(ledger, dataset="totals", request="all")
        return time.process_time() - begun


def measure_peer() -> Topic:
    topic = Topic(
        "Running totals beside jax-privacy's matrix factorisation, noise multiplier 1",
        "python -m benchmarks.continual --peer",
        ("by", "error at 2^10, mean / largest", "error at 2^14", "seconds to design, 2^14", "million steps a second"),
    )
    begun = time.perf_counter()
    ours = [_best(length, 1) for length in (2**10, 2**14)]
    shape = min(buffers_near(2**14, 1).values(), key=lambda shape: _of(shape, 2**14)[1])
    seconds, entropy, recursion = time.perf_counter() - begun, secure(), Recursion(shape)

    def work() -> None:
        recursion.shape_draws(recursion.start(), entropy.gaussian(2.0**24, (2**17, 1)))

    work()
    pairs = [f"{mean:.3f} / {largest:.3f}" for mean, largest in ours]
    topic.rows.append(("chronodp", *pairs, seconds, max(rate(work, 2**17, seconds=1.0) for _ in range(3)) / 1e6))
    topic.rows.append(_jax_buffers())
    topic.rows.append(_jax_bands())
    topic.notes = [
        "each library's own choice for the least largest error; errors computed by ours, sensitivity included",
        "chronodp looks its buffers up in a table that it ships; jax-privacy optimises on the spot",
        "steps: chronodp exact whole numbers, secure noise; jax-privacy a compiled scan in floating point, warm, with "
        "noise that is not secure",
    ]
    return topic


def _jax_buffers() -> tuple[Any, ...]:
    name = "jax-privacy, buffers"
    try:
        import jax
        from jax_privacy.matrix_factorization import buffered_toeplitz
    except ImportError:
        return (name, *["not installed"] * 4)
    jax.config.update("jax_enable_x64", True)
    short = buffered_toeplitz.optimize(n=2**10)
    begun = time.perf_counter()
    long = buffered_toeplitz.optimize(n=2**14)
    seconds = time.perf_counter() - begun
    cells = []
    for found, length in ((short, 2**10), (long, 2**14)):
        theirs = BufferedLinear(tuple(map(float, found.buf_decay)), tuple(map(float, found.output_scale)))
        mean, largest = _of(theirs, length)
        cells.append(f"{mean:.3f} / {largest:.3f}")
    inverse = long.inverse_as_streaming_matrix()

    def noise(key: Any) -> Any:
        draws = jax.random.normal(key, (2**17,))
        return jax.lax.scan(partial(_swapped, inverse.multiply_next), inverse.init_multiply(draws[0]), draws)[1]

    compiled = jax.jit(noise)

    def work() -> None:
        compiled(jax.random.key(1)).block_until_ready()

    work()
    return (name, *cells, seconds, max(rate(work, 2**17, seconds=1.0) for _ in range(3)) / 1e6)


def _swapped(multiply: Callable[[Any, Any], tuple[Any, Any]], state: Any, value: Any) -> tuple[Any, Any]:
    result, after = multiply(value, state)
    return after, result


def _jax_bands() -> tuple[Any, ...]:
    name = "jax-privacy, 64 bands, 2^10"
    try:
        from jax_privacy.matrix_factorization import toeplitz
    except ImportError:
        return (name, *["not installed"] * 4)
    begun = time.perf_counter()
    column = np.asarray(toeplitz.optimize_banded_toeplitz(2**10, 64), dtype=np.float64)
    seconds = time.perf_counter() - begun
    mean, largest = _of(Banded(tuple(map(float, column / column[0]))), 2**10)
    return (name, f"{mean:.3f} / {largest:.3f}", "", f"{seconds:.3g} at 2^10", "")


def _best(length: int, which: int) -> tuple[float, float]:
    return min((_of(shape, length) for shape in buffers_near(length, 1).values()), key=lambda errors: errors[which])


def _of(shape: Shape, length: int) -> tuple[float, float]:
    errors = errors_of(RunningTotal(), shape, length)
    reach = reach_of(shape, length).l2(1, together=True)
    return errors.rmse_mean * reach, errors.rmse_max * reach


def _pure_tree(length: int) -> tuple[float, float]:
    return min(_pure(tree, length) for tree in trees(length))


def _pure_white(length: int) -> tuple[float, float]:
    return _pure(White(), length)


def _pure(shape: Tree | White, length: int) -> tuple[float, float]:
    errors = errors_of(RunningTotal(), shape, length)
    scale = math.sqrt(2) * float(reach_of(shape, length).l1(1)[0])
    return errors.rmse_mean * scale, errors.rmse_max * scale


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
    wanted = {"--speed": measure_speed, "--peer": measure_peer}
    show(next((made for option, made in wanted.items() if option in sys.argv[1:]), measure))

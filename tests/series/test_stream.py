"""Live streams: what the noise is, that it can be told back, and that nothing is lost or released twice."""

from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from tests import forkserver
from tests.conftest import Trials
from tests.series.shapes.matrices import tree_matrices

import chronodp as cdp
from chronodp.errors import BudgetExhausted, InvalidArgument, MissingBound, StreamConflict
from chronodp.ledger.keys import Keys
from chronodp.privacy import RecordUnit
from chronodp.randomness import seeded
from chronodp.series.branching import Branching
from chronodp.series.endless import LONGEST_STREAM
from chronodp.series.recursion import BLOCK, Recursion
from chronodp.series.shapes.buffered import BufferedLinear
from chronodp.series.shapes.buffered_table import endless_buffers
from chronodp.series.shapes.tree import Tree
from chronodp.series.stream_design import StreamDesign, design_stream

SHAPES = [BufferedLinear((0.99, 0.6), (0.1, 0.3)), *endless_buffers().values()]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as opened:
        opened.open("doors", unit=cdp.Event(), epsilon=1e4, delta=1e-6)
        opened.open("people", unit=cdp.User(), epsilon=1e4, delta=1e-6)
        yield opened


def opened(store: cdp.Ledger, workload: Any = None, **changes: Any) -> cdp.Stream:
    options: dict[str, Any] = {
        "horizon": 100, "change": 1.0, "unit": cdp.Event(), "epsilon": 1.0, "delta": 1e-6, "ledger": store,
        "dataset": "doors", "name": "door",
    }  # fmt: skip
    return cdp.Stream(cdp.RunningTotal() if workload is None else workload, **(options | changes))


def designed(
    unit: RecordUnit, *, horizon: int | None = 400, max_periods: int | None = None, **changes: Any
) -> StreamDesign:
    options: dict[str, Any] = {"change": 2.0, "keys": 1, "max_groups": 1, "epsilon": 1.0, "delta": 1e-4}
    return design_stream(cdp.RunningTotal(), unit=unit, horizon=horizon, max_periods=max_periods, **(options | changes))


class TestBranching:
    @pytest.mark.parametrize(("arity", "horizon"), [(3, 13), (3, 40), (5, 100), (7, 171), (13, 400)])
    def test_the_noise_is_that_of_the_tree_however_steps_are_cut(self, arity: int, horizon: int) -> None:
        """Unit vectors instead of draws show which draw goes where: as in the tree, each block has one of its own."""
        chance = np.random.default_rng(arity)
        expected = tree_matrices(Tree(arity), horizon)[1]
        for largest in (1, 7, horizon):
            keys, used = 8 * horizon, 0

            def draw(size: tuple[int, int], keys: int = keys) -> NDArray[np.int64]:
                nonlocal used
                rows = np.zeros(size, dtype=np.int64)
                rows[np.arange(size[0]), used + np.arange(size[0])] = 1
                used += size[0]
                assert used <= keys
                return rows

            tree = Branching(Tree(arity), horizon)
            memory, noise, at = tree.start(keys), [], 0
            assert len(memory) == Tree(arity).memory(horizon)
            while at < horizon:
                size = min(int(chance.integers(1, largest + 1)), horizon - at)
                memory, part = tree.advance(memory, at, size, draw)
                noise.append(part)
                at += size
            totals = np.cumsum(np.concatenate(noise), axis=0)
            found = totals[:, totals.any(axis=0)]
            assert sorted(map(tuple, found.T.tolist())) == sorted(map(tuple, expected.T.tolist()))

    def test_every_neighbour_moves_draws_by_no_more_than_is_stated(self) -> None:
        """Blocks that reach beyond the present are among them: later steps may be chosen after seeing answers."""
        design = designed(cdp.User(), horizon=40, max_periods=2, delta=0.0, change=1.0)
        assert isinstance(design.shape, Tree)
        sums = tree_matrices(design.shape, 40)[0]
        for first, second in itertools.combinations(range(40), 2):
            for signs in ((1, 1), (1, -1)):
                moved = np.abs(sums[:, first] * signs[0] + sums[:, second] * signs[1]).sum()
                assert moved <= design.noise.sensitivity
        assert design.noise.sensitivity < 1.001 * 2 * np.abs(sums).sum(axis=0).max()


class TestRecursion:
    @pytest.mark.parametrize("shape", SHAPES, ids=str)
    def test_shaping_is_undone_by_the_shape_within_the_bound(self, shape: BufferedLinear) -> None:
        chance = np.random.default_rng(1)
        recursion, length = Recursion(shape), 3 * BLOCK + 7
        draws = np.rint(chance.normal(size=(length, 3)) * 2**27).astype(np.int64)
        buffers, noise, at = recursion.start(3), [], 0
        while at < length:  # calls of any size
            size = int(chance.choice([1, 2, 31, 33, BLOCK, 2000]))
            buffers, part = recursion.shape_draws(buffers, draws[at : at + size])
            noise.append(part)
            at += size
        column = shape.coefficients(length)
        for key in range(3):
            back = np.convolve(column, np.concatenate(noise)[:, key].astype(np.float64))[:length]
            missed = np.abs(back - draws[:, key]).max()
            assert missed < recursion.rounding_bound(length, 2.0**27)
            assert missed > 0.3  # rounding is there, so the bound is not idle

    @pytest.mark.slow
    @pytest.mark.parametrize("unit", [cdp.Event(), cdp.User(), cdp.Window(3), cdp.User("replace")], ids=str)
    def test_neighbours_need_draws_that_differ_by_no_more_than_is_stated(
        self, unit: RecordUnit, trials: Trials
    ) -> None:
        """For one output the draws behind it, told back exactly, are compared: this is the whole privacy argument."""
        design = designed(unit, max_periods=3 if isinstance(unit, cdp.User) else None)
        assert isinstance(design.shape, BufferedLinear)
        chance, step = np.random.default_rng(2), design.noise.step
        drawn = []
        for _ in range(trials(1000, least=30)):
            values = chance.uniform(-5, 5, 400)
            other = values.copy()
            touched = 1 if isinstance(unit, cdp.Event) else 3
            start = int(chance.integers(0, 398)) if chance.random() < 0.7 else 0
            where = (
                np.arange(start, min(start + touched, 400))
                if isinstance(unit, cdp.Window)
                else (chance.choice(400, touched, replace=False) if chance.random() < 0.5 else np.arange(touched))
            )
            sign = chance.choice([-1, 1], len(where)) if unit.relation == "replace" else 1
            other[where] += 2.0 * sign
            drawn.append((np.rint(chance.normal(size=400) * 2**20).astype(np.int64), values, other))
        # One column a trial: telling back goes step by step.
        output, one, neighbour = (np.column_stack(part) for part in zip(*drawn, strict=True))
        apart = told_back(design, output, one) - told_back(design, output, neighbour)
        worst = float(np.linalg.norm(apart.astype(np.float64), axis=0).max()) * step / design.noise.sensitivity
        assert 0.4 < worst <= 1

    def test_the_check_catches_a_shape_that_forgets(self) -> None:
        design = designed(cdp.Event())
        assert isinstance(design.shape, BufferedLinear)
        flat = np.zeros((400, 1))
        bumped = flat.copy()
        bumped[0] = 2.0
        output = np.zeros((400, 1), np.int64)
        apart = told_back(design, output, flat) - told_back(design, output, bumped)
        length = float(np.linalg.norm(apart.astype(np.float64))) * design.noise.step
        assert 2.0 < length <= design.noise.sensitivity  # more than the bare change: white noise would not be enough


def told_back(design: StreamDesign, output: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the draws that turn values into an output, step by step, each column by itself."""
    shape = design.shape
    if not isinstance(shape, BufferedLinear):
        raise TypeError(shape)
    noise = output - np.rint(values / design.noise.step).astype(np.int64)
    columns = noise.shape[1]
    buffers, omega, theta = np.zeros((len(shape.theta), columns)), np.array(shape.omega), np.array(shape.theta)[:, None]
    draws = np.empty_like(noise)
    for at, amount in enumerate(noise):
        draws[at] = amount + np.rint(omega @ buffers).astype(np.int64)
        buffers = theta * buffers + amount
    again = Recursion(shape)
    state = again.start(columns)
    for at in range(len(draws)):
        state, part = again.shape_draws(state, draws[at : at + 1])
        assert np.array_equal(part[0], noise[at])
    return draws


@pytest.mark.parametrize(
    "workload",
    [cdp.RunningTotal(), cdp.EachPeriod(), cdp.Rolling(5), cdp.Ewm(0.2), cdp.Filter((1.0, -0.5, 0.25))],
    ids=str,
)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_answers_are_right_and_intervals_hold_at_their_level(
    workload: Any, delta: float, ledger: cdp.Ledger, trials: Trials
) -> None:
    keys, horizon, level = trials(20_000, least=4000), 12, 0.9
    live = opened(ledger, workload, horizon=horizon, keys=keys, max_groups=1, delta=delta, entropy=seeded(5))
    values = np.tile(np.arange(1.0, horizon + 1)[:, None], (1, keys))
    first = live.steps(values[:5], level=level)
    later = live.steps(values[5:], level=level)
    response = workload.response(horizon)
    truth = np.convolve(response, values[:, 0])[:horizon]
    found = np.concatenate((first.value, later.value))
    below = (np.concatenate((first.upper, later.upper)) < truth[:, None]).mean(axis=1)
    above = (np.concatenate((first.lower, later.lower)) > truth[:, None]).mean(axis=1)
    exact = live.design.noise.law == "gaussian" or isinstance(workload, cdp.RunningTotal | cdp.EachPeriod)
    for tail in (*below, *above):
        count = round(float(tail) * keys)
        assert stats.binom.sf(count - 1, keys, (1 - level) / 2) > 1e-9
        assert not exact or stats.binom.cdf(count, keys, (1 - level) / 2) > 1e-9
    spread = found.std(axis=1)
    stated = np.sqrt(live.design.variances(np.arange(1.0, horizon + 1))) * live.design.noise.deviation
    assert spread == pytest.approx(stated, rel=6 * math.sqrt(3 / keys))
    assert abs(spread / stated - 0.9).min() > 0.02  # noise of nine tenths would be noticed


def test_an_endless_stream_is_nearly_as_good_as_one_that_knows_its_end() -> None:
    endless = designed(cdp.Event(), horizon=None, change=1.0)
    steps = np.array([2.0**20])
    variance = float(endless.variances(steps)[0]) * (endless.noise.sensitivity) ** 2
    assert variance <= 1.1 * 30.0 * 1.02  # the square root that knows the end has 30.0; rounding may add 2 %
    assert endless.length == LONGEST_STREAM


def test_a_pure_endless_stream_beats_independent_noise() -> None:
    endless = designed(cdp.Event(), horizon=None, change=1.0, delta=0.0)
    assert isinstance(endless.shape, Tree)
    steps = np.arange(2.0**20 - 1000, 2.0**20)
    error = math.sqrt(float(endless.variances(steps).mean())) * endless.noise.deviation
    assert error < 70 < math.sqrt(2 * 2**20) / 20


def test_resuming_goes_on_where_it_stood(ledger: cdp.Ledger) -> None:
    live = opened(ledger)
    live.steps(np.ones(10))
    again = cdp.Stream.resume(ledger, "door")
    assert again.period == 10
    assert again.design == live.design
    again.step(1.0)
    with pytest.raises(StreamConflict, match="has gone on past step 10"):
        live.step(1.0)  # the older one may not release step 10 a second time
    assert len(ledger.released_steps("door")) == 11
    assert not again.certificate.seeded
    assert cdp.Stream.resume(ledger, "door", entropy=seeded(1)).certificate.seeded


def test_a_finished_stream_stays_finished(ledger: cdp.Ledger) -> None:
    live = opened(ledger, horizon=3)
    with pytest.raises(StreamConflict, match="3 are left"):
        live.steps(np.ones(4))
    live.steps(np.ones(3))
    assert live.finished
    for stream in (live, cdp.Stream.resume(ledger, "door")):
        with pytest.raises(StreamConflict, match="0 are left"):
            stream.step(1.0)


def test_steps_come_one_after_another(ledger: cdp.Ledger) -> None:
    live = opened(ledger)
    live.step(1.0, period=0)
    with pytest.raises(StreamConflict, match="was released before"):
        live.step(1.0, period=0)
    with pytest.raises(StreamConflict, match=r"skip\(\) counts them as 0"):
        live.step(1.0, period=5)
    assert live.period == 1
    assert live.steps([]).value.shape == (0,)
    assert live.skip(4).period.tolist() == [1, 2, 3, 4]
    assert live.step(1.0, period=5).period == 5
    with pytest.raises(InvalidArgument, match="count"):
        live.skip(0)


def test_whole_numbers_beyond_floats_move_no_farther_than_they_changed(ledger: cdp.Ledger) -> None:
    """A float of 2^53 + 3 is 2^53 + 4: rounding on the way would double what one unit changes."""
    for first in (2**53 + 2, 2**60, 2**70, -(2**65)):
        made = []
        for number, value in enumerate((first, first + 1)):
            live = opened(
                ledger,
                cdp.EachPeriod(),
                name=f"from {first} {number}".replace("-", "minus "),
                delta=0.0,
                entropy=seeded(3),
                epsilon=1e-3,
            )
            made.append(live.step(value).value)
        assert abs(made[1] - made[0]) <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"horizon": 2**24, "unit": cdp.User(), "max_periods": 2**24, "epsilon": 0.1, "dataset": "people"},
        {"horizon": 100, "epsilon": 1e-8},
        {"horizon": None, "unit": cdp.Window(2**21), "delta": 1e-6, "dataset": "windows"},
    ],
    ids=str,
)
def test_a_stream_that_opens_can_step(changes: dict[str, Any], ledger: cdp.Ledger) -> None:
    ledger.open("windows", unit=cdp.Window(2**21), epsilon=10.0, delta=1e-6)
    live = opened(ledger, **({"delta": 0.0} | changes))
    assert math.isfinite(live.step(1.0).value)


@pytest.mark.slow
def test_noise_that_cannot_be_drawn_is_refused_before_it_is_paid_for(ledger: cdp.Ledger) -> None:
    with pytest.raises(InvalidArgument, match="noise this wide"):
        opened(ledger, horizon=2**24, unit=cdp.User(), max_periods=2**24, epsilon=1e-6, dataset="people", delta=0.0)
    assert ledger.status("people").charges == 0


def test_values_that_are_no_numbers_are_refused_and_nothing_is_released(
    ledger: cdp.Ledger, subtests: pytest.Subtests
) -> None:
    live = opened(ledger)
    cases: list[Any] = [[1, [2, 3]], float("nan"), float("inf"), "7", None, [[1.0, 2.0]], object(), True]
    for bad in cases:
        with subtests.test(bad=bad):
            with pytest.raises(InvalidArgument, match="values must be finite numbers"):
                live.step(bad)
            assert live.period == 0
            assert ledger.released_steps("door") == []


def test_what_cannot_be_opened_costs_nothing(ledger: cdp.Ledger, subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], type[Exception]]] = [
        ({"unit": cdp.User(), "dataset": "people"}, MissingBound),
        ({"unit": cdp.User(), "dataset": "people", "horizon": None}, MissingBound),
        ({"max_periods": 3}, InvalidArgument), ({"unit": cdp.Window(200)}, InvalidArgument),
        ({"horizon": 0}, InvalidArgument), ({"horizon": 2**40}, InvalidArgument), ({"change": 0.0}, InvalidArgument),
        ({"epsilon": -1.0}, InvalidArgument), ({"delta": 1.0}, InvalidArgument), ({"keys": 0}, InvalidArgument),
        ({"max_groups": 2}, InvalidArgument), ({"ledger": "budget.db"}, InvalidArgument),
        ({"entropy": 3}, InvalidArgument), ({"workload": cdp.Hierarchy((24,))}, InvalidArgument),
        ({"epsilon": 1e6}, BudgetExhausted),
    ]  # fmt: skip
    for changes, kind in cases:
        with subtests.test(changes=changes, kind=kind):
            workload = changes.pop("workload", None)
            with pytest.raises(kind):
                opened(ledger, workload, **changes)
            assert ledger.status("doors").charges == 0
    opened(ledger)
    with pytest.raises(StreamConflict, match="exists"):
        opened(ledger)
    assert ledger.status("doors").charges == 1


def test_the_noise_is_sealed(ledger: cdp.Ledger, tmp_path: Path) -> None:
    live = opened(ledger)
    live.steps(np.zeros(5))
    assert live._state.buffers.tobytes() not in (tmp_path / "budget.db").read_bytes()
    assert "buffers" not in repr(live)
    with cdp.Ledger(tmp_path / "other.db", keys=tmp_path / "others.keys") as other:
        assert other.public_key != ledger.public_key
    with pytest.raises(cdp.errors.KeysMismatch, match="those of another ledger"):
        cdp.Ledger(tmp_path / "budget.db", keys=tmp_path / "others.keys")
    ledger._opened = replace(ledger._opened, keys=Keys.create())
    with pytest.raises(cdp.errors.LedgerUnavailable):
        cdp.Stream.resume(ledger, "door")


VICTIM = """
import sys, chronodp as cdp
ledger = cdp.Ledger(sys.argv[1])
try:
    live = cdp.Stream.resume(ledger, "door")
except cdp.errors.StreamConflict:
    live = cdp.Stream(cdp.RunningTotal(), horizon=100000, change=1.0, unit=cdp.Event(), epsilon=1.0, delta=1e-6,
                      ledger=ledger, dataset="doors", name="door")
print("ready", live.period, flush=True)
while True:
    made = live.step(1.0)
    print(f"{made.period} {made.value!r}", flush=True)  # written whole or not at all
"""


@pytest.mark.kill
def test_kill_at_any_moment_loses_nothing_and_repeats_nothing(
    ledger: cdp.Ledger, tmp_path: Path, trials: Trials
) -> None:
    chance = np.random.default_rng()
    announced: dict[int, str] = {}
    for _ in range(trials(100, least=4)):
        process = forkserver.start("-c", VICTIM, str(tmp_path / "budget.db"))
        assert process.stdout.readline().split()[:1] == ["ready"]
        lines = [process.stdout.readline() for _ in range(int(chance.integers(0, 6)))]
        time.sleep(float(chance.uniform(0.0, 0.02)))
        process.kill()
        for line in (*lines, *process.stdout.read().splitlines()):
            period, _, value = line.strip().partition(" ")
            assert int(period) not in announced  # no step was announced twice
            announced[int(period)] = value
        process.wait()
        process.close()
    live = cdp.Stream.resume(ledger, "door")
    stored = [json.loads(text)[0] for text in ledger.released_steps("door")]
    assert len(stored) == live.period >= len(announced) > 0
    totals = np.cumsum(np.array(stored) * live.design.noise.step)
    for at, shown in announced.items():
        assert float(shown) == pytest.approx(totals[at], rel=1e-9, abs=1e-6)
    assert ledger.status("doors").charges == 1

"""Blurred streams: the same law as a finished series, durable, and paid for only where there is a promise."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chronodp as cdp
from chronodp.audit.exact import outcomes
from chronodp.errors import BudgetExhausted, InvalidArgument, StreamConflict, UnitMismatch
from chronodp.privacy import AssumedCost, Certificate, Swap
from chronodp.randomness import Entropy, seeded
from chronodp.temporal import Backward, BlockShuffle, BlurredStream, DispatchStatement, Forward, Threshold
from chronodp.temporal.mechanisms import Online
from chronodp.temporal.online import advance, start
from tests import forkserver
from tests.conftest import Trials

EVERY: list[Online] = [
    BlockShuffle(3, 0.8),
    Backward(3, 0.8),
    Forward(3, 0.8),
    Threshold(3, 1.0),
    Threshold(4, 0.5),
    Threshold(3, 1.0, start="printed"),
    Threshold(4, 0.5, start="printed"),
]
ACCEPTED = ("times are not protected",)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as opened:
        opened.open("watch", unit=Swap(3), epsilon=2.0)
        opened.open("loose", unit=Swap(3), epsilon=2.0, accepts=ACCEPTED)
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", EVERY, ids=str)
def test_steps_have_the_law_of_the_finished_series(mechanism: Online) -> None:
    length = 4 if isinstance(mechanism, Threshold) else 5

    def stepwise(entropy: Entropy) -> object:
        state, shown = start(mechanism, entropy), []
        for value in range(length):
            state, slots = advance(mechanism, state, value, entropy)
            shown += slots
        return [slot[0] if slot else None for slot in shown]

    def whole(entropy: Entropy) -> object:
        values = mechanism.perturb(np.arange(length), entropy=entropy).values.tolist()
        return values[:3] if isinstance(mechanism, BlockShuffle) else values

    first, second = outcomes(stepwise).probabilities, outcomes(whole).probabilities
    assert first.keys() == second.keys()
    assert len(first) > 5
    for output, chance in first.items():
        assert float(chance) == pytest.approx(float(second[output]), abs=1e-15)


def test_a_block_is_released_at_its_end_and_the_stream_goes_on(ledger: cdp.Ledger) -> None:
    live = BlurredStream(BlockShuffle(3, 1.0), ledger=ledger, dataset="watch", name="pulse")
    made = [live.step(value) for value in (70, 71.5, float("nan"), 73)]
    assert [len(part.values) for part in made] == [0, 0, 3, 0]
    assert made[2].first == 0
    assert sorted(map(str, made[2].values)) == ["70", "71.5", "nan"]
    again = BlurredStream.resume(ledger, "pulse")
    assert again.period == 4
    again.step(1)
    with pytest.raises(StreamConflict, match="has gone on past"):
        live.step(1)
    rest = BlurredStream.resume(ledger, "pulse").finish()
    assert rest.first == 3
    assert sorted(rest.values) == [1, 73]
    assert all(rest.filled)
    with pytest.raises(StreamConflict, match="finished"):
        BlurredStream.resume(ledger, "pulse").step(1)
    assert "73" not in repr(again) + repr(again._snapshot) + repr(again._state)


def test_it_pays_once_when_it_opens(ledger: cdp.Ledger) -> None:
    BlurredStream(BlockShuffle(3, 1.5), ledger=ledger, dataset="watch", name="one")
    assert ledger.status("watch").largest_pure == pytest.approx(0.5, abs=1e-5)
    with pytest.raises(BudgetExhausted):
        BlurredStream(BlockShuffle(3, 1.0), ledger=ledger, dataset="watch", name="two")
    with pytest.raises(UnitMismatch, match="says nothing about"):
        BlurredStream(BlockShuffle(4, 0.1), ledger=ledger, dataset="watch", name="two")
    wide = BlurredStream(BlockShuffle(6, 0.25), ledger=ledger, dataset="watch", name="wide")
    assert isinstance(wide.promise, Certificate)
    assert "TLDP" in str(wide.promise)


@pytest.mark.parametrize("mechanism", [Backward(3, 1.0), Forward(3, 1.0), Threshold(3, 1.0)], ids=str)
def test_the_papers_mechanisms_run_only_where_that_was_accepted(mechanism: Online, ledger: cdp.Ledger) -> None:
    with pytest.raises(UnitMismatch, match="times are not protected"):
        BlurredStream(mechanism, ledger=ledger, dataset="watch", name="no")
    live = BlurredStream(mechanism, ledger=ledger, dataset="loose", name="yes", entropy=seeded(1))
    made = [live.step(value) for value in range(50)]
    assert [part.first for part in made] == list(range(50))
    rest = live.finish()
    shown = [value for part in (*made, rest) for value in part.values if value is not None]
    assert set(shown) <= set(range(50))
    if isinstance(mechanism, Threshold):
        assert sorted(shown) == list(range(50))  # what waited is released at the end
        assert rest.first == 50
    statement = live.promise
    assert isinstance(statement, DispatchStatement)
    assert "SEEDED" in str(statement)
    assert "TLDP" not in str(statement)
    assert "marginal dispatch budget" in str(statement)
    assert ledger.status("loose").largest_pure == pytest.approx(2.0, abs=1e-5)
    cost = ledger.history("loose")[0].cost
    assert isinstance(cost, AssumedCost)
    assert cost.assumption.name == ACCEPTED[0]


def test_channels_and_bad_values(ledger: cdp.Ledger) -> None:
    live = BlurredStream(BlockShuffle(3, 0.0), ledger=ledger, dataset="watch", name="two")
    made = [live.step(value) for value in ([70, "a"], [71, "b"], np.array([72, 5]))]
    assert {tuple(value) for value in made[-1].values} == {(70, "a"), (71, "b"), (72, 5)}
    for bad in (object(), {"secret": 1}, [[1]]):
        with pytest.raises(InvalidArgument, match="value must be a number") as refused:
            live.step(bad)
        assert "secret" not in str(refused.value)
    wrong: Any = "shuffle"
    with pytest.raises(InvalidArgument, match="mechanism must be"):
        BlurredStream(wrong, ledger=ledger, dataset="watch", name="x")
    with pytest.raises(InvalidArgument, match="ledger must be a Ledger"):
        BlurredStream(BlockShuffle(3, 1.0), ledger=wrong, dataset="watch", name="x")


@pytest.mark.kill
def test_kill_at_any_moment_loses_nothing_and_repeats_nothing(tmp_path: Path, trials: Trials) -> None:
    points = ("step written", "step committed")
    for number in range(trials(40, least=4)):
        died = forkserver.run("-m", "tests.temporal.victim", str(tmp_path), points[number % 2], str(3 + number % 5))
        assert died.returncode == -signal.SIGKILL, died.stderr
        told = [json.loads(line) for line in (tmp_path / "told.txt").read_text(encoding="utf-8").splitlines()]
        with cdp.Ledger(tmp_path / "budget.db") as opened:
            kept = [json.loads(text) for text in opened.released_steps("pulse")]
            assert BlurredStream.resume(opened, "pulse").period == len(kept)
            assert opened.status("watch").charges == 1
        released = [slot[0] for step in kept for slot in step]
        announced = {first + place: value for first, values in told for place, value in enumerate(values)}
        assert len(announced) == sum(len(values) for _, values in told)  # no period was told twice
        assert all(released[period] == value for period, value in announced.items())
        for block in range(0, len(released), 3):
            assert sorted(released[block : block + 3]) == list(range(block, block + 3))

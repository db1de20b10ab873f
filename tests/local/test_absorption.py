"""Adaptive asking: nobody twice in a window, better than even division, and devices that hold it to that."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.local import (
    Absorption,
    Collector,
    Device,
    Fresh,
    LocalPlan,
    OneBit,
    OptimizedUnary,
    WindowAsked,
    WindowPopulation,
    estimate,
    simulate,
    start,
)
from chronodp.local.device import Refused
from chronodp.randomness import seeded

WINDOW, DEVICES, SLOTS = 10, 20_000, 60
ASK = OptimizedUnary(1.0, 64)


def town() -> NDArray[np.int64]:
    """A third of the devices change once, two thirds of the way."""
    table = np.repeat((np.arange(DEVICES) ** 2 % 97 % 64)[:, None], SLOTS, axis=1)
    table[: DEVICES // 3, 40:] = 3
    return table


def run(table: NDArray[np.int64], seed: int) -> tuple[NDArray[np.float64], list[NDArray[np.int64]]]:
    plan, entropy = LocalPlan("asked", ASK, WindowAsked(WINDOW)), seeded(seed)
    asking = Absorption(plan, devices=len(table), entropy=entropy)
    released, asked = [], []
    for slot in range(table.shape[1]):
        assert asking.slot == slot
        lookers = asking.look()
        chosen = asking.decide(ASK.perturb(table[lookers, slot], entropy=entropy))
        released.append(asking.release(ASK.perturb(table[chosen, slot], entropy=entropy)))
        asked.append(np.concatenate((lookers, chosen)))
    return np.array(released), asked


@pytest.mark.slow
def test_nobody_is_asked_twice_within_a_window() -> None:
    for seed in range(5):
        _, asked = run(town(), seed)
        for first in range(SLOTS - WINDOW + 1):
            together = np.concatenate(asked[first : first + WINDOW])
            assert np.bincount(together, minlength=1).max() <= 1
            assert len(together) <= DEVICES


@pytest.mark.slow
def test_absorbing_is_more_precise_than_dividing_evenly() -> None:
    table = town()
    truth = np.array([np.bincount(table[:, slot], minlength=64) for slot in range(SLOTS)]) / DEVICES
    adaptive = np.mean([np.mean((run(table, seed)[0] - truth) ** 2) for seed in range(4)])
    plan = LocalPlan("even", ASK, WindowPopulation(WINDOW))
    errors = []
    for seed in range(4):
        collector = Collector(plan, slots=range(SLOTS))
        collector.add(simulate(plan, table, entropy=seeded(seed)))
        errors.append(np.mean((estimate(plan, collector.tally).values - truth) ** 2))
    assert adaptive < 0.75 * np.mean(errors)


def test_devices_refuse_a_collector_that_asks_too_often(tmp_path: Path) -> None:
    plan = LocalPlan("asked", ASK, WindowAsked(WINDOW)).compiled
    start(tmp_path / "me.json", plan)
    mine = Device(tmp_path / "me.json", plan)
    assert mine.send(2, slot=5) is not None
    with pytest.raises(Refused, match="budget: 1 reports within 10 slots are all there may be"):
        mine.send(2, slot=14)
    assert mine.send(2, slot=15) is not None
    assert mine.spent == 2


def test_what_absorption_refuses() -> None:
    for plan in (LocalPlan("x", ASK, Fresh(3)), LocalPlan("x", OneBit(1.0), WindowAsked(3))):
        with pytest.raises(InvalidArgument, match="one that names values and asks with WindowAsked"):
            Absorption(plan, devices=100)
    with pytest.raises(InvalidArgument, match="devices must be a whole number of at least 6"):
        Absorption(LocalPlan("x", ASK, WindowAsked(3)), devices=5)
    silent = Absorption(LocalPlan("x", ASK, WindowAsked(3)), devices=60)
    silent.look()
    assert len(silent.decide(np.zeros((0, 8), dtype=np.uint8))) == 0
    assert silent.release(np.zeros((0, 8), dtype=np.uint8)).tolist() == [1 / 64] * 64

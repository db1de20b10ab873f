"""Claims about reports from devices, and collectors that go by what they hear or are lied to."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.devices.absorption import Absorption
from experiments.devices.claims import claims
from experiments.devices.robustness import influence_of
from numpy.typing import NDArray
from tests.experiments.rooms import check_room, check_words, find_all, series, stated
from tests.local.test_collector import PLANS, collected

from chronodp.audit.exact import examine
from chronodp.errors import InvalidArgument
from chronodp.local import (
    Collector,
    Fresh,
    LocalPlan,
    OneBit,
    OptimizedUnary,
    RandomizedResponse,
    WindowAsked,
    WindowPopulation,
    estimate,
    simulate,
)
from chronodp.local.numbers import Number
from chronodp.randomness import Entropy, seeded

pytestmark = pytest.mark.slow

WINDOW, DEVICES, SLOTS = 10, 20_000, 60
ASK = OptimizedUnary(1.0, 64)


@stated
def test_what_is_true_of_one_report_is_not_of_many() -> None:
    findings = find_all(claims(series()))
    check_words(findings, "devices.json", {})
    assert {one.word for one in findings.values()} == {"as expected"}
    assert len(findings) == 10
    check_room(findings, "devices", "textbook.local_reports")


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


def test_nobody_is_asked_twice_within_a_window() -> None:
    for seed in range(5):
        _, asked = run(town(), seed)
        for first in range(SLOTS - WINDOW + 1):
            together = np.concatenate(asked[first : first + WINDOW])
            assert np.bincount(together, minlength=1).max() <= 1
            assert len(together) <= DEVICES


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


def test_absorbing_tells_no_more_of_a_window_than_one_answer() -> None:
    """Four devices and two slots, every outcome walked; one device differs within the window."""
    mechanism = RandomizedResponse(0.7, 2)
    plan = LocalPlan("asked", mechanism, WindowAsked(2))

    def ask(histories: tuple[tuple[int, ...], ...], *, entropy: Entropy) -> object:
        asking = Absorption(plan, devices=len(histories), entropy=entropy)
        told: list[object] = []

        def answers(devices: NDArray[np.int64], slot: int) -> NDArray[np.uint32]:
            held = np.array([histories[device][slot] for device in devices], dtype=np.int64)
            made = mechanism.perturb(held, entropy=entropy)
            told.append((tuple(devices.tolist()), tuple(made.tolist())))
            return made

        for slot in range(2):
            asking.release(answers(asking.decide(answers(asking.look(), slot)), slot))
        return tuple(told)

    others = ((0, 0), (1, 1), (0, 1))
    pairs = [(((0, 0), *others), ((1, 1), *others)), (((0, 1), *others), ((1, 0), *others))]
    assert examine(ask, pairs).epsilon == pytest.approx(0.7, rel=1e-12)


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


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_lies_move_estimates_as_far_as_stated_and_no_farther(plan: LocalPlan) -> None:
    """Half of the reports are replaced by the worst that their owners could send."""
    influence = influence_of(plan)
    devices, lying = 2_000, 0.5
    numbers = isinstance(plan.mechanism, Number)
    honest = np.zeros((devices, 1), dtype=int)
    records = simulate(plan, honest, entropy=seeded(4))
    liars = records[: devices // 2]
    if numbers:
        amounts = [(float(plan.mechanism.amounts(np.array([one]))[0]), one) for one in plan.mechanism.extremes()]  # type: ignore[union-attr]
        liars["answer"] = max(amounts)[1]
    elif plan.name == "response":
        liars["answer"] = 3
    elif plan.name == "unary":
        liars["answer"] = 0b0001_1111
    else:  # a hash under which the answer's bucket is that of value 3
        multiplier, shift, buckets = 12345, 678, plan.mechanism.buckets  # type: ignore[union-attr]
        liars["answer"] = [multiplier, shift, (multiplier * 3 + shift) % (2**31 - 1) % buckets]
    made = estimate(plan, collected(plan, records))
    place, truth = (0, 0.0) if numbers else (3, 0.0)
    lower, upper = made.interval(1 - 1e-9)
    widened = influence.widen(lower, upper, lying)
    assert lower[0, place] > truth  # the plain interval is fooled
    assert widened[0][0, place] <= truth <= widened[1][0, place]
    assert (
        made.values[0, place] > 0.9 * lying * influence.up + truth - 5 * made.deviations[0, place]
    )  # and nearly as far
    with pytest.raises(InvalidArgument, match="lying must be a number from 0 to 1"):
        influence.widen(lower, upper, 1.5)

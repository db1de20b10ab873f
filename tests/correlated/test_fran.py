"""The mechanism: enumerated through its public call, paid for, resumed after crashes, refusing what it must."""

from __future__ import annotations

import json
import math
import signal
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import chronodp as cdp
from chronodp.audit.exact import compare_outcomes, examine, outcomes
from chronodp.correlated import (
    CouplingMarkovChain,
    Fran,
    LeakageModel,
    Maximum,
    Mean,
    Several,
    Sum,
    WeightedSum,
    leakage,
)
from chronodp.correlated.fran import (
    FranDesign,
    FranState,
    about_the_present,
    advance,
    begin,
    design_fran,
    largest_epsilon,
)
from chronodp.errors import (
    BudgetExhausted,
    InvalidArgument,
    MissingBound,
    StreamConflict,
    UnitMismatch,
    UnknownDocument,
)
from chronodp.privacy import AssumedCost, Window, dump, load
from chronodp.randomness import Entropy, seeded
from tests import forkserver
from tests.conftest import Trials
from tests.correlated.chains import two

RECORD = Window(1, relation="replace")
NAMES = count()


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as opened:
        opened.open("ward", unit=RECORD, epsilon=1e6)
        yield opened


def coarse(epsilon: float = 4.0, ages: tuple[int, ...] = (1, 2)) -> FranDesign:
    """Two sequences, whole numbers: every outcome can be walked."""
    return FranDesign(Sum(), 2, 2, ages, (epsilon,), RECORD, None, 1.0)


def law(design: FranDesign, snapshots: tuple[tuple[int, ...], ...], entropy: Entropy) -> tuple[float, ...]:
    state, told = begin(design), []
    for snapshot in snapshots:
        state, released = advance(design, state, snapshot, entropy)
        told.append(-1.0 if released is None else float(np.clip(released[0], -2, 5)))
    return tuple(told)


@pytest.mark.parametrize(("shrink", "caught"), [(1.0, False), (1.1, True)])
@pytest.mark.slow
def test_a_record_is_read_by_one_release_and_costs_epsilon(shrink: float, caught: bool) -> None:
    # Releases of three periods; the record changed is read at different ages by different sequences.
    design = coarse(4.0 * shrink)
    base = ((0, 1), (1, 1), (0, 0), (1, 0))
    unchanged = outcomes(partial(law, design, base))
    for period, sequence in ((0, 0), (0, 1), (1, 0), (1, 1)):
        changed = tuple(
            tuple(1 - state if (t, j) == (period, sequence) else state for j, state in enumerate(snapshot))
            for t, snapshot in enumerate(base)
        )
        finding = compare_outcomes([(unchanged, outcomes(partial(law, design, changed)))])
        read = period + design.ages[sequence] in (2, 3)
        assert finding.refutes(4.0) is (caught and read)
        assert finding.epsilon == pytest.approx(4.0 * shrink if read else 0.0, abs=1e-9)


@pytest.mark.slow
def test_the_stream_itself_under_the_auditor(ledger: cdp.Ledger) -> None:
    def release(record: int, *, entropy: Entropy) -> float:
        name = f"s{next(NAMES)}"
        model = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], [[1.0]])
        coarse = replace(design_fran(model, query=Sum(), ages=1, epsilon=2.0), step=1.0)  # so that it can be enumerated
        live = Fran.open(coarse, ledger=ledger, dataset="ward", name=name, entropy=entropy)
        live.step([record])
        value: float = live.step([0]).value
        return value

    finding = examine(release, [(0, 1)])
    assert finding.epsilon == pytest.approx(2.0, abs=1e-9)
    assert not finding.refutes(2.0)


def test_answers_are_of_the_aged_states() -> None:
    states = np.random.default_rng(1).integers(0, 3, size=(12, 4))
    for query, plain in (
        (Mean(), np.mean),
        (Sum(scores=(0.0, 2.0, 7.0)), lambda z: np.array([0.0, 2.0, 7.0])[z].sum()),
        (WeightedSum((1.0, -1.0, 0.5, 0.0)), lambda z: z @ np.array([1.0, -1.0, 0.5, 0.0])),
        (Maximum(), np.max),
    ):
        # Noise of a fraction of a step rounds to none.
        design = FranDesign(query, 4, 3, (0, 1, 2, 3), (1e7,), RECORD, None, 2.0**-10)
        state = begin(design)
        for t in range(12):
            state, released = advance(design, state, states[t], seeded(t))
            assert (released is None) == (t < 3)
            if released is not None:
                assert released[0] == pytest.approx(plain(states[[t, t - 1, t - 2, t - 3], range(4)]), abs=4 * 2.0**-10)


def test_what_is_paid_and_what_is_said(ledger: cdp.Ledger) -> None:
    live = Fran(two(0.75), query=Mean(), ages=2, epsilon=0.5, ledger=ledger, dataset="ward", name="a")
    status = ledger.status("ward")
    assert status.charges == 1
    certificate = live.certificate
    assert certificate.guarantee.epsilon == 0.5  # of the record, whatever the model says of the present
    assert not certificate.guarantee.assumptions
    assert live.present.knows_others < 0.09
    assert f"{live.present.knows_others:.4g} about a present" in certificate.mechanism
    many = leakage(two(0.75), query=Mean(), ages=2, epsilon=0.5, releases=5)
    assert live.present.later is not None
    assert live.present.knows_others <= live.present.later
    assert f"any later one {live.present.later:.4g}" in certificate.mechanism
    assert live.present.all_releases is not None
    assert many.certified <= live.present.all_releases == pytest.approx(np.log(49 / 9))
    claim = live.present.claim
    assert isinstance(claim.cost, AssumedCost)
    with pytest.raises(UnitMismatch):  # an assumed cost never adds to a budget that does not accept it
        ledger.spend("ward", claim.cost, unit=RECORD)
    assert "SEEDED" not in str(certificate)
    marked = Fran(
        two(0.75), query=Mean(), ages=2, epsilon=0.5, ledger=ledger, dataset="ward", name="b", entropy=seeded(1)
    )
    assert str(marked.certificate).startswith("SEEDED")
    assert Fran.resume(ledger, "b").certificate.seeded


@pytest.mark.parametrize(
    ("unit", "epsilon", "horizon", "expected"),
    [
        (RECORD, 0.5, None, 0.5),
        (Window(7, relation="replace"), 0.5, None, 3.5),
        (Window(7, relation="replace"), 0.5, 5, 1.5),  # three releases in all, as the first two periods are too young
        (cdp.User(relation="replace"), 0.5, 12, 5.0),
        (Window(3, relation="replace"), (0.1, 0.5, 0.1, 0.4), None, 1.0),  # the dearest three in a row
        (Window(9, relation="replace"), (0.1, 0.5), None, 2.9),
    ],
)
def test_the_price_of_a_unit(unit: Window | cdp.User, epsilon: object, horizon: int | None, expected: float) -> None:
    design = design_fran(two(0.75), query=Mean(), ages=2, epsilon=epsilon, unit=unit, horizon=horizon)  # type: ignore[arg-type]
    assert design.epsilon == pytest.approx(expected)
    assert cdp.accounting.basic.epsilon(design.cost, 0.0) == pytest.approx(expected)
    assert load(dump(design), FranDesign) == design


def test_noise_that_changes_over_time_is_used_in_turn() -> None:
    design = design_fran(two(0.75), query=Mean(), ages=1, epsilon=(0.5, 1.0))
    assert [design.epsilon_at(step) for step in (1, 2, 3)] == [0.5, 1.0, 0.5]
    assert about_the_present(two(0.75), design).knows_others == pytest.approx(
        leakage(two(0.75), query=Mean(), ages=1, epsilon=1.0).certified
    )


@pytest.mark.parametrize("adversary", ["knows_others", "knows_none"])
def test_a_target_gets_the_largest_epsilon_that_keeps_it(adversary: str) -> None:
    gauge = LeakageModel(two(0.6))
    for query, ages in ((Mean(), 2), (WeightedSum((1.0, 0.3)), (1, 3)), (Maximum(), 1)):
        found = largest_epsilon(gauge, query=query, ages=ages, target=0.1, adversary=adversary)  # type: ignore[arg-type]
        told = [
            leakage(gauge, query=query, ages=ages, epsilon=found * more, adversary=adversary)  # type: ignore[arg-type]
            for more in (1.0, 1.001)
        ]
        assert told[0].certified <= 0.1 * (1 + 1e-5) < told[1].certified
    with pytest.raises(InvalidArgument, match="target must be larger"):
        largest_epsilon(gauge, query=Mean(), ages=0, target=1e-9, adversary="knows_others")
    # Where the present is forgotten altogether no noise is needed: the largest that is offered.
    forgets = CouplingMarkovChain([[0.5, 0.5], [0.5, 0.5]], [[1.0]])
    assert largest_epsilon(forgets, query=Mean(), ages=1, target=0.1, adversary="knows_others") == 50.0


def test_what_cannot_be_opened(ledger: cdp.Ledger) -> None:
    good = {"query": Mean(), "ages": 1, "epsilon": 1.0, "ledger": ledger, "dataset": "ward", "name": "x"}
    for change, error, said in (
        ({"epsilon": None}, InvalidArgument, "one of the two"),
        ({"target": 0.1}, InvalidArgument, "one of the two"),
        ({"epsilon": ()}, InvalidArgument, "several to be used in turn"),
        ({"epsilon": 1e-9}, InvalidArgument, "cannot be drawn exactly"),
        ({"ages": 5, "horizon": 5}, InvalidArgument, "below the horizon, 5"),
        ({"unit": Window(3)}, InvalidArgument, "relation='replace'"),
        ({"unit": cdp.Event()}, InvalidArgument, "relation='replace'"),
        ({"unit": cdp.User(relation="replace")}, MissingBound, "horizon is missing"),
        ({"query": "mode"}, InvalidArgument, "query must be"),
        ({"ledger": "budget.db"}, InvalidArgument, "a Ledger"),
        ({"entropy": 7}, InvalidArgument, "entropy must be"),
        ({"unit": Window(10**6, relation="replace"), "epsilon": 10.0}, BudgetExhausted, "cannot pay"),
    ):
        with pytest.raises(error, match=said):
            Fran(two(0.75), **{**good, **change})  # type: ignore[arg-type]
    assert ledger.status("ward").charges == 0
    with pytest.raises(InvalidArgument, match="a model of 2 sequences"):
        about_the_present(CouplingMarkovChain([[0.5, 0.5], [0.5, 0.5]], [[1.0]]), coarse())


def test_snapshots_that_are_none_release_nothing_and_are_not_told(ledger: cdp.Ledger) -> None:
    live = Fran(two(0.75), query=Mean(), ages=0, epsilon=1.0, ledger=ledger, dataset="ward", name="x", horizon=3)
    for snapshot in ([0, 7351], [0], [[0, 1]], [0.5, 1.0], ["7351", "0"], None, [0, -7351], [[1], [2, 3]]):
        with pytest.raises(InvalidArgument, match="snapshot must be 2 whole numbers") as refused:
            live.step(snapshot)  # type: ignore[arg-type]
        assert "7351" not in str(refused.value)
    assert live.period == 0
    for _ in range(3):
        assert live.step([0, 1]).value is not None
    with pytest.raises(StreamConflict, match="ended"):
        live.step([0, 1])


def test_several_answers_share_one_price() -> None:
    both = Several((Mean(), Maximum()))
    design = design_fran(two(0.75), query=both, ages=1, epsilon=1.0)
    assert design.sensitivity * design.step == pytest.approx(1.5)  # ½ of the mean and 1 of the maximum
    state, _ = advance(design, begin(design), [0, 1], seeded(1))
    _, released = advance(design, state, [0, 1], seeded(1))
    assert released is not None
    assert released.shape == (2,)


def test_states_survive_storage_and_damage_is_noticed() -> None:
    chance = np.random.default_rng(2)
    for states, sequences, rows in ((2, 9, 3), (3, 5, 0), (5, 13, 7), (300, 4, 2)):
        state = FranState(rows + 4, chance.integers(0, states, size=(rows, sequences)))
        stored = state.to_bytes(states)
        again = FranState.from_bytes(stored)
        assert (again.step, again.past.tolist()) == (state.step, state.past.tolist())
        for damaged in (stored[:-1], stored + b"0", b"x" + stored[1:], b""):
            with pytest.raises(UnknownDocument):
                FranState.from_bytes(damaged)
    assert "snapshots" in repr(FranState(2, np.ones((2, 3), dtype=np.int64)))
    with pytest.raises(InvalidArgument, match="state must be"):
        advance(coarse(), FranState(5, np.ones((1, 2), dtype=np.int64)), [0, 1], seeded(1))


VICTIM = """
import os, signal, sys
import chronodp as cdp
from chronodp.correlated import CouplingMarkovChain, Fran, Mean
from chronodp.errors import StreamConflict

left = int(sys.argv[3])

def reached(point):
    global left
    if point == sys.argv[2]:
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

model = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], [[0.75, 0.25], [0.25, 0.75]])
with cdp.Ledger(sys.argv[1] + "/budget.db", reached=reached) as ledger, open(sys.argv[1] + "/told.txt", "a") as told:
    ledger.open("ward", unit=cdp.Window(1, relation="replace"), epsilon=1.0)
    try:
        live = Fran.resume(ledger, "live")
    except StreamConflict:
        live = Fran(model, query=Mean(), ages=2, epsilon=1.0, ledger=ledger, dataset="ward", name="live")
    for _ in range(4):
        made = live.step([live.period % 2, 1])
        print(made.period, made.value, file=told, flush=True)
"""


@pytest.mark.kill
def test_killed_anywhere_no_period_is_released_twice_and_none_unpaid(tmp_path: Path, trials: Trials) -> None:
    points = ("stream written", "stream committed", "step written", "step committed")
    for number in range(trials(24, least=len(points))):
        point = points[number % len(points)] if number < 2 else points[2 + number % 2]
        died = forkserver.run("-c", VICTIM, str(tmp_path), point, str(1 + number % 3 if number > 1 else 1))
        assert died.returncode == -signal.SIGKILL, died.stderr
    told = [line.split() for line in (tmp_path / "told.txt").read_text().splitlines()]
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        released = [json.loads(value) for value in ledger.released_steps("live")]
        assert ledger.status("ward").charges == 1
        live = Fran.resume(ledger, "live")
        assert live.period == len(released)
        assert live._state.past[:, 0].tolist() == [(live.period - 2) % 2, (live.period - 1) % 2]
    assert len({period for period, _ in told}) == len(told)
    for period, value in told:
        assert released[int(period)] == (None if value == "None" else [float(value)])
    assert released[:2] == [None, None]
    assert all(math.isfinite(value[0]) for value in released[2:])

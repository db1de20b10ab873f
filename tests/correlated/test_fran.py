"""The mechanism: enumerated through its public call, paid for, resumed after crashes, refusing what it must."""

from __future__ import annotations

import json
import math
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

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
    simulate,
)
from chronodp.correlated.bounds import aged_distances, from_distance
from chronodp.correlated.fran import (
    FranDesign,
    FranState,
    about_the_present,
    advance,
    begin,
    design_fran,
    largest_epsilon,
)
from chronodp.correlated.joint import JointChain
from chronodp.correlated.query import QueryTable, tabulate
from chronodp.correlated.tuning import (
    certified_leakage,
    freshness,
    screen,
    segment,
    share_over_time,
    tune,
    tune_affine,
    tune_each,
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
from tests.correlated.chains import draw, two

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
import sys
import chronodp as cdp
from chronodp.correlated import Fran, Mean
from chronodp.errors import StreamConflict
from tests.correlated.chains import two
from tests.killing import die_at

reached = die_at(sys.argv[2], int(sys.argv[3]))
with cdp.Ledger(sys.argv[1] + "/budget.db", reached=reached) as ledger, open(sys.argv[1] + "/told.txt", "a") as told:
    ledger.open("ward", unit=cdp.Window(1, relation="replace"), epsilon=1.0)
    try:
        live = Fran.resume(ledger, "live")
    except StreamConflict:
        live = Fran(two(0.75), query=Mean(), ages=2, epsilon=1.0, ledger=ledger, dataset="ward", name="live")
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


def by_theorem_1(gauge: LeakageModel, _: QueryTable, ages: NDArray[np.int64], epsilon: float) -> float:
    # The reference takes d = 2 for both sequences, coupled or not.
    return 2 * float(aged_distances(JointChain(gauge.model), ages).max()) * epsilon


def by_mended_theorem(gauge: LeakageModel, _: QueryTable, ages: NDArray[np.int64], epsilon: float) -> float:
    return float(from_distance(aged_distances(JointChain(gauge.model), ages), np.full(2, 2 * epsilon)).max())


@pytest.mark.slow
def test_optima_of_the_papers_problem(golden: Any) -> None:
    objectives = {"paper": by_theorem_1, "sound": by_mended_theorem, "exact": certified_leakage()}
    gauges: dict[str, LeakageModel] = {}
    for key, expected in golden("csdp/P1_optima.json")["optima"].items():
        coupling, error, kind = (part.partition("=")[2] or part for part in key.split(","))
        gauge = gauges.setdefault(coupling, LeakageModel(two(float(coupling))))
        found = tune(gauge, query=Mean(), error=float(error), objective=objectives[kind])
        assert found.ages == (expected["A"],) * 2
        assert found.epsilon == pytest.approx(expected["eps_C"], rel=1e-9)
        assert found.leakage == pytest.approx(expected["eps_S"], rel=1e-6, abs=1e-11)
        assert found.stale == pytest.approx(expected["B"], abs=1e-12)


@pytest.mark.slow
def test_optima_with_affine_reading(golden: Any) -> None:
    for key, ages in golden("csdp/P1_postprocessed.json")["table"].items():
        coupling, error = (float(part.partition("=")[2]) for part in key.split(","))
        found = tune_affine(two(coupling), query=Mean(), error=error)
        if "const" in ages:
            assert found.leakage == 0.0
            assert "a constant would do" in found.notes[0]
            continue
        age, (epsilon, leaked) = min(ages.items(), key=lambda item: item[1][1])
        assert found.ages[0] == int(age) == 0  # on the paper's chain ageing never helps
        assert "ageing does not help" in found.notes[0]
        assert found.epsilon == pytest.approx(epsilon, abs=1e-4)
        assert found.leakage == pytest.approx(leaked, abs=1e-5)


@pytest.mark.slow
def test_ageing_helps_lazy_chains_at_tight_errors(golden: Any) -> None:
    table = golden("csdp/aging_value.json")["table"]
    for key in ("p=0.01,lam=1.0", "p=0.01,lam=0.5", "p=0.05,lam=1.0", "p=0.1,lam=0.75", "p=0.2,lam=1.0"):
        p, coupling = (float(part.partition("=")[2]) for part in key.split(","))
        gauge = LeakageModel(two(coupling, [[1 - p, p], [p, 1 - p]]))
        variance = freshness(gauge.model, query=Mean(), ages=0).variance
        for share, age, fresh, best in table[key]:
            found = tune_affine(gauge, query=Mean(), error=share * variance, oldest=8)
            assert found.ages[0] == age
            assert found.leakage == pytest.approx(best, abs=1e-3)
            assert fresh >= best - 1e-3


def test_second_moments_of_each_sequences_age(golden: Any) -> None:
    for key, expected in golden("csdp/per_sequence_ages.json")["per_sequence_ages"].items():
        ages = tuple(int(part) for part in key.strip("()").split(","))
        assert freshness(two(0.75), query=Mean(), ages=ages).stale == pytest.approx(expected["B"], abs=1e-12)
    limit = freshness(two(0.75), query=Mean(), ages=60)
    assert limit.stale == pytest.approx(0.26667, abs=1e-5)
    assert limit.correlation == pytest.approx(0.0, abs=1e-9)


@pytest.mark.slow
def test_three_ways_to_second_moments_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["chronodp.correlated.tuning.freshness"]  # the function has taken its name
    chance = np.random.default_rng(6)
    for _number in range(10):
        case = draw(chance, most=3)
        if isinstance(case.query, Maximum) or len(JointChain(case.model).closed_classes) > 1:
            continue
        listed = freshness(case.model, query=case.query, ages=case.ages)
        with monkeypatch.context() as patch:
            patch.setattr(module, "_LISTED", 1)
            solved = freshness(case.model, query=case.query, ages=case.ages)
            patch.setattr(module, "_STACKED", 0)
            guessed = freshness(case.model, query=case.query, ages=case.ages)
        assert (solved.stale, solved.variance, solved.correlation) == pytest.approx(
            (listed.stale, listed.variance, listed.correlation), rel=1e-7, abs=1e-9
        )
        assert guessed.estimated
        assert not solved.estimated
        assert guessed.variance == pytest.approx(listed.variance, rel=0.3, abs=1e-9)


@pytest.mark.slow
def test_an_age_for_each_sequence_is_never_worse_than_one_for_all() -> None:
    model = CouplingMarkovChain([[0.9, 0.1], [0.1, 0.9]], [[0.9, 0.1, 0.0], [0.1, 0.6, 0.3], [0.0, 0.3, 0.7]])
    gauge = LeakageModel(model)
    query = WeightedSum((1.0, 0.2, 0.5))
    common = tune(gauge, query=query, error=0.2, oldest=3)
    each = tune_each(gauge, query=query, error=0.2, oldest=3)
    assert each.leakage <= common.leakage
    assert len(set(each.ages)) > 1
    # Eight sequences have too many combinations: one step after another.
    wide = CouplingMarkovChain([[0.9, 0.1], [0.1, 0.9]], 0.9 * np.eye(8) + 0.1 * np.roll(np.eye(8), 1, axis=1))
    stepped = tune_each(wide, query=WeightedSum((1.0, 0.9, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1)), error=0.4, oldest=3)
    assert stepped.leakage <= tune(wide, query=WeightedSum((1.0, 0.9, *(0.1,) * 6)), error=0.4, oldest=3).leakage


@pytest.mark.slow
def test_segments_take_the_age_and_noise_that_their_group_needs() -> None:
    slow, fast = [[0.99, 0.01], [0.01, 0.99]], [[0.6, 0.4], [0.4, 0.6]]
    model = CouplingMarkovChain([slow, fast], np.eye(2))
    parts = segment(model, query=Sum(), error=0.6, oldest=5)
    assert parts.error <= 0.6
    assert parts.ages[0] > parts.ages[1]  # what moves slowly can be read late
    assert parts.epsilons[0] > parts.epsilons[1]
    # Two noises for one sum: it takes an age for each, but not two noises, to do better.
    assert parts.undivided == tune_each(model, query=Sum(), error=0.6, oldest=5).leakage < parts.leakage
    told = leakage(model, query=parts.query, ages=parts.ages, epsilon=parts.epsilon)
    assert told.certified == pytest.approx(parts.leakage)
    # The error is what simulated series show, and the parts add up to the sum.
    made = simulate(model, 6, seed=5, runs=20_000)
    aged = made[:, 5 - np.array(parts.ages), np.arange(2)]
    outputs = tabulate(parts.query, 2, 2)
    exact = np.array([parts.read(values) for values in outputs.values(aged)])
    assert exact == pytest.approx(aged.sum(axis=1))
    noise = np.random.default_rng(1).laplace(scale=outputs.sensitivity / parts.epsilon, size=(20_000, 2))
    errors = (exact + noise @ np.array(parts.weights) - made[:, -1].sum(axis=1)) ** 2
    assert errors.mean() == pytest.approx(parts.error, rel=0.05)
    with pytest.raises(InvalidArgument, match="only a sum falls into parts"):
        segment(model, query=Maximum(), error=1.0)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="error must be larger"):
        segment(model, query=Sum(), error=1e-9, oldest=1)


def test_noise_over_time() -> None:
    shares = share_over_time((1.0, 27.0, 8.0), epsilon=2.0)
    assert sum(shares) <= 2.0
    assert shares == pytest.approx((1 / 3, 1.0, 2 / 3))
    chance = np.random.default_rng(3)
    weights = np.array([1.0, 27.0, 8.0])
    for _ in range(200):
        other = chance.dirichlet(np.ones(3)) * 2.0
        assert (weights / np.array(shares) ** 2).sum() <= (weights / other**2).sum() * (1 + 1e-9)
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: share_over_time((), epsilon=1.0), "importances"),
        (lambda: share_over_time((0.0,), epsilon=1.0), "importances"),
        (lambda: tune(two(0.75), query=Mean(), error=0.0), "error must be"),
        (lambda: tune_affine(two(0.75), query=Several((Mean(), Sum())), error=0.1), "a single query"),
        (lambda: tune_affine(two(1.0, [[0.5, 0.5], [0.5, 0.5]]), query=Mean(), error=1e-60), "error must be"),
    ]
    for call, said in calls:
        with pytest.raises(InvalidArgument, match=said):
            call()


def test_screening_accepts_by_the_cheap_bound_and_never_rejects_by_it() -> None:
    gauge = LeakageModel(two(0.75))
    candidates = [(age, epsilon) for age in range(4) for epsilon in (0.05, 0.5, 2.0)]
    found = screen(gauge, query=Mean(), candidates=candidates, target=0.2)
    for one, (age, epsilon) in zip(found, candidates, strict=True):
        truth = leakage(gauge, query=Mean(), ages=age, epsilon=epsilon).certified
        assert one.kept == (truth <= 0.2)
        assert one.certified >= truth
    assert {one.certified_by for one in found} == {"one step", "exact"}

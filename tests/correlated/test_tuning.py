"""Choosing ages and noise: golden optima, second moments, segments, noise over time, screening."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from chronodp.correlated import (
    CouplingMarkovChain,
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
from chronodp.errors import InvalidArgument
from tests.correlated.chains import draw, two


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

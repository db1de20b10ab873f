"""Where older is safer: of one sequence, and of any two presents; of one among several it is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from chronodp.correlated import CouplingMarkovChain, LeakageModel, Maximum, Mean, Sum, leakage
from chronodp.correlated.bounds import aged_distances
from chronodp.correlated.exact import Adversary
from chronodp.correlated.joint import JointChain
from chronodp.correlated.leakage_model import Released
from chronodp.correlated.mixtures import largest_log_ratio
from chronodp.correlated.query import tabulate
from chronodp.correlated.tuning import freshness, tune, tune_each
from chronodp.errors import InvalidArgument
from tests.conftest import Trials
from tests.correlated.chains import draw, two

ADVERSARIES: tuple[Adversary, ...] = ("knows_others", "knows_none")
SLOW = [[0.999, 0.001], [0.001, 0.999]]


def exact(model: CouplingMarkovChain, age: int, epsilon: float) -> float:
    told = leakage(model, query=Mean(), ages=age, epsilon=epsilon).exact
    assert told is not None
    return told


def test_ageing_can_raise_what_is_told_of_one_of_several(golden: Any) -> None:
    wanted = golden("claims/ageing_can_raise_leakage.json")
    by_age = [exact(two(0.5, SLOW), age, 3.0) for age in range(5)]
    assert by_age == pytest.approx(wanted["worst"]["leakage by age 0..4"], rel=1e-9)
    assert [round(told, 3) for told in by_age] == [3.0, 4.673, 4.823, 4.737, 4.594]
    rising = [round(exact(two(0.75, SLOW), age, 1.0), 3) for age in range(5)]
    assert rising == [1.0, 1.182, 1.278, 1.330, 1.359]
    case = wanted["example from age>=1"][0]
    later = [exact(CouplingMarkovChain(case["P"], case["lambda"]), age, 1.0) for age in range(6)]
    # The case is stored to four digits, its leakages of what was drawn.
    assert later == pytest.approx(case["leakage by age 0..5"], rel=0.05)
    assert later == sorted(later)
    # The total variation that Theorem 1 multiplies never rises: nothing of this is in its formula.
    distances = [aged_distances(JointChain(two(0.5, SLOW)), np.array([age, age])).max() for age in range(5)]
    assert distances == sorted(distances, reverse=True)
    assert distances[0] == pytest.approx(1.0)


def test_any_two_presents_by_listing_them() -> None:
    model = CouplingMarkovChain([[0.9, 0.3], [0.1, 0.7]], [[0.6, 0.4], [0.2, 0.8]])
    joint = JointChain(model)
    for age in (0, 1, 3):
        past = np.linalg.matrix_power(joint.kernel, age) * joint.stationary  # P(x, z): columns are z
        given = past / past.sum(axis=1, keepdims=True)
        means = joint.snapshots.mean(axis=1)
        worst = max(largest_log_ratio(means, one, other, scale=0.5 / 1.5) for one in given for other in given)
        found = LeakageModel(model).any_pair(query=Mean(), ages=age, epsilon=1.5)
        assert worst <= found <= worst * (1 + 1e-8) + 1e-11


@pytest.mark.slow
def test_what_holds_of_any_two_presents_holds_at_every_older_age(trials: Trials) -> None:
    chance = np.random.default_rng(11)
    rose = 0
    for number in range(trials(300, least=30)):
        case = draw(chance, most=3)
        if number % 2:  # one that moves rarely
            case = replace(case, transitions=0.99 * np.eye(case.transitions.shape[-1]) + 0.01 * case.transitions)
        gauge = LeakageModel(case.model)
        pairs, one = [], []
        for older in range(3):
            ages = tuple(age + older for age in case.ages)
            pairs.append(gauge.any_pair(query=case.query, ages=ages, epsilon=case.epsilon))
            outputs = tabulate(case.query, case.model.sequences, case.model.states)
            released = Released(outputs, np.asarray(ages), case.epsilon)
            for adversary in ADVERSARIES:
                one.append(float(gauge.measure(released, adversary).exact.max()))
                assert one[-1] <= pairs[0] * (1 + 1e-9)
        assert pairs[0] * (1 + 1e-8) >= pairs[1]
        assert pairs[1] * (1 + 1e-8) >= pairs[2]
        if case.model.sequences == 1:
            assert one[0] * (1 + 1e-9) >= one[2] >= one[4] * (1 - 1e-9)
        rose += one[2] > one[0] * (1 + 1e-6)
    assert rose > 1  # and that of one of several does rise


def test_releases_in_a_row_and_groups_that_cannot_be_listed() -> None:
    gauge = LeakageModel(two(0.5, SLOW))
    row = [gauge.any_pair(query=Mean(), ages=age, epsilon=1.0, releases=2) for age in range(4)]
    assert row == sorted(row, reverse=True)
    told = leakage(gauge, query=Mean(), ages=3, epsilon=1.0, releases=2)
    assert told.certified <= row[3] <= row[0] <= 4.0 + 1e-6
    apart = LeakageModel(CouplingMarkovChain(SLOW, np.eye(3)))
    assert apart.any_pair(query=Maximum(), ages=0, epsilon=1.0) == pytest.approx(1.0)
    wide = LeakageModel(CouplingMarkovChain(SLOW, 0.5 * np.eye(20) + 0.5 * np.roll(np.eye(20), 1, axis=0)))
    assert wide.any_pair(query=Sum(), ages=5, epsilon=0.5) == pytest.approx(10.0)  # the group as a whole
    with pytest.raises(InvalidArgument, match="ages must be"):
        gauge.any_pair(query=Mean(), ages=-1, epsilon=1.0)


def test_tuning_tries_every_age_where_leakage_rises_and_falls() -> None:
    gauge = LeakageModel(two(0.5, SLOW))
    error, oldest = 0.3, 12
    tuned = tune(gauge, query=Mean(), error=error, oldest=oldest)
    by_hand = {}
    for age in range(oldest + 1):
        room = error - freshness(gauge.model, query=Mean(), ages=age).stale
        by_hand[age] = leakage(gauge, query=Mean(), ages=age, epsilon=0.5 * (2 / room) ** 0.5).certified
    assert tuned.leakage == pytest.approx(min(by_hand.values()))
    assert by_hand[tuned.ages[0]] == pytest.approx(tuned.leakage)
    assert by_hand[1] > by_hand[0]


@pytest.mark.slow
def test_no_age_of_one_sequence_betters_what_was_found_for_each() -> None:
    model = CouplingMarkovChain(SLOW, np.full((4, 4), 0.2) + 0.2 * np.eye(4))
    gauge = LeakageModel(model)
    error, oldest = 0.3, 8  # 9^4 combinations are too many to list
    each = tune_each(gauge, query=Mean(), error=error, oldest=oldest)
    assert each.leakage <= tune(gauge, query=Mean(), error=error, oldest=oldest).leakage
    for j in range(4):
        for age in range(oldest + 1):
            ages = (*each.ages[:j], age, *each.ages[j + 1 :])
            room = error - freshness(model, query=Mean(), ages=ages).stale
            if room > 0:
                told = leakage(gauge, query=Mean(), ages=ages, epsilon=0.25 * (2 / room) ** 0.5).certified
                assert told >= each.leakage * (1 - 1e-6)

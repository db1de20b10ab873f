"""Neighbouring definitions and mechanisms, each checked against what it says it bounds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from chronodp.correlated import CouplingMarkovChain, LeakageModel, Mean, Sum, leakage
from chronodp.correlated.joint import JointChain
from chronodp.correlated.mixtures import largest_log_ratio
from chronodp.correlated.published.definitions import (
    age_dependent,
    compare_definitions,
    correlated,
    dependent,
    group_ceiling,
    plain_laplace,
)
from chronodp.correlated.published.quilt import markov_quilt
from chronodp.correlated.published.temporal import temporal_leakage
from chronodp.errors import InvalidArgument
from tests.correlated.chains import two


@pytest.mark.slow
def test_age_dependent_privacy_is_right_for_sequences_alone_and_blind_to_others() -> None:
    chance = np.random.default_rng(5)
    for _ in range(60):
        chain = CouplingMarkovChain(chance.dirichlet(np.ones(3), size=3).T, [[1.0]])
        age, epsilon = int(chance.integers(0, 4)), float(chance.choice([0.2, 1.0, 4.0]))
        told = leakage(chain, query=Mean(), ages=age, epsilon=epsilon)
        assert told.exact is not None
        assert told.exact <= age_dependent(chain, ages=age, epsilon=epsilon) * (1 + 1e-12)
    # Coupled, with hardly any memory of its own: what comes back through the other is not seen.
    swapping = CouplingMarkovChain(
        np.array(
            [
                [[[0.5, 0.5], [0.5, 0.5]], [[0.99, 0.01], [0.01, 0.99]]],
                [[[0.99, 0.01], [0.01, 0.99]], [[0.5, 0.5], [0.5, 0.5]]],
            ]
        ),
        [[0.02, 0.98], [0.98, 0.02]],
    )
    told = leakage(swapping, query=Mean(), ages=2, epsilon=1.0)
    assert told.exact is not None
    assert told.exact > 100 * age_dependent(swapping, ages=2, epsilon=1.0)
    # A sequence that does not hear itself is taken to forget nothing.
    assert age_dependent(two(0.0), ages=5, epsilon=1.0) == pytest.approx(1.0)


def test_definitions_of_one_period() -> None:
    assert plain_laplace(0.3) == 0.3
    alone, tied = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], np.eye(2)), two(0.5)
    assert dependent(alone, query=Mean(), epsilon=1.0) == pytest.approx(1.0)
    assert correlated(alone, query=Mean(), epsilon=1.0) == pytest.approx(1.0)
    law = JointChain(tied).stationary
    assert dependent(tied, query=Mean(), epsilon=1.0) == pytest.approx(1 + 2 * (law[0] - law[1]))
    assert correlated(tied, query=Mean(), epsilon=1.0) == pytest.approx(1 + 2 * (law[0] - law[1]))
    assert group_ceiling(tied, query=Mean(), epsilon=1.0) == pytest.approx(2.0)


@pytest.mark.slow
def test_the_comparison_says_which_numbers_are_bounds() -> None:
    rows = compare_definitions(two(1.0, [[0.99, 0.5], [0.01, 0.5]]), query=Mean(), ages=1, epsilon=1.0)
    truth = leakage(two(1.0, [[0.99, 0.5], [0.01, 0.5]]), query=Mean(), ages=1, epsilon=1.0).exact
    assert truth is not None
    for row in rows:
        if row.bounds_present and "nothing else" not in row.name:
            assert row.epsilon >= truth
    below = {row.name for row in rows if row.epsilon < truth}
    assert {"the paper's Theorem 1", "the paper's Theorem 2"} <= below
    assert not any(row.bounds_present for row in rows if row.name in below - {"leakage, nothing else known"})
    large = compare_definitions(
        LeakageModel(
            CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], 0.5 * np.eye(30) + 0.5 * np.roll(np.eye(30), 1, axis=0))
        ),
        query=Mean(),
        ages=2,
        epsilon=1.0,
    )
    assert {row.name for row in large}.isdisjoint({"dependent", "the paper's Theorem 1"})


@pytest.mark.slow
def test_temporal_leakage_bounds_streams_without_age() -> None:
    # The example of the reference, to its two digits.
    chain = CouplingMarkovChain([[0.8, 0.0], [0.2, 1.0]], [[1.0]])
    forward = temporal_leakage(chain, epsilons=(0.1,) * 10).forward[::-1]
    assert [round(part, 2) for part in forward] == [0.1, 0.18, 0.25, 0.3, 0.35, 0.39, 0.42, 0.45, 0.48, 0.5]
    chance = np.random.default_rng(2)
    for _ in range(20):
        model = CouplingMarkovChain(chance.dirichlet(np.ones(2), size=2).T, [[1.0]])
        epsilon = float(chance.choice([0.2, 1.0]))
        bound = temporal_leakage(model, epsilons=(epsilon,) * 4)
        for seen in (1, 2, 3, 4):
            told = leakage(model, query=Sum(), ages=0, epsilon=epsilon, releases=seen)
            assert told.exact is not None
            assert told.exact <= bound.backward[seen - 1] * (1 + 1e-9)
    frozen = temporal_leakage(CouplingMarkovChain(np.eye(2), [[1.0]]), epsilons=(0.5,) * 3)
    assert frozen.total == pytest.approx((1.5, 1.5, 1.5))  # nothing is ever forgotten
    with pytest.raises(InvalidArgument, match="epsilons must be"):
        temporal_leakage(chain, epsilons=())


def test_the_markov_quilt_protects_every_record_of_a_sum() -> None:
    chance = np.random.default_rng(7)
    horizon = 7
    for number in range(12):
        stay = float(chance.uniform(0.5, 0.75))
        chain = CouplingMarkovChain([[stay, 0.4], [1 - stay, 0.6]], [[1.0]])
        joint, epsilon = JointChain(chain), float(chance.choice([0.8, 2.0, 4.0]))
        quilt = markov_quilt(chain, horizon=horizon, epsilon=epsilon)
        assert quilt.scale <= horizon / epsilon
        paths = list(itertools.product(range(2), repeat=horizon))
        weights = np.array(
            [
                joint.stationary[path[0]] * np.prod([joint.kernel[b, a] for a, b in itertools.pairwise(path)])
                for path in paths
            ]
        )
        sums, states = np.array([sum(path) for path in paths]), np.array(paths)
        for record in range(horizon):
            laws = [
                np.bincount(sums[states[:, record] == u], weights[states[:, record] == u], horizon + 1) for u in (0, 1)
            ]
            told = largest_log_ratio(np.arange(horizon + 1.0), *(law / law.sum() for law in laws), scale=quilt.scale)
            assert told <= epsilon * (1 + 1e-9), number
    assert markov_quilt(two(1.0).part([0]), horizon=100, epsilon=1.0).scale < 10
    with pytest.raises(InvalidArgument, match="one sequence"):
        markov_quilt(two(0.5), horizon=5, epsilon=1.0)

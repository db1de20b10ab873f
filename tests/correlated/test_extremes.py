"""Probabilities so small, and chains so slow, that floats forget them: against sixty digits."""

from __future__ import annotations

import numpy as np
import pytest

from chronodp.correlated import CouplingMarkovChain, Gauge, Sum, WeightedSum, leakage
from chronodp.correlated.bounds import least_ratios
from chronodp.correlated.joint import JointChain
from tests.correlated import digits


def slow(there: float, back: float) -> CouplingMarkovChain:
    """One sequence that hardly ever moves, and one that copies it, a little wrongly."""
    matrices = np.empty((2, 2, 2, 2))
    matrices[0] = [[1 - there, back], [there, 1 - back]]
    matrices[1] = [[0.5, 0.01], [0.5, 0.99]]
    return CouplingMarkovChain(matrices, [[1.0, 0.0], [1.0, 0.0]])


@pytest.mark.parametrize(("there", "back"), [(1e-17, 1e-19), (4e-16, 4e-18), (1e-9, 1e-9 * (1 + 1e-7)), (1e-3, 1e-6)])
def test_a_chain_that_hardly_moves_has_its_own_stationary_law_and_not_an_even_one(there: float, back: float) -> None:
    model = slow(there, back)
    law = digits.stationary(digits.kernel(model))
    joint = JointChain(model)
    assert joint.stationary == pytest.approx([float(law[tuple(x)]) for x in joint.snapshots.tolist()], rel=1e-13)
    told = leakage(model, query=WeightedSum((1.0, 0.0)), ages=1, epsilon=5.0, adversary="knows_none", targets=(1,))
    truth = digits.leakage_about_each(model, (1, 1), lambda x: float(x[0]), 1 / 5.0, knows_others=False)[1]
    assert told.exact == pytest.approx(float(truth), rel=1e-12)
    assert told.certified >= truth


def test_elimination_in_blocks_is_that_one_by_one() -> None:
    model = CouplingMarkovChain([[0.8, 0.3], [0.2, 0.7]], np.full((7, 7), 1 / 7))
    joint = JointChain(model)  # 128 snapshots: two blocks
    assert joint.kernel @ joint.stationary == pytest.approx(joint.stationary, rel=1e-13)
    assert joint.stationary.sum() == pytest.approx(1.0)


def rare(chance: float, again: float) -> CouplingMarkovChain:
    """Two sequences that are hardly ever up, though less rarely after one was."""
    return CouplingMarkovChain([[1 - chance, 1 - again], [chance, again]], [[0.5, 0.5], [0.5, 0.5]])


@pytest.mark.parametrize(("chance", "again"), [(1e-80, 1e-32), (1e-20, 1e-9), (1e-6, 1e-2), (1e-17, 0.5)])
def test_small_probabilities_swing_as_far_as_large_ones(chance: float, again: float) -> None:
    model = rare(chance, again)
    truth = max(digits.leakage_about_each(model, (1, 1), lambda x: float(sum(x)), 1.0, knows_others=True))
    assert truth > 0.3
    for gauge in (Gauge(model), Gauge(model, largest=0)):
        assert leakage(gauge, query=Sum(), ages=1, epsilon=1.0).certified >= truth


def test_a_small_choice_is_not_hidden_by_the_rounding_of_a_large_one() -> None:
    for share in np.arange(1, 50) / 100:  # share / (1 - share) · (1 - share) is often rounded to more than share
        model = CouplingMarkovChain([[share, 1e-32, share], [1 - share, 1e-30, 1 - share], [0.0, 1.0, 0.0]], [[1.0]])
        assert least_ratios(model)[0, 0, 1] == pytest.approx(min(0.01, share / (1 - share)), rel=1e-12)

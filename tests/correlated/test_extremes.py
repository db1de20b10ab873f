"""Probabilities so small, and chains so slow, that floats forget them: against sixty digits."""

from __future__ import annotations

import numpy as np
import pytest

from chronodp.correlated import CouplingMarkovChain, LeakageModel, Several, Sum, WeightedSum, leakage
from chronodp.correlated.bounds import least_ratios
from chronodp.correlated.joint import JointChain
from chronodp.correlated.leakage_model import Released
from chronodp.correlated.mixtures import log_densities
from chronodp.correlated.query import tabulate
from chronodp.errors import InvalidArgument
from tests.conftest import Trials
from tests.correlated import digits
from tests.correlated.chains import draw_extreme


def slow(there: float, back: float) -> CouplingMarkovChain:
    """One sequence that hardly ever moves, and one that copies it, a little wrongly."""
    matrices = np.empty((2, 2, 2, 2))
    matrices[0] = [[1 - there, back], [there, 1 - back]]
    matrices[1] = [[0.5, 0.01], [0.5, 0.99]]
    return CouplingMarkovChain(matrices, [[1.0, 0.0], [1.0, 0.0]])


@pytest.mark.parametrize(("there", "back"), [(1e-17, 1e-19), (4e-16, 4e-18), (1e-9, 1e-9 * (1 + 1e-7)), (1e-3, 1e-6)])
def test_a_chain_that_hardly_moves_has_its_own_stationary_law_and_not_an_even_one(there: float, back: float) -> None:
    model = slow(there, back)
    law = digits.stationary(model)
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
    for gauge in (LeakageModel(model), LeakageModel(model, largest=0)):
        assert leakage(gauge, query=Sum(), ages=1, epsilon=1.0).certified >= truth


def test_a_small_choice_is_not_hidden_by_the_rounding_of_a_large_one() -> None:
    for share in np.arange(1, 50) / 100:  # share / (1 - share) · (1 - share) is now and then rounded to more than share
        model = CouplingMarkovChain([[share, 1e-32, share], [1 - share, 1e-30, 1 - share], [0.0, 1.0, 0.0]], [[1.0]])
        assert least_ratios(model)[0, 0, 1] == pytest.approx(min(0.01, share / (1 - share)), rel=1e-12)


@pytest.mark.parametrize(("chance", "again"), [(1e-200, 1e-80), (1e-150, 1e-60), (1e-300, 0.1), (1e-310, 1e-120)])
def test_what_is_too_small_for_floats_is_not_taken_for_impossible(chance: float, again: float) -> None:
    model = rare(chance, again)
    truth = max(digits.leakage_about_each(model, (1, 1), lambda x: float(sum(x)), 1.0, knows_others=True))
    assert truth > 0.9
    told = leakage(model, query=Sum(), ages=1, epsilon=1.0)
    assert told.exact is None
    assert "too small for floats" in told.reasons[0]
    assert told.certified >= truth
    with pytest.raises(InvalidArgument, match="between 0 and 1e-290"):
        _ = JointChain(model).stationary


def test_many_sequences_multiply_to_what_floats_cannot_hold() -> None:
    model = CouplingMarkovChain([[1.0, 1.0], [1e-40, 1e-16]], np.full((8, 8), 1 / 8))
    told = leakage(model, query=Sum(), ages=1, epsilon=1.0)
    assert told.exact is None
    assert told.certified >= 1.0


@pytest.mark.slow
def test_a_state_that_is_never_entered_is_nobodys_present() -> None:
    never = [[0.7, 0.3, 0.5], [0.3, 0.7, 0.5], [0.0, 0.0, 0.0]]
    without = [[0.7, 0.3], [0.3, 0.7]]
    for adversary in ("knows_others", "knows_none"):
        for sequences in (2, 8):
            even = np.full((sequences, sequences), 1 / sequences)
            told, plain = (
                leakage(
                    LeakageModel(CouplingMarkovChain(matrix, even), largest=0),
                    query=Sum(scores),
                    ages=2,
                    epsilon=1.0,
                    adversary=adversary,
                )
                for matrix, scores in ((never, (0.0, 1.0, 1.0)), (without, (0.0, 1.0)))
            )
            assert plain.certified <= told.certified < np.inf


@pytest.mark.slow
def test_no_bound_is_below_the_truth_at_the_edges_of_floats(trials: Trials) -> None:
    chance = np.random.default_rng(7)
    exact = fallen_back = 0
    for _ in range(trials(1_000, least=120)):
        case = draw_extreme(chance)
        model = case.model
        outputs = tabulate(case.query, model.sequences, model.states)
        released = Released(outputs, np.array(case.ages), case.epsilon)
        if model.components.max() > 0 or not any(digits.stationary(model).values()):
            continue  # several groups, or several stationary laws
        gauge = LeakageModel(model)
        for adversary in ("knows_others", "knows_none"):
            truth = digits.leakage_about_each(
                model,
                case.ages,
                lambda z, outputs=outputs: float(outputs.values(np.array([z]))[0, 0]),  # type: ignore[misc]
                outputs.sensitivity / case.epsilon,
                knows_others=adversary == "knows_others",
            )
            read = gauge.measure(released, adversary)
            bounds = read.bounds
            if not np.isnan(read.exact).all():  # or else they are there
                bounds |= gauge.bounds(released, adversary)
                bounds["window"] = gauge.by_window(released, adversary, np.arange(model.sequences))
            for name, bound in bounds.items():
                assert all(here >= there for here, there in zip(bound, truth, strict=True)), (name, bound, truth, case)
            if np.isnan(read.exact).any():
                fallen_back += 1
            else:
                exact += 1
                assert read.exact == pytest.approx(np.array(truth, dtype=float), rel=1e-9, abs=1e-12)
    assert exact > 50
    assert fallen_back > 5


@pytest.mark.parametrize("epsilon", [1.0, 100.0, 700.0, 2_000.0, 1e5])
def test_several_outputs_with_hardly_any_noise_have_a_finite_leakage(epsilon: float) -> None:
    model = CouplingMarkovChain([[0.9, 0.2, 0.1], [0.1, 0.7, 0.0], [0.0, 0.1, 0.9]], [[1.0]])
    one = leakage(model, query=Sum(), ages=1, epsilon=epsilon)
    twice = leakage(model, query=Several((Sum(), Sum())), ages=1, epsilon=epsilon)
    assert one.exact == pytest.approx(
        float(digits.leakage_about_each(model, (1,), lambda x: float(x[0]), 2 / epsilon, knows_others=True)[0])
    )
    # Two answers about the same, each with half the budget, tell no more than the ceiling.
    assert twice.exact is not None
    assert 0 < twice.exact <= epsilon


def test_weight_on_both_sides_counts_far_from_either() -> None:
    # At 1 either law has all its weight 1,000 away: on one side, or half on each.
    points, first, second = [0.0, 1.0, 2.0], [1.0, 0.0, 0.0], [0.5, 0.0, 0.5]
    logs = log_densities(np.array(points), np.array([first, second]), 1e-3)
    assert logs[:, 1] == pytest.approx([-1000.0, -1000.0], abs=1e-9)

"""Exact leakage against golden numbers and against plain listing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from chronodp.correlated import CouplingMarkovChain, LeakageModel, Maximum, Mean, Several, Sum, WeightedSum, leakage
from chronodp.correlated.bounds import aged_distances, from_distance, least_ratios, total_variation
from chronodp.correlated.exact import outside_values
from chronodp.correlated.joint import JointChain
from chronodp.correlated.leakage_model import Released
from chronodp.correlated.mixtures import largest_log_ratio, log_densities
from chronodp.correlated.published.paper import estimate_bounded_aged_correlation
from chronodp.correlated.query import tabulate
from chronodp.errors import InvalidArgument
from tests.conftest import Trials
from tests.correlated import digits, reference
from tests.correlated.chains import draw, draw_extreme, two


@pytest.mark.slow
def test_the_grid_of_the_papers_chain(golden: Any) -> None:
    grid = golden("csdp/grid_paper_setup.json")
    for name, distances in grid["Phi"].items():
        joint = JointChain(two(float(name)))
        for age, expected in zip(grid["A"], distances, strict=True):
            assert aged_distances(joint, np.array([age, age])).max() == pytest.approx(expected, rel=1e-9, abs=1e-14)
    for name, rows in grid["exact"].items():
        gauge = LeakageModel(two(float(name)))
        for row, age in enumerate(grid["A"]):
            for column, epsilon in enumerate(grid["eps_C"]):
                told = leakage(gauge, query=Mean(), ages=age, epsilon=float(epsilon))
                assert told.exact == pytest.approx(rows[row][column], rel=1e-8, abs=1e-12)
                # The reference counts both sequences as one group also where they are independent.
                apart = 2.0 if name == "1.0" else 1.0
                assert told.paper_theorem_1 == pytest.approx(grid["paper"][name][row][column] / apart, rel=1e-8)
                assert told.certified_by == "exact"
                assert told.certified >= (told.exact or 0.0)
                sound = from_distance(np.array([grid["Phi"][name][row]]), np.array([2.0 * epsilon]))[0]
                assert sound == pytest.approx(grid["sound"][name][row][column], rel=1e-8)


def test_where_the_papers_theorems_fail(golden: Any) -> None:
    cases = golden("csdp/counterexamples.json")
    assert [round(case["exact"], 4) for case in (cases[0], cases[2], cases[4])] == [0.6031, 1.2962, 0.8321]
    for case in cases:
        told = leakage(two(case["lam11"], case["P"]), query=Mean(), ages=case["A"], epsilon=case["eps_C"])
        assert told.exact == pytest.approx(case["exact"], rel=1e-12)
        assert told.paper_theorem_1 == pytest.approx(case["paper_thm1"], rel=1e-10)
        assert told.paper_theorem_2 == pytest.approx(case["paper_thm2"], rel=1e-9)
        assert told.paper_theorem_1 is not None
        assert told.paper_theorem_1 < told.certified / (1 + 1e-6)  # it is no bound
    assert leakage(two(1.0, cases[0]["P"]), query=Mean(), ages=1, epsilon=1.0).paper_theorem_2 == pytest.approx(0.49)
    witness = golden("csdp/thm2_witness.json")
    told = leakage(CouplingMarkovChain(witness["P"], witness["lam"]), query=Mean(), ages=1, epsilon=witness["e"])
    assert told.exact == pytest.approx(witness["exact"], rel=1e-10)
    assert told.paper_theorem_2 == pytest.approx(witness["e"] * witness["Dbar"], rel=1e-10)
    assert told.paper_theorem_2 is not None
    assert told.paper_theorem_2 < told.certified / (1 + 1e-6)


def test_the_tight_theorem_is_looser_than_the_loose_one_on_the_papers_chain(golden: Any) -> None:
    for key, expected in golden("csdp/thm2_Dbar_paper_setup.json").items():
        coupling, age = key.split(",")
        told = leakage(two(float(coupling)), query=Mean(), ages=int(age), epsilon=1.0)
        assert told.paper_theorem_2 == pytest.approx(expected, rel=1e-6)
    told = leakage(two(0.5), query=Mean(), ages=1, epsilon=1.0)
    assert told.paper_theorem_2 is not None
    assert told.paper_theorem_1 is not None
    assert told.paper_theorem_2 > 2 * told.paper_theorem_1


@pytest.mark.slow
def test_random_chains_of_the_reference(golden: Any) -> None:
    for case in golden("csdp/random_cmcs.json"):
        model = CouplingMarkovChain(case["P"], case["lam"])
        joint, ages = JointChain(model), np.asarray(case["ages"])
        assert joint.stationary == pytest.approx(case["pi"], rel=1e-11)
        told = leakage(model, query=Mean(), ages=case["ages"], epsilon=case["eps_C"])
        assert told.exact == pytest.approx(case["exact"], rel=1e-10)
        assert told.paper_theorem_1 == pytest.approx(case["paper"], rel=1e-10)
        assert told.paper_theorem_2 == pytest.approx(case["thm2_Dbar"] * case["eps_C"], rel=1e-9)
        heard = np.full(model.sequences, model.sequences * case["eps_C"])
        assert total_variation(joint, ages, heard=heard).max() == pytest.approx(case["sound"], rel=1e-10)
        released = Released(tabulate(Mean(), model.sequences, model.states), ages, case["eps_C"])
        bounds = LeakageModel(model).bounds(released, "knows_others")
        least = np.min([bounds[name] for name in bounds], axis=0).max()
        assert case["exact"] <= least <= case["sdl"] * (1 + 1e-6)  # never looser than the reference's bound


@pytest.mark.slow
def test_per_sequence_ages(golden: Any) -> None:
    for key, expected in golden("csdp/per_sequence_ages.json")["per_sequence_ages"].items():
        ages = tuple(int(part) for part in key.strip("()").split(","))
        assert leakage(two(0.75), query=Mean(), ages=ages, epsilon=1.0).exact == pytest.approx(expected["exact_eps1"])
        assert aged_distances(JointChain(two(0.75)), np.array(ages)).max() == pytest.approx(expected["TV"])


def test_knowing_less_can_mean_learning_more() -> None:
    alone = leakage(two(0.5), query=Mean(), ages=0, epsilon=1.0, adversary="knows_none")
    others = leakage(two(0.5), query=Mean(), ages=0, epsilon=1.0, adversary="knows_others")
    assert alone.exact == pytest.approx(1.080, abs=5e-4)
    assert others.exact == pytest.approx(1.0)
    assert alone.record == pytest.approx(2.0)  # the whole group may speak for a record
    assert others.record == 1.0


@pytest.mark.slow
def test_exact_leakage_is_that_of_plain_listing(trials: Trials) -> None:
    chance = np.random.default_rng(3)
    for _ in range(trials(400, least=20)):
        case = draw(chance, most=3, oldest=2)
        if case.model.components.max() > 0:
            continue  # listing has no notion of what lies outside a group
        outputs = tabulate(case.query, case.model.sequences, case.model.states)
        for adversary in ("knows_others", "knows_none"):
            expected = reference.leakage_about_each(
                case.transitions,
                case.coupling,
                case.ages,
                lambda z, outputs=outputs: float(outputs.values(np.array([z]))[0, 0]),  # type: ignore[misc]
                outputs.sensitivity / case.epsilon,
                knows_others=adversary == "knows_others",
            )
            reading = LeakageModel(case.model).measure(Released(outputs, np.array(case.ages), case.epsilon), adversary)
            assert reading.exact == pytest.approx(expected, rel=1e-7, abs=1e-10)


def test_outside_the_group_a_sum_hides_nothing_and_a_maximum_is_taken_at_its_worst() -> None:
    alone = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], [[1.0]])
    beside = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], np.eye(3))
    for query in (Sum(), Maximum()):
        one = leakage(alone, query=query, ages=2, epsilon=1.0).exact
        assert leakage(beside, query=query, ages=2, epsilon=1.0).exact == pytest.approx(one)
    # Two groups whose scores differ: what the small group does shows only while the other is low.
    weighted = Maximum(scores=(0.0, 1.0, 5.0))
    three = CouplingMarkovChain(np.full((3, 3), 0.2) + 0.4 * np.eye(3), np.eye(2))
    own = leakage(
        CouplingMarkovChain(np.full((3, 3), 0.2) + 0.4 * np.eye(3), [[1.0]]), query=weighted, ages=1, epsilon=1.0
    )
    assert leakage(three, query=weighted, ages=1, epsilon=1.0).exact == pytest.approx(own.exact)


def test_several_outputs_and_several_releases_against_a_dense_grid_of_outputs() -> None:
    model = two(0.6, [[0.8, 0.3], [0.2, 0.7]])
    joint = JointChain(model)
    law = joint.kernel * joint.stationary  # P(x', x)
    past = (law.T / law.sum(axis=1)).T  # P(x one step ago | x' now)
    # Two outputs, each sequence by itself, of age 1.
    both = Several((WeightedSum((1.0, 0.0)), WeightedSum((0.0, 2.0))))
    told = leakage(model, query=both, ages=1, epsilon=1.5)
    scale = 2.0 / 1.5
    axis = np.linspace(-2, 4, 61)
    grid = np.array([(y, z) for y in axis for z in axis])
    values = joint.snapshots * np.array([1.0, 2.0])
    density = past @ np.exp(-np.abs(grid[:, None, :] - values[None]).sum(axis=2) / scale).T
    worst = max(
        np.abs(np.log(density[a] / density[b])).max()
        for a in range(4)
        for b in range(a)
        if (joint.snapshots[a] != joint.snapshots[b]).sum() == 1
    )
    assert told.exact == pytest.approx(worst, rel=1e-9)
    # Two releases of the mean in a row, of ages 1 and 2.
    told = leakage(model, query=Mean(), ages=1, epsilon=1.0, releases=2)
    means = joint.snapshots.mean(axis=1)
    noise = np.exp(-np.abs(axis[:, None] - means) / 0.5)
    density = np.einsum("xw,wv,yw,zv->xyz", past, past, noise, noise).reshape(4, -1)
    worst = max(
        np.abs(np.log(density[a] / density[b])).max()
        for a in range(4)
        for b in range(a)
        if (joint.snapshots[a] != joint.snapshots[b]).sum() == 1
    )
    assert told.exact == pytest.approx(worst, rel=1e-9)
    assert told.series == 2.0


def test_mixtures_of_many_points_and_wide_gaps() -> None:
    chance = np.random.default_rng(5)
    for scale in (1.0, 1e-3, 1e-6):
        points = np.sort(chance.random(300))
        first, second = chance.dirichlet(np.ones(300), size=2)
        distance = np.abs(points[:, None] - points) / scale
        plain = np.abs(np.log(np.exp(-distance) @ first) - np.log(np.exp(-distance) @ second)).max()
        assert largest_log_ratio(points, first, second, scale=scale) == pytest.approx(plain, rel=1e-9)
        middle = np.abs((points[:-1] + points[1:]) / 2 - points[:, None]).T / scale
        with np.errstate(divide="ignore", invalid="ignore"):
            between = np.abs(np.log(np.exp(-middle) @ first) - np.log(np.exp(-middle) @ second))
        assert np.nanmax(between[np.isfinite(between)], initial=0.0) <= plain * (1 + 1e-12)
    assert largest_log_ratio([0.0, 1.0], [1.0, 0.0], [0.0, 1.0], scale=1e-4) == pytest.approx(1e4)


def test_levels_outside_a_group_are_tried_at_every_release_by_themselves() -> None:
    apart = CouplingMarkovChain(np.full((3, 3), 0.2) + 0.4 * np.eye(3), np.eye(3))
    outputs = tabulate(Maximum(), 3, 3)
    one = outside_values(outputs, np.array([0]))
    assert one.ravel().tolist() == [0.0, 1.0, 2.0]
    two_ = outside_values(outputs, np.array([0]), releases=2)
    assert len(two_) == 9
    both = tabulate(Several((Maximum(), Maximum(scores=(2.0, 1.0, 0.0)))), 2, 3)
    # One other sequence cannot be low and high at once: three levels, not nine.
    assert outside_values(both, np.array([0])).tolist() == [[0.0, 2.0], [1.0, 1.0], [2.0, 0.0]]
    assert outside_values(tabulate(Sum(), 3, 3), np.array([0])).tolist() == [[0.0]]
    # Levels that differ between releases tell as much as any: the exact value covers each of them.
    told = leakage(apart, query=Maximum(), ages=1, epsilon=1.0, releases=2)
    alone = CouplingMarkovChain(np.full((3, 3), 0.2) + 0.4 * np.eye(3), [[1.0]])
    assert told.exact is not None
    assert told.exact >= (leakage(alone, query=Maximum(), ages=1, epsilon=1.0, releases=2).exact or 0.0) - 1e-12


def test_outputs_with_too_many_values_fall_back_to_bounds_and_say_so() -> None:
    many = leakage(two(0.75), query=Mean(), ages=1, epsilon=1.0, releases=500)
    assert many.exact is None
    assert "too many values" in many.reasons[0]
    wide = Several(tuple(WeightedSum((1.0, 0.1 + number)) for number in range(9)))
    told = leakage(two(0.75), query=wide, ages=2, epsilon=1.0)
    assert told.exact is None
    assert told.certified_by == "total variation"


@pytest.mark.slow
def test_the_papers_quantity_by_simulation_is_no_better_than_its_samples() -> None:
    exact = leakage(two(0.75), query=Mean(), ages=1, epsilon=1.0).paper_theorem_2
    guess = estimate_bounded_aged_correlation(two(0.75), ages=1, samples=20_000, seed=2)
    assert guess == pytest.approx(exact, rel=0.15)
    with pytest.raises(InvalidArgument, match="samples must be"):
        estimate_bounded_aged_correlation(two(0.75), ages=1, samples=0, seed=2)


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

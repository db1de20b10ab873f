"""Exact leakage against golden numbers and against plain listing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from chronodp.correlated import CouplingMarkovChain, LeakageModel, Maximum, Mean, Several, Sum, WeightedSum, leakage
from chronodp.correlated.bounds import aged_distances, from_distance, total_variation
from chronodp.correlated.exact import outside_values
from chronodp.correlated.joint import JointChain
from chronodp.correlated.leakage_model import Released
from chronodp.correlated.mixtures import largest_log_ratio
from chronodp.correlated.published.paper import estimate_bounded_aged_correlation
from chronodp.correlated.query import tabulate
from chronodp.errors import InvalidArgument
from tests.conftest import Trials
from tests.correlated import reference
from tests.correlated.chains import draw, two


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
            reading = LeakageModel(case.model).measure(
                Released(outputs, np.array(case.ages), case.epsilon),
                adversary,
            )
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


def test_probabilities_are_as_exact_as_their_margin_says() -> None:
    import mpmath

    chance = np.random.default_rng(11)
    for _ in range(5):
        case = draw(chance, most=2, oldest=2)
        joint = JointChain(case.model)
        size = len(joint.snapshots)
        with mpmath.workdps(60):
            kernel = mpmath.matrix(joint.kernel.tolist())
            for column in range(size):  # columns sum to one in exact numbers too
                total = mpmath.fsum(kernel[row, column] for row in range(size))
                for row in range(size):
                    kernel[row, column] /= total
            system = kernel - mpmath.eye(size)
            for column in range(size):
                system[size - 1, column] = 1
            right = mpmath.zeros(size, 1)
            right[size - 1] = 1
            exact = mpmath.lu_solve(system, right)
            error = max(abs(joint.stationary[state] / exact[state] - 1) for state in range(size))
        assert error < 1e-12


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

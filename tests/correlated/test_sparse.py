"""Sparse coupling: laws carried by elimination against the listed kernel, windows of the past against exact leakage."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from chronodp.correlated import CouplingMarkovChain, LeakageModel, Maximum, Mean, Several, Sum, WeightedSum, leakage
from chronodp.correlated.bounds import Windows
from chronodp.correlated.bounds.window_factors import Hearing
from chronodp.correlated.elimination import Elimination
from chronodp.correlated.exact import Adversary
from chronodp.correlated.joint import JointChain
from chronodp.correlated.leakage_model import Released
from chronodp.correlated.query import tabulate
from chronodp.correlated.sparse_joint import SparseJointChain
from tests.conftest import Trials
from tests.correlated.chains import Case, draw

ADVERSARIES: tuple[Adversary, ...] = ("knows_others", "knows_none")
SHAPES = ("path", "ring", "tree", "one way")


def draw_sparse(chance: np.random.Generator, sequences: int, *, states: int = 2) -> Case:
    """A path, a ring, a tree or a ring that hears one side only, sharp or even, coupled loosely or tightly."""
    heard = np.eye(sequences)
    shape = SHAPES[int(chance.integers(4))]
    for j in range(1, sequences):
        other = int(chance.integers(j)) if shape == "tree" else j - 1
        heard[j, other] = 1
        heard[other, j] = shape != "one way"
    if shape in ("ring", "one way"):
        heard[0, -1] = 1
    coupling = heard * chance.dirichlet(np.ones(sequences), size=sequences)
    coupling /= coupling.sum(axis=1, keepdims=True)
    strength = chance.choice([0.3, 1.0])
    coupling = strength * coupling + (1 - strength) * np.eye(sequences)
    evenness = chance.choice([0.5, 1.0, 5.0])
    moves = chance.dirichlet(np.full(states, evenness), size=(sequences, sequences, states)).swapaxes(2, 3)
    moves = np.maximum(moves, 1e-3)
    ages = tuple(int(age) for age in chance.integers(0 if chance.random() < 0.3 else 1, 4, size=sequences))
    epsilon = float(chance.choice([0.1, 1.0, 3.0]))
    return Case(moves / moves.sum(axis=2, keepdims=True), coupling, Sum(), ages, epsilon)


def one_way(sequences: int) -> NDArray[np.float64]:
    """Everyone hears itself and the next, in a circle."""
    return np.eye(sequences) / 2 + np.roll(np.eye(sequences), 1, axis=1) / 2


def without_a_list(model: CouplingMarkovChain) -> LeakageModel:
    """A model that may list so little that every group must be carried by elimination."""
    return LeakageModel(model, largest=-(-(model.states**model.sequences) // 16))


def test_a_step_by_elimination_is_a_step_by_the_kernel() -> None:
    chance = np.random.default_rng(1)
    for sequences, states in ((1, 3), (2, 3), (4, 3), (6, 2), (7, 2), (8, 2)):
        model = draw_sparse(chance, sequences, states=states).model
        joint, elimination = JointChain(model), Elimination(model)
        laws = chance.random((3, states**sequences))
        assert elimination.step(laws) == pytest.approx(laws @ joint.kernel.T, rel=elimination.rounding + 1e-14)


def test_the_stationary_law_is_as_near_as_it_says() -> None:
    chance = np.random.default_rng(2)
    for _ in range(6):
        model = draw_sparse(chance, 6).model
        listed, carried = JointChain(model).stationary, SparseJointChain(model)
        law = carried.stationary / carried.stationary.sum()
        assert np.abs(law / listed - 1).max() <= 2 * carried.error < 1e-9
    slow = CouplingMarkovChain([[0.99, 0.03], [0.01, 0.97]], one_way(5))
    carried = SparseJointChain(slow)
    assert carried.stationary / carried.stationary.sum() == pytest.approx(
        JointChain(slow).stationary, rel=carried.error
    )


@pytest.mark.slow
def test_a_law_that_forgets_its_start_too_slowly_or_never_is_not_called_stationary() -> None:
    # The second waits for 10^9 steps, the third is pushed about for ever, the fourth has a step that never happens.
    for stay, away in ((0.99, 0.99), (1 - 1e-9, 1 - 1e-9), (0.0, 0.0), (1.0, 0.5)):
        model = CouplingMarkovChain([[stay, 1 - away], [1 - stay, away]], one_way(12))
        assert SparseJointChain(model).has_law == (stay == 0.99)
    stuck = CouplingMarkovChain([[1 - 1e-9, 1e-9], [1e-9, 1 - 1e-9]], one_way(11))
    told = leakage(stuck, query=Mean(), ages=1, epsilon=1.0)
    assert told.exact is None
    assert told.certified_by != "exact"


@pytest.mark.slow
def test_leakage_by_elimination_is_leakage_by_listing() -> None:
    chance = np.random.default_rng(3)
    queries = (Mean(), Maximum(), WeightedSum((1.0, 2.0, 0.5, 0.0, 1.5, 1.0)), Several((Sum(), Maximum())))
    for number in range(8):
        model = draw_sparse(chance, 6).model
        ages = tuple(int(age) for age in chance.integers(0, 3, size=6))
        outputs = tabulate(queries[number % 4], 6, 2)
        released = Released(outputs, np.array(ages), float(chance.choice([0.3, 1.0, 4.0])))
        for adversary in ADVERSARIES:
            listed = LeakageModel(model).measure(released, adversary)
            carried = without_a_list(model).measure(released, adversary)
            assert carried.exact == pytest.approx(listed.exact, rel=1e-9, abs=1e-11)
            assert np.all(carried.bounds["exact"] >= listed.exact)
            assert carried.bounds["exact"] == pytest.approx(listed.exact, rel=1e-7, abs=1e-9)


@pytest.mark.slow
def test_groups_far_beyond_what_is_listed_are_exact_where_coupling_is_sparse() -> None:
    place = np.arange(13)
    weights = np.tile([0.5, 0.25, 0.25], 13)
    columns = np.stack([place, (place + 1) % 13, (place - 1) % 13], axis=1).ravel()
    ring = sparse.csr_array((weights, (np.repeat(place, 3), columns)), shape=(13, 13))
    told = leakage(CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], ring), query=Mean(), ages=2, epsilon=1.0)
    assert told.certified_by == "exact"
    assert told.exact is not None
    assert told.reasons == ()
    assert max(told.each) == pytest.approx(min(told.each), rel=1e-9)  # a ring has no first one
    assert told.paper_theorem_1 is None
    everyone = leakage(
        CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], np.full((13, 13), 1 / 13)), query=Mean(), ages=2, epsilon=1.0
    )
    assert everyone.exact is None  # everyone hears everyone: nothing can be summed out early


@pytest.mark.slow
def test_too_many_values_or_too_old_ages_fall_back_to_bounds_and_say_so() -> None:
    chance = np.random.default_rng(4)
    gauge = LeakageModel(draw_sparse(chance, 11).model)
    weights = tuple(float(part) for part in chance.random(11))
    many = leakage(gauge, query=WeightedSum(weights), ages=1, epsilon=1.0)
    assert many.exact is None
    assert "too many values" in many.reasons[-1]
    assert leakage(gauge, query=Mean(), ages=5_000, epsilon=1.0).exact is None


def violations(cases: list[Case], *, mutant: type[Windows] = Windows) -> tuple[Counter[str], int]:
    """How often a window's bound lies below exact leakage, by adversary, and how many figures were compared."""
    below: Counter[str] = Counter()
    compared = 0
    for case in cases:
        model = case.model
        gauge = LeakageModel(model)
        gauge.windows = mutant(model)
        released = Released(tabulate(case.query, model.sequences, model.states), np.array(case.ages), case.epsilon)
        for adversary in ADVERSARIES:
            exact = gauge.measure(released, adversary).exact
            bound = gauge.by_window(released, adversary, np.arange(model.sequences))
            below[adversary] += int((bound < exact).sum())
            compared += int(np.isfinite(bound).sum())
    return below, compared


@pytest.mark.slow
def test_no_window_is_ever_below_the_truth(trials: Trials) -> None:
    chance = np.random.default_rng(5)
    count = trials(150, least=4)
    queries = (Sum(), Several((Sum(), WeightedSum((1.0, 0.0, 0.0, 2.0, 0.0)))), Maximum())
    cases = [draw(chance) for _ in range(count)]
    cases += [replace(draw_sparse(chance, 5), query=queries[number % 3]) for number in range(count)]
    below, compared = violations(cases)
    assert sum(below.values()) == 0
    assert compared > 4 * count


class Deaf(Windows):
    """Forgets that children outside the window speak for its states."""

    @property
    def hearing(self) -> Hearing:
        made = Hearing(self.model)
        made.children = [[] for _ in made.children]
        return made


class Settled(Windows):
    """Takes the middle of what parents outside may give, for its ends."""

    @property
    def hearing(self) -> Hearing:
        return _Middle(self.model)


class _Middle(Hearing):
    def outside(self, head: int, inside: list[int]) -> tuple[NDArray[np.float64], NDArray[np.float64], list[int]]:
        low, high, others = super().outside(head, inside)
        return (low + high) / 2, (low + high) / 2, others


@pytest.mark.slow
@pytest.mark.parametrize("mutant", [Deaf, Settled])
def test_windows_that_leave_out_what_is_outside_are_caught(mutant: type[Windows]) -> None:
    chance = np.random.default_rng(6)
    below, _ = violations([draw_sparse(chance, 5) for _ in range(4)], mutant=mutant)
    assert sum(below.values()) > 0


@pytest.mark.slow
def test_windows_certify_where_nothing_is_exact_and_leave_the_largest_groups_to_others() -> None:
    chance = np.random.default_rng(7)
    model = draw_sparse(chance, 8).model
    truth = leakage(model, query=Sum(), ages=1, epsilon=1.0)
    bounded = leakage(LeakageModel(model, largest=0), query=Sum(), ages=1, epsilon=1.0)
    assert bounded.exact is None
    assert bounded.certified_by == "window"
    assert "by the window bound" in str(bounded)
    assert truth.certified <= bounded.certified < 6 * truth.certified
    assert all(one <= other for one, other in zip(truth.each, bounded.each, strict=True))
    released = Released(tabulate(Sum(), 8, 2), np.ones(8, dtype=np.int64), 1.0)
    gauge = without_a_list(model)
    certified, by = gauge.certify(released, "knows_others")
    assert by == "exact"
    assert certified == pytest.approx(truth.certified, rel=1e-7)
    assert gauge.certify_quickly(released, "knows_others")[0] > bounded.certified
    large = draw_sparse(chance, 300).model
    released = Released(tabulate(Sum(), 300, 2), np.ones(300, dtype=np.int64), 1.0)
    assert np.isinf(LeakageModel(large).by_window(released, "knows_others", np.arange(300))).all()

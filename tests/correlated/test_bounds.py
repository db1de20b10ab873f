"""Every bound against exact leakage on thousands of random chains; formulas that are no bounds must be caught."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from chronodp.correlated import CouplingMarkovChain, LeakageModel, Maximum, Mean, Several, Sum, WeightedSum, leakage
from chronodp.correlated.bounds import (
    Windows,
    aged_distances,
    blunted,
    forward_distances,
    forward_dobrushin,
    from_distance,
    group_spans,
    least_ratios,
    round_up,
    total_variation,
)
from chronodp.correlated.bounds.window_factors import Hearing
from chronodp.correlated.elimination import Elimination
from chronodp.correlated.exact import Adversary
from chronodp.correlated.joint import JointChain
from chronodp.correlated.leakage_model import Released
from chronodp.correlated.mixtures import largest_log_ratio
from chronodp.correlated.published.paper import theorem_1, theorem_2
from chronodp.correlated.query import tabulate
from chronodp.correlated.sparse_joint import SparseJointChain
from chronodp.correlated.tuning import freshness, tune, tune_each
from chronodp.errors import InvalidArgument
from tests.conftest import Trials
from tests.correlated.chains import Case, draw, two

CERTIFIED = {"group ceiling", "one step", "space-time Dobrushin", "memory", "total variation", "forward Dobrushin"}
NO_BOUNDS = {"theorem 1", "theorem 2", "forward Dobrushin, irreversible"}


def every_bound(
    case: Case, gauge: LeakageModel, released: Released, exact: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    found = gauge.bounds(released, "knows_others")
    if len(gauge.groups) > 1 or released.releases > 1:
        return found
    joint, ages = gauge.joints[0], np.array(case.ages)
    heard = group_spans(case.model, released.outputs) * case.epsilon
    found["total variation"] = round_up(total_variation(joint, ages, heard=heard))
    forward = round_up(from_distance(forward_distances(case.model, ages), heard))
    found["forward Dobrushin" if joint.is_reversible else "forward Dobrushin, irreversible"] = forward
    formulas = {
        "theorem 1": theorem_1(case.model, query=case.query, ages=case.ages, epsilon=case.epsilon),
        "theorem 2": theorem_2(case.model, ages=case.ages, epsilon=case.epsilon),
    }
    for name, formula in formulas.items():
        found[name] = np.where(exact == exact.max(), formula, np.inf)
    return found


@pytest.mark.slow
def test_no_certified_bound_is_ever_below_the_truth_and_the_papers_are(trials: Trials) -> None:
    chance = np.random.default_rng(2026)
    checked: Counter[str] = Counter()
    broken: Counter[str] = Counter()
    for _ in range(trials(5_000, least=250)):
        case = draw(chance)
        gauge = LeakageModel(case.model)
        outputs = tabulate(case.query, case.model.sequences, case.model.states)
        releases = 2 if case.model.states**case.model.sequences <= 8 and chance.random() < 0.2 else 1
        released = Released(outputs, np.array(case.ages), case.epsilon, releases)
        for adversary in ("knows_others", "knows_none"):
            exact = gauge.measure(released, adversary).exact
            assert not np.isnan(exact).any()
            if adversary == "knows_others":
                bounds = every_bound(case, gauge, released, exact)
            else:
                bounds = gauge.bounds(released, "knows_none")
            for name, bound in bounds.items():
                checked[name] += 1
                broken[name] += bool(np.any(bound < exact))
    assert set(checked) == CERTIFIED | NO_BOUNDS
    assert {name for name in CERTIFIED if broken[name]} == set()
    assert {name for name in NO_BOUNDS if broken[name]} == NO_BOUNDS


def test_reversible_chains_may_spread_forward_and_others_may_not() -> None:
    ages = np.array([2, 2])
    joint = JointChain(two(0.75))
    assert (
        forward_dobrushin(joint, ages, heard=np.full(2, 2.0)).max()
        >= leakage(two(0.75), query=Mean(), ages=2, epsilon=1.0).certified
    )
    turning = CouplingMarkovChain([[0.9, 0.0, 0.1], [0.1, 0.9, 0.0], [0.0, 0.1, 0.9]], [[1.0]])
    with pytest.raises(InvalidArgument, match="looks different backwards"):
        forward_dobrushin(JointChain(turning), np.array([1]), heard=np.array([1.0]))


def test_the_closed_form_of_the_one_step_bound_is_attained() -> None:
    chance = np.random.default_rng(1)
    for told, heard in chance.exponential(2.0, size=(50, 2)):
        share = 1 / (1 + np.exp((told + heard) / 2))
        weights, rho, density = np.array([share, 1 - share]), np.array([np.exp(told), 1]), np.array([np.exp(heard), 1])
        reached = np.log((weights @ (rho * density)) / (weights @ rho) / (weights @ density))
        bound = blunted(np.array([told]), np.array([heard]))[0]
        assert bound == pytest.approx(reached, rel=1e-9)
        assert bound <= min(told, heard)
        other = chance.dirichlet(np.ones(6))
        rhos, densities = np.exp(told * chance.random(6)), np.exp(heard * chance.random(6))
        assert np.log((other @ (rhos * densities)) / (other @ rhos) / (other @ densities)) <= bound
    assert blunted(np.array([1e-9]), np.array([1e-9]))[0] == pytest.approx(2.5e-19, rel=1e-6)
    assert blunted(np.array([3.0, np.inf, 900.0]), np.array([np.inf, 2.0, 900.0])).tolist()[:2] == [3.0, 2.0]


def test_least_ratios_are_those_of_listing() -> None:
    chance = np.random.default_rng(4)
    for _ in range(30):
        case = draw(chance)
        laws = case.model.next_laws(JointChain(case.model).snapshots)
        listed = (laws[:, :, :, None] / laws[:, :, None, :]).min(axis=0)
        assert least_ratios(case.model) == pytest.approx(listed, rel=1e-12)


def ring(sequences: int, stay: float) -> CouplingMarkovChain:
    """Everyone hears itself and two neighbours, in a circle."""
    place = np.arange(sequences)
    rows = np.repeat(place, 3)
    columns = np.stack([place, (place + 1) % sequences, (place - 1) % sequences], axis=1).ravel()
    weights = np.tile([0.5, 0.25, 0.25], sequences)
    coupling = sparse.csr_array((weights, (rows, columns)), shape=(sequences, sequences))
    return CouplingMarkovChain([[stay, 1 - stay], [1 - stay, stay]], coupling)


def test_a_group_too_large_to_list_falls_back_to_a_bound_that_dies_with_age_and_says_so() -> None:
    gauge = LeakageModel(ring(400, 0.62))
    found = [leakage(gauge, query=Mean(), ages=age, epsilon=1.0) for age in (1, 3, 6)]
    assert [told.exact for told in found] == [None] * 3
    assert found[0].certified > 5 * found[1].certified > 25 * found[2].certified > 0
    assert found[2].certified_by == "space-time Dobrushin"
    assert "a group of 400 sequences has 2^400 joint states" in found[0].reasons[0]
    assert len(found[0].each) == 400
    # A circle of 8 is listed; the bound for the same neighbourhood lies above it.
    small = leakage(ring(8, 0.62), query=Mean(), ages=3, epsilon=1.0)
    assert small.exact is not None
    assert small.exact <= found[1].certified
    assert found[0].paper_theorem_1 is None


@pytest.mark.slow
def test_a_stream_of_releases_never_tells_more_than_the_last_step() -> None:
    gauge = LeakageModel(ring(60, 0.62))
    one, ten, many = (leakage(gauge, query=Mean(), ages=2, epsilon=1.0, releases=n) for n in (1, 10, 1000))
    assert one.certified < ten.certified <= many.certified
    assert many.certified < 3.0  # one step: h, whatever was released before
    assert many.series == 1000.0
    small = LeakageModel(two(0.75))
    exact = [leakage(small, query=Mean(), ages=1, epsilon=1.0, releases=n).exact for n in (1, 2, 3)]
    assert exact == sorted(exact)  # type: ignore[type-var]


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

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given, strategies as st

from chronodp.accounting import (
    Costs,
    advanced,
    adversary,
    basic,
    calibrate,
    compare,
    enlarge,
    gather,
    gaussian,
    group,
    most_releases,
    optimal,
    pld,
    renyi,
    zcdp,
)
from chronodp.accounting.gaussian import _largest_mu, _near_mu, delta_of
from chronodp.accounting.solving import largest
from chronodp.errors import InvalidArgument, UnsupportedCost
from chronodp.privacy import (
    ApproximateCost,
    AssumedCost,
    Assumption,
    BoundedRangeCost,
    Cost,
    GaussianCost,
    LaplaceCost,
    PureCost,
    RandomizedResponseCost,
    RepeatedCost,
    SequenceCost,
)

epsilons = st.floats(math.log(1e-6), math.log(1e3)).map(math.exp)
deltas = st.floats(math.log(1e-15), math.log(0.5)).map(math.exp)
FAST: dict[str, Callable[[Costs, float], float]] = {
    "basic": basic.epsilon,
    "advanced": advanced.epsilon,
    "zcdp": zcdp.epsilon,
    "renyi textbook": renyi.epsilon_textbook,
    "renyi": renyi.epsilon,
    "gaussian": gaussian.epsilon,
}


@pytest.mark.slow
@given(epsilons, deltas, st.integers(1, 1000), st.sampled_from(sorted(FAST)))
def test_more_releases_cost_more_and_more_delta_costs_less(epsilon: float, delta: float, times: int, name: str) -> None:
    theorem = FAST[name]
    for single in (PureCost(epsilon), LaplaceCost(epsilon, 1.0), GaussianCost(epsilon, 1.0)):
        once, more = theorem(RepeatedCost(single, times), delta), theorem(RepeatedCost(single, times + 1), delta)
        assert once <= more * (1 + 1e-9)
        assert theorem(RepeatedCost(single, times), min(0.9, 2 * delta)) <= once * (1 + 1e-9)


@pytest.mark.slow
@given(epsilons, deltas, st.integers(1, 300))
def test_optimal_composition_is_below_basic_and_advanced(epsilon: float, delta: float, times: int) -> None:
    cost = RepeatedCost(PureCost(epsilon), times)
    best = optimal.epsilon(cost, delta)
    assert best <= basic.epsilon(cost) * (1 + 1e-9)
    assert best <= advanced.epsilon(cost, delta) * (1 + 1e-9)
    assert best <= renyi.epsilon(cost, delta) * (1 + 1e-9)
    assert optimal.delta_of(cost, best) <= delta * (1 + 1e-9)


@pytest.mark.slow
def test_privacy_loss_distributions_take_extremes(subtests: pytest.Subtests) -> None:
    for delta, epsilon in product([1e-15, 1e-6, 0.5], [1e-6, 1e-3, 1.0, 30.0, 1000.0]):
        with subtests.test(delta=delta, epsilon=epsilon):
            for cost in (
                PureCost(epsilon),
                LaplaceCost(epsilon, 1.0),
                GaussianCost(1.0, gaussian.sigma(epsilon, delta)),
            ):
                if epsilon > 700 and not isinstance(cost, GaussianCost):
                    with pytest.raises(UnsupportedCost, match="overflow"):
                        pld.epsilon(cost, delta)
                else:
                    assert 0 <= pld.epsilon(cost, delta) <= epsilon * 1.02 + 1e-9


@pytest.mark.slow
def test_distributions_of_mixtures_stay_below_every_sound_bound() -> None:
    mixture: list[Cost] = [
        RepeatedCost(GaussianCost(1.0, 8.0), 5),
        LaplaceCost(1.0, 4.0),
        RandomizedResponseCost(0.3, 4),
        PureCost(0.1),
    ]
    for delta in (1e-9, 1e-6, 1e-3, 0.1):
        tight = pld.epsilon(mixture, delta)
        assert tight <= min(renyi.epsilon(mixture, delta), gaussian.epsilon(mixture, delta)) + 1e-3, delta


@pytest.mark.slow
def test_a_hundred_thousand_different_gaussian_costs() -> None:
    costs = [GaussianCost(sensitivity=1.0, sigma=300.0 + index / 1000) for index in range(100_000)]
    epsilon = gaussian.epsilon(costs, 1e-6)
    mu = math.sqrt(math.fsum(1 / cost.sigma**2 for cost in costs))
    assert epsilon == pytest.approx(gaussian.epsilon_of(mu, 1e-6), rel=1e-12)
    table = compare(costs, 1e-6)
    assert table.best_adaptive.theorem == "Gaussian (GDP)"


@pytest.mark.slow
def test_costs_of_any_shape_gather_to_the_same_spending() -> None:
    markov = Assumption("Markov", "the past matters only through the present")
    nested = SequenceCost((PureCost(0.1), RepeatedCost(SequenceCost((GaussianCost(1.0, 2.0), PureCost(0.1))), 3)))
    flat = gather([PureCost(0.1)] * 4 + [GaussianCost(1.0, 2.0)] * 3)
    assert gather(nested).releases == flat.releases
    assert gather(AssumedCost(nested, markov)).assumptions == (markov,)
    table = compare(AssumedCost(nested, markov), 1e-6)
    assert "assuming Markov" in str(table)
    assert flat.count == 7


def test_how_many_releases_fit() -> None:
    for each, total, fits in ((0.1, 1.0, 10), (0.1, 0.3, 3), (0.05, 1.0, 20), (0.3, 1.0, 3), (2.0, 1.0, 0)):
        assert most_releases(PureCost(each), epsilon=total, delta=0.0, by=basic.epsilon) == fits
    day = GaussianCost(1.0, 50.0)
    fits = most_releases(day, epsilon=1.0, delta=1e-6, by=gaussian.epsilon)
    assert gaussian.epsilon(RepeatedCost(day, fits), 1e-6) <= 1 < gaussian.epsilon(RepeatedCost(day, fits + 1), 1e-6)


@given(epsilons, deltas)
def test_calibration_reaches_the_target_from_below(epsilon: float, delta: float) -> None:
    scale = calibrate(lambda value: LaplaceCost(1.0, value), epsilon=epsilon, delta=delta, by=basic.epsilon)
    assert scale == pytest.approx(1 / epsilon, rel=1e-12)
    assert basic.epsilon(LaplaceCost(1.0, scale), delta) <= epsilon


def test_calibration_says_when_nothing_helps() -> None:
    with pytest.raises(InvalidArgument, match="within reach"):
        calibrate(lambda _: PureCost(2.0), epsilon=1.0, delta=1e-6, by=basic.epsilon)


def test_groups() -> None:
    assert group(0.5, 0.0, 4) == (2.0, 0.0)
    assert group(1e-9, 1e-6, 7)[1] == pytest.approx(7e-6, rel=1e-6)
    assert group(800.0, 1e-300, 3)[1] == 1.0
    assert enlarge(GaussianCost(2.0, 5.0), 3) == GaussianCost(6.0, 5.0)
    assert enlarge(SequenceCost((PureCost(1.0), LaplaceCost(1.0, 2.0))), 2) == SequenceCost(
        (PureCost(2.0), LaplaceCost(2.0, 2.0))
    )
    with pytest.raises(UnsupportedCost, match="promises nothing about 24 units"):
        enlarge(ApproximateCost(1.0, 1e-6), 24)
    cost = AssumedCost(RepeatedCost(RandomizedResponseCost(0.5, 3), 2), Assumption("a", "b"))
    assert enlarge(cost, 2).cost == RepeatedCost(PureCost(1.0), 2)  # type: ignore[union-attr]


def test_deltas_that_do_not_suffice_give_no_epsilon() -> None:
    cost = RepeatedCost(ApproximateCost(0.1, 1e-6), 100)
    for theorem in (*FAST.values(), optimal.epsilon, pld.epsilon):
        assert math.isinf(theorem(cost, 1e-5))
        assert math.isfinite(theorem(cost, 2e-4))
    table = compare(cost, 1e-5)
    assert {bound.epsilon for bound in table.bounds} == {None}
    assert all("does not cover" in bound.remark for bound in table.bounds)


def test_every_theorem_refuses_bad_deltas(subtests: pytest.Subtests) -> None:
    for delta in [0, 1, -1e-9, 1.5, math.nan, math.inf, None, "1e-6"]:
        with subtests.test(delta=delta):
            for name, theorem in {**FAST, "optimal": optimal.epsilon, "pld": pld.epsilon}.items():
                if name == "basic" and delta == 0:
                    continue  # a pure sum needs no delta
                with pytest.raises(InvalidArgument, match="delta"):
                    theorem(PureCost(1.0), delta)  # type: ignore[arg-type]


def test_other_bad_input() -> None:
    for costs in ([], [1.0], "pure", None, 3):
        with pytest.raises(InvalidArgument, match="costs"):
            gather(costs)  # type: ignore[arg-type]
    for order in (1, 1.0, 0.5, -3, math.nan, math.inf, "2"):
        with pytest.raises(InvalidArgument, match="order must be a finite number above 1"):
            renyi.divergence(PureCost(1.0), order)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="slack"):
        compare(PureCost(1.0), slack=0.0)
    with pytest.raises(InvalidArgument, match="delta must be given, or slack in its place"):
        compare(PureCost(1.0))
    with pytest.raises(InvalidArgument, match="not both"):
        compare(PureCost(1.0), 1e-6, slack=1e-7)
    with pytest.raises(InvalidArgument, match="theorem must be one of basic"):
        compare(PureCost(1.0), 1e-6)["magic"]
    with pytest.raises(InvalidArgument, match="beyond must be above epsilon"):
        adversary.odds_tail(1.0, 1e-6, 1.0)
    with pytest.raises(UnsupportedCost, match="bounded likelihood ratio"):
        optimal.epsilon(GaussianCost(1.0, 1.0), 1e-6)
    many: list[Cost] = [LaplaceCost(1.0, 10.0 + index) for index in range(300)]
    with pytest.raises(UnsupportedCost, match="too slow"):
        pld.epsilon(many, 1e-6)
    with pytest.raises(UnsupportedCost, match="use PLD"):
        optimal.epsilon(many, 1e-6)
    for times in (0, -1, 2.5):
        with pytest.raises(InvalidArgument, match="times"):
            advanced.compose(0.1, 1e-8, times=times, slack=1e-7)  # type: ignore[arg-type]


def test_extreme_costs_are_priced_or_refused_in_the_table(subtests: pytest.Subtests) -> None:
    extremes: list[Cost] = [PureCost(1e-60), PureCost(1e60), LaplaceCost(1e-60, 1e60), LaplaceCost(1e60, 1e-60)]
    extremes += [GaussianCost(1e-60, 1e60), GaussianCost(1e60, 1e-60), RandomizedResponseCost(1e60, 10**9)]
    extremes += [BoundedRangeCost(1e60), BoundedRangeCost(1e-60)]
    extremes += [RepeatedCost(PureCost(0.1), 10**18), RepeatedCost(GaussianCost(1.0, 50.0), 10**18)]
    for cost in extremes:
        with subtests.test(cost=cost):
            table = compare(cost, 1e-6)
            for bound in table.bounds:
                assert bound.epsilon is None or bound.epsilon >= 0
                assert bound.epsilon is not None or bound.remark
            if isinstance(cost, PureCost) and cost.epsilon > 1:
                # delta = 1e-6 buys a pure guarantee next to nothing: no theorem may pretend otherwise.
                assert all(
                    bound.epsilon is None or bound.epsilon >= cost.epsilon * (1 - 1e-13) for bound in table.bounds
                )
            if isinstance(cost, GaussianCost) and cost.sensitivity > cost.sigma:
                assert table["Gaussian (GDP)"].epsilon == pytest.approx(5e239, rel=1e-12)


# Inverses: what is known beforehand saves work, and changes no bit of the answer.
@given(epsilon=st.floats(1e-8, 1e4), delta=st.floats(1e-300, 1 - 1e-9, exclude_min=True))
def test_mu_is_the_same_to_the_last_bit_with_and_without_a_guess(epsilon: float, delta: float) -> None:
    assert _largest_mu(epsilon, delta) == largest(lambda value: delta_of(value, epsilon) <= delta)


@given(root=st.floats(1e-200, 1e200), off=st.floats(-1.0, 1.0))
def test_a_wrong_guess_changes_nothing(root: float, off: float) -> None:
    plain = largest(lambda value: value <= root)
    for near in (root * (1 + off), root * (1 + 1e-9 * off), root * (1 + 1e-8 * off), math.inf, math.nan, 0.0):
        assert largest(lambda value: value <= root, near=near) == plain


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-7), (4.0, 1e-6), (1e-3, 1e-9), (30.0, 1e-12)])
def test_guesses_are_right_to_nine_digits_and_save_work(epsilon: float, delta: float) -> None:
    calls = [0, 0]

    def holds(place: int, value: float) -> bool:
        calls[place] += 1
        return delta_of(value, epsilon) <= delta

    near = _near_mu(epsilon, delta)
    found = largest(lambda value: holds(0, value), near=near)
    assert found == largest(lambda value: holds(1, value))
    assert near == pytest.approx(found, rel=1e-10)
    assert calls[0] <= calls[1] / 2

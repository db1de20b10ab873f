"""Events that give everything away: probabilities add, losses do not, and groups meet them more often."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from itertools import product
from pathlib import Path

import mpmath
import pytest
from hypothesis import given, strategies as st
from scipy.special import ndtri_exp

from chronodp.accounting import (
    Costs,
    advanced,
    adversary,
    basic,
    compare,
    enlarge,
    gather,
    gaussian,
    group,
    loss,
    optimal,
    pld,
    renyi,
    zcdp,
)
from chronodp.audit.allowance import Allowance
from chronodp.audit.bounds import GaussianRule, rules_for
from chronodp.audit.case import AuditCase
from chronodp.audit.exact import examine
from chronodp.audit.walked import Enumerated
from chronodp.errors import InvalidArgument, UnsupportedCost
from chronodp.privacy import (
    ApproximateCost,
    AssumedCost,
    Assumption,
    Claim,
    Cost,
    FailureCost,
    GaussianCost,
    LaplaceCost,
    PureCost,
    RandomizedResponseCost,
    RepeatedCost,
    SampledGaussianCost,
    SequenceCost,
    User,
)
from chronodp.randomness import Entropy

THEOREMS: dict[str, Callable[[Costs, float], float]] = {
    "basic": basic.epsilon,
    "advanced": advanced.epsilon,
    "optimal": optimal.epsilon,
    "zCDP": zcdp.epsilon,
    "Rényi, textbook": renyi.epsilon_textbook,
    "Rényi, improved": renyi.epsilon,
    "Gaussian": gaussian.epsilon,
    "PLD": pld.epsilon,
}
NOISE = (GaussianCost(1.0, 9.0), GaussianCost(1.0, 4.5))
RELEASES: dict[str, Cost] = {
    "Gaussian": SequenceCost(NOISE),
    "pure": RepeatedCost(PureCost(0.2), 3),
    "Laplace and Gaussian": SequenceCost((LaplaceCost(1.0, 3.0), NOISE[0])),
    "a sample": RepeatedCost(SampledGaussianCost(1.0, 2.0, 0.1), 4),
    "responses": RepeatedCost(RandomizedResponseCost(0.3, 3), 2),
}
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "keys" / "ledger_form.json").read_text())


@pytest.mark.slow
def test_epsilon_is_that_of_the_releases_at_the_delta_that_failures_leave(subtests: pytest.Subtests) -> None:
    for releases, theorem in product(RELEASES, THEOREMS):
        with subtests.test(releases=releases, theorem=theorem):
            epsilon, cost = THEOREMS[theorem], RELEASES[releases]
            if theorem == "optimal" and gather(cost).gaussian:
                with pytest.raises(UnsupportedCost):
                    epsilon(SequenceCost((cost, FailureCost(4e-7))), 1e-6)
                continue
            found = epsilon(SequenceCost((cost, RepeatedCost(FailureCost(2e-7), 2))), 1e-6)
            assert found == pytest.approx(epsilon(cost, 6e-7), rel=1e-9)
            assert found >= epsilon(cost, 6e-7) * (1 - 1e-13)  # each is found by a search that ends there


def test_failures_alone_cost_no_epsilon_and_all_of_their_delta(subtests: pytest.Subtests) -> None:
    for theorem, epsilon in THEOREMS.items():
        with subtests.test(theorem=theorem):
            assert epsilon(RepeatedCost(FailureCost(1e-7), 5), 1e-6) == 0.0
            assert epsilon(RepeatedCost(FailureCost(1e-7), 11), 1e-6) == math.inf
            assert epsilon(SequenceCost((*NOISE, FailureCost(0.2))), 0.1) == math.inf or theorem == "optimal"


def test_failures_add_nothing_to_native_sums() -> None:
    for plain in RELEASES.values():
        both = SequenceCost((plain, FailureCost(1e-3)))
        assert gaussian.mu(both) == gaussian.mu(plain)
        assert zcdp.rho(both) == zcdp.rho(plain)
        assert renyi.divergence(both, 8.0) == renyi.divergence(plain, 8.0)
        assert gather(both).releases == gather(plain).releases
    alone = FailureCost(1e-3)
    assert (gaussian.mu(alone), zcdp.rho(alone), renyi.divergence(alone, 2.0)) == (0.0, 0.0, 0.0)
    assert gather(alone).count == 0


def beside(value: int, *, entropy: Entropy, parts: int = 1) -> object:
    """One of three answers, the true one at odds of 3; the third, which tells nothing, fails ``parts`` times in 4."""
    draw = int(entropy.integers(5, 1)[0])
    answer = value if draw < 3 else (value + draw - 2) % 3
    return ("all", value) if answer == 2 and entropy.coins(parts, 4) else answer


ANSWER = RandomizedResponseCost(math.log(3), 3)


@pytest.mark.parametrize("parts", [1, 2, 4])
def test_the_sum_is_attained_by_a_failure_where_the_answer_tells_nothing(parts: int) -> None:
    """So 1 - prod(1 - delta_i), which holds for releases known as (epsilon, delta), would be too little here."""
    finding = examine(lambda value, *, entropy: beside(value, entropy=entropy, parts=parts), [(0, 1)])
    cost = SequenceCost((ANSWER, RepeatedCost(FailureCost(0.05), parts)))
    true = 0.4 + 0.05 * parts
    assert finding.delta(0.0) == pytest.approx((true, true), abs=1e-12)
    assert adversary.advantage(cost) == pytest.approx(true, rel=1e-12)
    assert adversary.advantage(cost) >= true
    assert finding.refutes(0.0, 1 - 0.6 * 0.95**parts)
    for epsilon in THEOREMS.values():
        for delta in (0.05 * parts + 1e-3, 0.05 * parts + 0.1, 0.3):
            stated = epsilon(cost, delta)
            assert math.isinf(stated) or not finding.refutes(stated, delta * (1 + 1e-9))
    # The mutant: a spending that counts the failure among releases known as (epsilon, delta).
    delta = 0.05 * parts + 0.1
    forgiving = pld.epsilon(ANSWER, (delta - 0.05 * parts) / (1 - 0.05 * parts))
    assert finding.refutes(forgiving, delta)


def test_delta_and_loss_say_what_the_whole_may_give_away() -> None:
    both = SequenceCost((PureCost(0.5), ApproximateCost(0.5, 0.01), FailureCost(0.02)))
    without = SequenceCost((PureCost(0.5), ApproximateCost(0.5, 0.01)))
    assert optimal.delta_of(both, 0.3) == pytest.approx(0.02 + optimal.delta_of(without, 0.3), rel=1e-12)
    assert gather(both).left_of(0.1) == pytest.approx((0.08 - 0.01) / 0.99, rel=1e-12)
    assert loss(both).mean == math.inf
    low, high = loss(both).tail_bounds(0.3)
    assert high == pytest.approx(0.02 + loss(without).tail(0.3), rel=1e-12)
    assert low == pytest.approx(loss(without).tail_bounds(0.3)[0], rel=1e-12)
    assert loss(FailureCost(0.02)).tail_bounds(5.0) == pytest.approx((0.02, 0.02))
    assert adversary.advantage(FailureCost(0.02)) == pytest.approx(0.02)


def test_a_comparison_prices_failures_in_every_row() -> None:
    cost = SequenceCost((PureCost(0.5), FailureCost(1e-7)))
    table = compare(cost, 1e-6)
    assert table["basic"].epsilon == 0.5
    assert table.releases == 1
    assert compare(cost, slack=1e-6)["optimal"].delta == pytest.approx(1.1e-6)
    assert compare(cost, slack=1e-6)["basic"].delta == pytest.approx(1e-7)
    assert "failures" in compare(SequenceCost((*NOISE, FailureCost(1e-7))), 1e-6)["Gaussian (GDP)"].remark
    assert table["Gaussian (GDP)"].epsilon is not None
    short = compare(SequenceCost((*NOISE, FailureCost(1e-5))), 1e-6)
    assert "does not cover" in short["Gaussian (GDP)"].remark


@pytest.mark.parametrize("row", GOLDEN, ids=str)
def test_the_form_that_ledgers_charge_has_the_stored_price(row: dict[str, str]) -> None:
    epsilon, delta, keys = float(row["eps"]), float(row["delta"]), int(row["m"])
    failure = float(row["share_of_delta_for_keys"]) * delta
    cost = SequenceCost((GaussianCost(math.sqrt(keys), float(row["sigma"])), FailureCost(failure)))
    assert gaussian.mu(cost) == pytest.approx(float(row["mu"]), rel=1e-12)
    assert gaussian.epsilon(cost, delta) == pytest.approx(epsilon, rel=1e-9)
    with mpmath.workdps(40):
        lone = mpmath.ncdf(-(mpmath.mpf(row["tau"]) - 1) / mpmath.mpf(row["sigma"]))
        assert mpmath.almosteq(1 - (1 - lone) ** keys, mpmath.mpf(failure), rel_eps=1e-12)


@given(st.floats(1e-12, 1e-2), st.floats(0.01, 2.0), st.integers(2, 40))
def test_several_people_pass_a_threshold_no_more_often_than_their_failure_says(
    delta: float, mu: float, people: int
) -> None:
    """A key that one person alone gets published with probability delta, held by nobody or by all of a group."""
    with mpmath.workdps(40):
        lone = mpmath.findroot(lambda x: mpmath.log(mpmath.ncdf(x) / delta), -mpmath.sqrt(-2 * mpmath.log(delta)))
        published = mpmath.ncdf(lone + (people - 1) * mpmath.mpf(mu))
    try:
        found = enlarge(SequenceCost((GaussianCost(mu, 1.0), FailureCost(delta))), people)
    except UnsupportedCost:
        assert published > 0.01
        return
    (failure,) = gather(found).failures
    assert failure.delta >= published
    assert failure.delta >= people * delta * (1 - 1e-12)
    assert gaussian.mu(found) == pytest.approx(people * mu, rel=1e-12)


def test_a_group_s_failure_is_attained_by_the_rule_that_grows_as_fast_as_it_may() -> None:
    """π(n) = e^ε π(n - 1) + δ: published for n people against never, which no epsilon covers."""
    epsilon, delta, chance = 0.5, 1e-4, 0.0
    for people in range(1, 8):
        chance = math.exp(epsilon) * chance + delta
        found = enlarge(SequenceCost((PureCost(epsilon), FailureCost(delta))), people)
        (failure,) = gather(found).failures
        assert failure.delta == pytest.approx(chance, rel=1e-12)
        assert basic.losses(gather(found)) == pytest.approx(people * epsilon)


def test_groups_of_other_shapes() -> None:
    assert enlarge(FailureCost(0.01), 3) == FailureCost(0.03)
    same = SequenceCost((PureCost(0.5), FailureCost(0.01)))
    assert enlarge(same, 1) is same
    both = SequenceCost((PureCost(0.5), ApproximateCost(0.5, 0.01), FailureCost(0.01)))
    assert enlarge(both, 2) == SequenceCost((PureCost(2.0), FailureCost(group(1.0, 0.02, 2)[1])))
    assumed = AssumedCost(FailureCost(0.01), Assumption("a", "b"))
    assert enlarge(assumed, 2) == AssumedCost(FailureCost(0.02), Assumption("a", "b"))
    many = enlarge(SequenceCost((GaussianCost(1e-9, 1.0), FailureCost(1e-12))), 10**6)
    assert next(iter(gather(many).failures)).delta == pytest.approx(1e-6, rel=0.1)
    for cost, steps in ((FailureCost(0.4), 3), (both, 99), (SequenceCost((*NOISE, FailureCost(0.1))), 50)):
        with pytest.raises(UnsupportedCost, match="promises nothing about"):
            enlarge(cost, steps)
    with pytest.raises(UnsupportedCost, match="promises nothing about"):
        enlarge(RepeatedCost(FailureCost(0.4), 3), 2)


@given(st.floats(1e-300, 0.999), st.floats(1e-9, 30.0))
def test_power_is_never_below_the_truth(level: float, mu: float) -> None:
    with mpmath.workdps(60):
        x = mpmath.mpf(float(ndtri_exp(math.log(level))))
        for _ in range(4):  # Newton's method on ln Φ, to far beyond floats
            x -= (mpmath.log(mpmath.ncdf(x)) - mpmath.log(level)) * mpmath.ncdf(x) / mpmath.npdf(x)
        true = mpmath.ncdf(x + mpmath.mpf(mu))
        found = gaussian.power(mu, level)
        assert found >= true or found == 1.0
        assert found <= true * (1 + mpmath.mpf("1e-9"))


def test_the_auditor_does_not_hold_a_failure_to_the_gaussian_curve() -> None:
    def rules(cost: Cost) -> list[type]:
        return [type(rule) for rule in rules_for(Claim(User(), cost, "a page"), 1e-6)]

    assert GaussianRule in rules(SequenceCost(NOISE))
    assert GaussianRule not in rules(SequenceCost((*NOISE, FailureCost(4e-7))))


def test_a_claim_with_a_failure_is_read_where_its_delta_ends() -> None:
    def case(failure: float, delta: float) -> AuditCase:
        claim = Claim(User(), SequenceCost((ANSWER, FailureCost(failure))), "a page")
        return AuditCase(name="beside", mechanism=beside, neighbours=((0, 1),), claim=claim, delta=delta)

    assert case(0.05, 0.05).epsilon == pytest.approx(math.log(3))
    assert not Enumerated().attack(case(0.05, 0.05), Allowance()).refuted
    assert Enumerated().attack(case(0.049, 0.049), Allowance()).refuted
    with pytest.raises(InvalidArgument, match="no less than the delta"):
        case(0.05, 0.0499)

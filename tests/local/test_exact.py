"""The shipped device code, walked through every outcome of its draws."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import pytest

from chronodp.audit.exact import examine, outcomes
from chronodp.local import (
    Fresh,
    Hybrid,
    LaplaceNumber,
    LocalHashing,
    LocalPlan,
    Memoised,
    OneBit,
    OptimizedUnary,
    Piecewise,
    RandomizedResponse,
    Slots,
    SymmetricUnary,
    WindowBudget,
    WindowPopulation,
)
from chronodp.local.mechanism import LocalMechanism
from chronodp.privacy import History
from chronodp.randomness import Entropy
from tests.local.histories import Pair, pairs, teller, worst

RANGE = (-1.0, 3.0)
QUARTERS = (-1.0, 0.0, 1.0, 2.0, 3.0)

ONE_REPORT: list[tuple[LocalMechanism, Sequence[float]]] = [
    *((RandomizedResponse(epsilon, choices), range(choices)) for epsilon in (0.1, 1.0, 7.0) for choices in (2, 3, 6)),
    *((OptimizedUnary(epsilon, choices), range(choices)) for epsilon in (0.1, 1.0, 7.0) for choices in (2, 4)),
    *((SymmetricUnary(epsilon, choices), range(choices)) for epsilon in (0.1, 1.0, 7.0) for choices in (2, 4)),
    *((OneBit(epsilon, RANGE, grid=4), QUARTERS) for epsilon in (0.1, 1.0, 7.0)),
    *((Piecewise(epsilon, RANGE, grid=grid), QUARTERS) for epsilon in (0.1, 1.0, 7.0) for grid in (7, 24)),
    *((Hybrid(epsilon, RANGE, grid=12), QUARTERS) for epsilon in (0.1, 1.0, 7.0)),
    *((LaplaceNumber(epsilon, RANGE, grid=1), (-1.0, 3.0)) for epsilon in (1.0, 2.0)),
]


@pytest.mark.parametrize(("mechanism", "values"), ONE_REPORT, ids=repr)
def test_the_worst_odds_of_a_report_are_the_stated_ones(mechanism: LocalMechanism, values: Sequence[float]) -> None:
    plan = LocalPlan("one", mechanism, Fresh(horizon=1))
    finding = worst(plan, [((one,), (two,)) for one, two in itertools.combinations(values, 2)])
    assert finding.epsilon == pytest.approx(mechanism.epsilon, abs=1e-12)
    assert not finding.refutes(mechanism.epsilon)
    if not isinstance(mechanism, LaplaceNumber):  # finite choices alone: the ratio is exact and never above
        assert finding.ratio is not None
        assert finding.epsilon <= mechanism.epsilon


@pytest.mark.slow
def test_laplace_noise_that_is_drawn_again_has_its_law_too() -> None:
    plan = LocalPlan("one", LaplaceNumber(1.0, RANGE, grid=2), Fresh(horizon=1))
    finding = worst(plan, [((-1.0,), (3.0,))], most_decays=16)
    assert finding.epsilon == pytest.approx(1.0, abs=1e-4)
    scale = 2.0
    found = finding.pairs[0][0].probabilities
    assert float(found[((0,),)]) == pytest.approx(1 - math.exp(-0.5 / scale), abs=1e-5)
    for size in (1, 2, 3):
        expected = 0.5 * math.exp(-0.5 / scale) * (1 - math.exp(-1 / scale)) * math.exp(-(size - 1) / scale)
        assert float(found[((size,),)]) == pytest.approx(expected, abs=1e-5)


def test_hashes_tell_nothing_and_their_answers_no_more_than_stated() -> None:
    # The real prime has too many hashes to walk: the same code with a prime of five.
    compiled = LocalPlan("one", LocalHashing(1.0, 4), Fresh(horizon=1)).compiled
    small = {**compiled, "mechanism": {**compiled["mechanism"], "prime": 5}}

    def tell(value: int, *, entropy: Entropy) -> object:
        from chronodp.audit.devices import report_history

        return report_history(small, (value,), entropy=entropy)

    finding = examine(tell, list(itertools.combinations(range(4), 2)))
    assert finding.epsilon == pytest.approx(1.0, abs=1e-12)
    assert finding.epsilon <= 1.0


@pytest.mark.parametrize("mechanism", [RandomizedResponse(0.4, 2), OptimizedUnary(0.4, 2)], ids=repr)
@pytest.mark.parametrize("protocol", [Fresh(4), Slots(4, 1), Slots(4, 2)], ids=str)
@pytest.mark.slow
def test_fresh_answers_add_up_whatever_the_histories(mechanism: LocalMechanism, protocol: Fresh | Slots) -> None:
    plan = LocalPlan("over time", mechanism, protocol)
    same, different = pairs((0, 1), 4)
    alike, any_ = worst(plan, same), worst(plan, different)
    assert max(alike.epsilon, any_.epsilon) == pytest.approx(plan.lifetime.any_pattern, abs=1e-12)
    assert plan.lifetime.any_pattern == plan.lifetime.same_pattern
    assert not alike.refutes(plan.lifetime.same_pattern)
    assert not any_.refutes(plan.lifetime.any_pattern)


@pytest.mark.parametrize(("permanent", "first"), [(1.0, 0.5), (2.0, 1.0), (2.0, 0.3)])
@pytest.mark.slow
def test_kept_answers_give_away_what_is_stated_in_both_classes(permanent: float, first: float) -> None:
    plan = LocalPlan("kept", RandomizedResponse(first, 2), Memoised(permanent_epsilon=permanent, horizon=4))
    same, different = pairs((0, 1), 4)
    alike, any_ = worst(plan, same), worst(plan, same + different)
    assert alike.epsilon == pytest.approx(plan.lifetime.same_pattern, abs=1e-12)
    assert any_.epsilon == pytest.approx(plan.lifetime.any_pattern, abs=1e-12)
    assert not alike.refutes(plan.lifetime.same_pattern)
    assert not any_.refutes(plan.lifetime.any_pattern)
    assert plan.lifetime.linkable


def test_one_level_is_unbounded_between_histories_that_change_at_other_times() -> None:
    plan = LocalPlan("kept", RandomizedResponse(1.0, 2), Memoised(permanent_epsilon=1.0, horizon=4))
    same, different = pairs((0, 1), 4)
    assert worst(plan, same).epsilon == pytest.approx(2.0, abs=1e-12)
    assert worst(plan, different).epsilon == plan.lifetime.any_pattern == math.inf
    assert worst(plan, [((0, 0, 0, 0), (0, 0, 0, 1))]).ratio is None


@pytest.mark.slow
def test_kept_answers_of_three_values_stay_below_the_stated_bounds() -> None:
    protocol = Memoised(permanent_epsilon=1.5, horizon=3, max_values=2)
    plan = LocalPlan("kept", RandomizedResponse(0.5, 3), protocol)
    same, different = pairs((0, 1, 2), 3)
    alike, any_ = worst(plan, same), worst(plan, different)
    assert alike.epsilon <= plan.lifetime.same_pattern
    assert any_.epsilon <= plan.lifetime.any_pattern
    assert alike.epsilon > 0.25 * plan.lifetime.same_pattern  # the comparison is not empty


@pytest.mark.slow
def test_the_limit_on_distinct_values_holds_with_one_level() -> None:
    plans = [
        LocalPlan("kept", RandomizedResponse(1.0, 3), Memoised(1.0, horizon=3, max_values=limit)) for limit in (1, 2, 3)
    ]
    same, _ = pairs((0, 1, 2), 3)
    for plan, stated in zip(plans, (1.0, 2.0, 3.0), strict=True):
        assert worst(plan, same).epsilon == pytest.approx(stated, abs=1e-12)
        assert plan.lifetime.same_pattern == pytest.approx(stated, abs=1e-12)


def sides(history: tuple[float, ...]) -> tuple[tuple[bool, ...], ...]:
    """On which side of each threshold a counter lies, as seen from where it begins."""
    return tuple(tuple((value > level) == (history[0] > level) for value in history) for level in (0, 1))


@pytest.mark.parametrize("first", [1.0, 0.5])
@pytest.mark.slow
def test_counters_rounded_to_one_bit(first: float) -> None:
    plan = LocalPlan("counter", OneBit(first, (0.0, 2.0), grid=2), Memoised(permanent_epsilon=1.0, horizon=4))
    whole = list(itertools.product((0.0, 1.0, 2.0), repeat=3))
    crossing = [pair for pair in itertools.combinations(whole, 2) if sides(pair[0]) == sides(pair[1])]
    assert worst(plan, crossing).epsilon <= plan.lifetime.same_pattern
    assert worst(plan, [((0.0, 2.0, 0.0, 2.0), (2.0, 0.0, 2.0, 0.0))]).epsilon <= plan.lifetime.same_pattern
    if first == 1.0:  # equal values at the same times are not enough: here the thresholds crossed differ
        assert worst(plan, pairs((0.0, 1.0, 2.0), 3)[0]).epsilon > plan.lifetime.same_pattern + 0.1
        assert plan.claim.unit == History("crossing")
    every, different = pairs((0.0, 2.0), 4)
    assert worst(plan, every).epsilon == pytest.approx(plan.lifetime.same_pattern, abs=1e-12)
    assert worst(plan, every + different).epsilon == pytest.approx(plan.lifetime.any_pattern, abs=1e-12)
    halves, others = pairs((0.0, 1.0, 2.0), 3)
    assert max(worst(plan, part).epsilon for part in (halves, others)) <= plan.lifetime.any_pattern


@pytest.mark.slow
@pytest.mark.parametrize("protocol", [WindowBudget(2), WindowPopulation(2)], ids=str)
def test_any_window_costs_what_is_stated(protocol: WindowBudget | WindowPopulation) -> None:
    plan = LocalPlan("window", RandomizedResponse(0.7, 2), protocol)
    histories = list(itertools.product((0, 1), repeat=4))
    within: list[Pair] = []
    beyond: list[Pair] = []
    for one, two in itertools.combinations(histories, 2):
        places = [place for place in range(4) if one[place] != two[place]]
        (within if places[-1] - places[0] < 2 else beyond).append((one, two))
    stated = plan.certificate.guarantee
    assert stated.epsilon == pytest.approx(1.4 if isinstance(protocol, WindowBudget) else 0.7)
    assert worst(plan, within).epsilon == pytest.approx(stated.epsilon, abs=1e-12)
    assert not worst(plan, within).refutes(stated.epsilon)
    assert worst(plan, beyond).epsilon > stated.epsilon + 0.1  # longer stretches cost more: the unit says so


def test_values_may_be_chosen_after_seeing_earlier_answers() -> None:
    """An adaptive sequence: the next value follows from the answers so far, differently for two secrets."""
    from chronodp.audit.devices import AuditedChance
    from chronodp.local.device import answer, begin

    plan = LocalPlan("adaptive", RandomizedResponse(0.6, 2), Fresh(3)).compiled

    def converse(secret: int, *, entropy: Entropy) -> object:
        chance = AuditedChance(entropy)
        state, told = begin(plan, chance), [0]
        for slot in range(3):
            state, made = answer(plan, state, told[-1] ^ secret, slot, chance)
            told += made or []
        return told

    finding = examine(converse, [(0, 1)])
    assert finding.epsilon == pytest.approx(1.8, abs=1e-12)
    assert not finding.refutes(1.8)


@pytest.mark.parametrize(
    ("mechanism", "values"),
    [
        (RandomizedResponse(1.0, 3), [2]),
        (OptimizedUnary(1.0, 3), [1]),
        (SymmetricUnary(1.0, 3), [1]),
        (OneBit(1.0, RANGE, grid=4), [1.0]),
        (Piecewise(1.0, RANGE, grid=9), [1.0]),
        (Hybrid(1.0, RANGE, grid=9), [2.0]),
    ],
    ids=repr,
)
def test_devices_and_arrays_draw_from_the_same_law(mechanism: LocalMechanism, values: list[float]) -> None:
    plan = LocalPlan("one", mechanism, Fresh(horizon=1))
    device = outcomes(lambda entropy: teller(plan)((values[0],), entropy=entropy)).probabilities
    array = outcomes(lambda entropy: mechanism.perturb(values, entropy=entropy).reshape(-1).tolist()).probabilities
    assert {key[0]: chance for key, chance in device.items()} == array  # type: ignore[index]

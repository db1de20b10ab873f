"""The shipped device code, walked through every outcome of its draws."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from chronodp.audit.devices import report_history
from chronodp.audit.exact import Finding, Outcomes, compare_outcomes, examine, outcomes
from chronodp.errors import InvalidArgument
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
    WindowAsked,
    WindowBudget,
    WindowPopulation,
    simulate,
)
from chronodp.local.longitudinal import two_levels, worst_losses
from chronodp.local.mechanism import LocalMechanism
from chronodp.privacy import History
from chronodp.randomness import Entropy, seeded
from tests.conftest import Trials

Values = tuple[float, ...]
Pair = tuple[Values, Values]


def teller(plan: LocalPlan, *, most_decays: int = 36) -> Callable[..., object]:
    """The shipped device code on a whole history."""
    compiled = plan.compiled

    def tell(history: Values, *, entropy: object) -> object:
        return report_history(compiled, history, entropy=entropy, most_decays=most_decays)  # type: ignore[arg-type]

    return tell


def pairs(values: Sequence[float], length: int) -> tuple[list[Pair], list[Pair]]:
    """All pairs of histories: those that hold equal values at the same times, and all others."""
    same: list[Pair] = []
    different: list[Pair] = []
    for first, second in itertools.combinations(itertools.product(values, repeat=length), 2):
        (same if _pattern(first) == _pattern(second) else different).append((first, second))
    return same, different


def worst(plan: LocalPlan, neighbours: Sequence[Pair], *, most_decays: int = 36) -> Finding:
    """The worst that any pair shows. A history that stands in several pairs, or is asked for again, is walked once."""
    return compare_outcomes(
        [(_walked(plan, one, most_decays), _walked(plan, two, most_decays)) for one, two in neighbours]
    )


@functools.lru_cache(maxsize=256)
def _walked(plan: LocalPlan, history: Values, most_decays: int) -> Outcomes:
    tell = teller(plan, most_decays=most_decays)
    return outcomes(lambda entropy: tell(history, entropy=entropy))


def _pattern(history: Values) -> tuple[int, ...]:
    return tuple(history.index(value) for value in history)


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


def majority_guess(plan: LocalPlan, devices: int, reports: int, seed: int) -> float:
    """How often a majority over the reports of a device whose bit is constant finds that bit."""
    bits = np.arange(devices) % 2
    records = simulate(plan, np.repeat(bits[:, None], reports, axis=1), entropy=seeded(seed))
    answers = records["answer"].reshape(devices, reports).astype(int)  # one device after another
    return float(((answers.sum(axis=1) > reports / 2) == bits).mean())


@pytest.mark.slow
@pytest.mark.parametrize("reports", [1, 5, 25, 101])
def test_averaging_recovers_a_constant_bit_from_fresh_answers(reports: int, golden: Any, trials: Trials) -> None:
    known = golden("local/reference.json")["averaging_attack"]["acc"][str(reports)]
    p = RandomizedResponse(1.0).law.truth
    exact = sum(math.comb(reports, k) * p**k * (1 - p) ** (reports - k) for k in range(reports // 2 + 1, reports + 1))
    assert float(exact) == pytest.approx(known, abs=1e-9)
    devices = trials(200_000, least=20_000)
    found = majority_guess(LocalPlan("bit", RandomizedResponse(1.0), Fresh(reports)), devices, reports, 1)
    assert abs(found - known) < 6.2 * math.sqrt(known * (1 - known) / devices) + 1e-4


@pytest.mark.parametrize("permanent", [1.0, 2.0])
def test_averaging_fails_against_kept_answers(permanent: float, trials: Trials) -> None:
    """However many reports: the attacker learns the kept answer at best, which is true with p1."""
    plan = LocalPlan("bit", RandomizedResponse(1.0), Memoised(permanent_epsilon=permanent, horizon=101))
    devices = trials(100_000, least=10_000)
    assert plan.levels is not None
    limit = float(plan.levels.kept[0])
    for reports in (25, 101):
        found = majority_guess(plan, devices, reports, 2)
        assert found < limit + 6.2 * math.sqrt(limit * (1 - limit) / devices)
    fresh = LocalPlan("bit", RandomizedResponse(1.0), Fresh(101))
    assert majority_guess(fresh, devices, 25, 3) > limit + 0.05  # the same check rejects fresh answers


def test_what_two_levels_cost_grows_with_time_only_across_patterns() -> None:
    levels = two_levels(1.0, 0.5, 2)
    losses = [worst_losses(levels, horizon) for horizon in range(1, 11)]
    same, different = zip(*losses, strict=True)
    assert list(same) == sorted(same)
    assert same[-1] < 2.0  # two distinct values, ε∞ = 1 each
    assert [round(different[horizon - 1], 2) for horizon in (4, 6)] == [2.03, 3.17]
    assert different[7] >= 4.10
    assert all(loss <= horizon * levels.report_bound for horizon, loss in enumerate(different, start=1))
    with pytest.raises(InvalidArgument, match="at most 12, with two values"):
        worst_losses(levels, 13)
    with pytest.raises(InvalidArgument, match="at most 12, with two values"):
        worst_losses(two_levels(1.0, 0.5, 3), 4)


def test_lifetimes_say_both_numbers() -> None:
    ask = RandomizedResponse(0.5, 4)
    stated: dict[Any, tuple[float, float, bool]] = {
        Fresh(30): (15.0, 15.0, False),
        Slots(30, 2): (1.0, 1.0, False),
        Memoised(0.5, 30): (2.0, math.inf, True),
        Memoised(0.5, 30, max_values=2): (1.0, math.inf, True),
        WindowBudget(7): (math.inf, math.inf, False),
        WindowPopulation(7): (math.inf, math.inf, True),
    }
    for protocol, (same, any_, linkable) in stated.items():
        life = LocalPlan("x", ask, protocol).lifetime
        assert (life.report, life.linkable) == (0.5, linkable)
        assert (life.same_pattern, life.any_pattern) == pytest.approx((same, any_))
        assert ("without bound" in str(life)) == math.isinf(any_)
    two = LocalPlan("x", ask, Memoised(1.0, 30)).lifetime
    assert two.same_pattern == pytest.approx(4.0)
    assert 20 < two.any_pattern < 60
    assert LocalPlan("x", ask, Memoised(0.5, 30)).certificate.guarantee.unit.changes == "same"  # type: ignore[attr-defined]
    assert LocalPlan("x", ask, Memoised(1.0, 30)).certificate.guarantee.unit.changes == "any"  # type: ignore[attr-defined]


def tell_all(plan: LocalPlan, history: tuple[float, ...]) -> dict[tuple[Any, ...], Fraction]:
    found = outcomes(lambda entropy: teller(plan)(history, entropy=entropy)).probabilities
    return {tuple(None if part is None else part[0] for part in key): chance for key, chance in found.items()}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("plan", "history"),
    [
        (LocalPlan("fresh", RandomizedResponse(1.0, 3), Fresh(3)), (0, 2, 0)),
        (LocalPlan("slots", RandomizedResponse(1.0, 2), Slots(3, 2)), (0, 1, 1)),
        (LocalPlan("kept", RandomizedResponse(0.5, 3), Memoised(1.5, 3)), (0, 2, 0)),
        (LocalPlan("capped", RandomizedResponse(1.0, 3), Memoised(1.0, 3, max_values=1)), (2, 0, 0)),
        (LocalPlan("counter", OneBit(0.5, (0.0, 2.0), grid=2), Memoised(1.0, 3)), (0.0, 1.0, 2.0)),
        (LocalPlan("window", RandomizedResponse(1.0, 2), WindowBudget(2)), (0, 1, 1)),
    ],
    ids=lambda part: part.name if isinstance(part, LocalPlan) else "",
)
def test_fleets_answer_as_single_devices_do(plan: LocalPlan, history: tuple[float, ...], trials: Trials) -> None:
    """Counts of every outcome against the enumerated law; a fleet with other odds is rejected by the same test."""
    devices = trials(400_000, least=40_000)
    expected = tell_all(plan, history)
    assert excess(expected, plan, history, devices) < 0
    other = LocalPlan(
        plan.name, type(plan.mechanism)(plan.mechanism.epsilon * 0.8, *rest(plan.mechanism)), plan.protocol
    )
    assert excess(expected, other, history, devices) > 0


def rest(mechanism: Any) -> tuple[Any, ...]:
    return (mechanism.choices,) if isinstance(mechanism, RandomizedResponse) else (mechanism.clip, mechanism.grid)


def excess(
    expected: dict[tuple[Any, ...], Fraction], plan: LocalPlan, history: tuple[float, ...], devices: int
) -> float:
    """How much farther than seven standard deviations the worst count lies from its mean."""
    table: NDArray[Any] = np.tile(np.array(history), (devices, 1))
    entropy = seeded(8)
    counts: dict[tuple[Any, ...], int] = {}
    told = grouped(plan, table, entropy)
    for outcome, count in zip(*np.unique(told, axis=0, return_counts=True), strict=True):
        counts[tuple(None if part < 0 else part for part in outcome.tolist())] = int(count)
    if not set(counts) <= set(expected):
        return math.inf
    worst = -math.inf
    for outcome, chance in expected.items():
        p = float(chance)
        worst = max(worst, abs(counts.get(outcome, 0) - devices * p) - 7 * math.sqrt(devices * p * (1 - p)))
    return worst


def grouped(plan: LocalPlan, table: NDArray[Any], entropy: Any) -> NDArray[np.int64]:
    """Answers by device; -1 where it is silent. Reports come one device after another."""
    records = simulate(plan, table, entropy=entropy)
    told = np.full(table.shape, -1, dtype=np.int64)
    who = np.repeat(np.arange(len(table)), len(records) // len(table))
    told[who, records["slot"]] = records["answer"]
    return told


def test_phases_divide_a_fleet_evenly() -> None:
    plan = LocalPlan("phase", RandomizedResponse(1.0, 2), WindowPopulation(4))
    records = simulate(plan, np.zeros((40_000, 8), dtype=int), entropy=seeded(1))
    heard = np.bincount(records["slot"], minlength=8)
    assert heard[:4].tolist() == heard[4:].tolist()  # the same devices, a window later
    assert heard[:4].sum() == 40_000
    assert np.all(np.abs(heard - 10_000) < 6.5 * math.sqrt(7_500))


def test_fleets_refuse_what_devices_would() -> None:
    plan = LocalPlan("kept", RandomizedResponse(0.5, 3), Memoised(1.5, 3))
    for wrong in ([[0, 1, 2, 0]], [0, 1], [[0, 1, 3]], [[0.5, 1, 1]]):
        with pytest.raises(InvalidArgument, match="must be"):
            simulate(plan, wrong)
    with pytest.raises(InvalidArgument, match="devices themselves know"):
        simulate(LocalPlan("asked", RandomizedResponse(0.5, 3), WindowAsked(3)), [[0]])
    assert len(simulate(plan, np.zeros((0, 3), dtype=int))) == 0


@pytest.mark.parametrize("epsilon", [0.1, 0.61, 1.1, 2.3])
def test_products_are_never_stated_below_what_they_are(epsilon: float) -> None:
    with mpmath.workprec(300):
        for horizon in (3, 10, 30, 37):
            plan = LocalPlan("x", RandomizedResponse(epsilon, 2), Fresh(horizon))
            a, b = plan.mechanism.weights  # type: ignore[union-attr]
            assert horizon * mpmath.log(mpmath.mpf(a) / b) <= mpmath.mpf(plan.lifetime.any_pattern)
            kept = LocalPlan("x", RandomizedResponse(0.1, 5), Memoised(epsilon + 0.1, horizon + 13))
            assert kept.levels is not None
            truth, other = kept.levels.repeated
            worst = (horizon + 13) * mpmath.log(mpmath.mpf((truth / other).numerator) / (truth / other).denominator)
            assert worst <= mpmath.mpf(kept.lifetime.any_pattern)
        a, b = RandomizedResponse(epsilon, 2).weights
        assert mpmath.log(mpmath.mpf(a) / b) <= mpmath.mpf(str(epsilon))


def test_the_worst_case_of_tiny_budgets_is_not_rounded_below_itself() -> None:
    plan = LocalPlan("x", RandomizedResponse(1e-6, 2), Memoised(1e-5, 2))
    assert plan.levels is not None
    (p1, q1), (p2, q2) = plan.levels.kept, plan.levels.repeated
    # (0, 0) against (1, 1), both reports 0: exact.
    ratio = (p1 * p2**2 + q1 * q2**2) / (q1 * p2**2 + p1 * q2**2)
    with mpmath.workprec(300):
        assert mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator) <= mpmath.mpf(plan.lifetime.same_pattern)

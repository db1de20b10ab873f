"""Counts that decide which keys are published: thresholds by intervals, and every outcome of small tables."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Hashable
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from tests.audit.cases.keys import MUTANTS, Counted, DaysApart
from tests.conftest import SCALE
from tests.selection.keys.test_exact_price import alone_threshold
from tests.selection.keys.test_rounds import erfc_between

from chronodp.audit.exact import Outcomes, compare_outcomes, examine, outcomes
from chronodp.errors import InvalidArgument
from chronodp.privacy import FailureCost, decimal_value
from chronodp.randomness import seeded
from chronodp.selection.keys import CountNoise, PublishedCounts

GOLDEN = Path(__file__).parents[2] / "golden" / "keys"
FORMS: list[dict[str, Any]] = json.loads((GOLDEN / "ledger_form.json").read_text())
TRAPS: dict[str, Any] = json.loads((GOLDEN / "traps.json").read_text())
NOISES = [
    CountNoise("gaussian", 2.0**25 * 1.3, 2**22),
    CountNoise("laplace", 2.0**25 * 1.7, 2**20),
    CountNoise("laplace", 1.0, 1),
]
SHIPPED = [
    (PublishedCounts(delta, most, blocks, replace), noise)
    for delta, most, blocks, replace in itertools.product((4e-7, 1e-12), (1, 12), (1, 3), (False, True))
    for noise in NOISES
]


def passing(rule: PublishedCounts, noise: CountNoise, threshold: int) -> Any:
    """An interval that holds P(some lone key of the worst unit passes), from the definition alone."""
    iv = mpmath.iv

    def passes(steps: int) -> Any:
        far = (iv.mpf(threshold) - steps - iv.mpf(1) / 2) / iv.mpf(noise.scale)
        return iv.exp(-far) / 2 if noise.law == "laplace" else erfc_between(far / iv.sqrt(iv.mpf(2))) / 2

    former = (1 - passes(0)) ** (rule.most if rule.replace else 0)
    return 1 - ((1 - passes(noise.person)) ** rule.most * former) ** rule.blocks


# Every fifth has every number, and nearly every two of them together.
def test_a_lone_key_passes_within_delta_by_interval_arithmetic(subtests: pytest.Subtests) -> None:
    for rule, noise in SHIPPED if SCALE >= 1 else SHIPPED[::5]:
        with subtests.test(rule=rule, noise=noise):
            before, mpmath.iv.prec = mpmath.iv.prec, 120
            try:
                exact, least = decimal_value(rule.delta), rule.threshold(noise)
                allowed = mpmath.iv.mpf(exact.numerator) / exact.denominator
                assert passing(rule, noise, least).b <= allowed.a
                assert passing(rule, noise, least - 1).b > allowed.a  # and no threshold is higher than it has to be
                assert passing(rule, noise, least).a <= rule.lone(noise) * (1 + 1e-12)
                assert rule.lone(noise) <= rule.delta
            finally:
                mpmath.iv.prec = before


def test_gaussian_thresholds_are_the_reference_ones(subtests: pytest.Subtests) -> None:
    for row in FORMS:
        with subtests.test(row=row):
            sigma, person = float(row["sigma"]), 2**22
            rule = PublishedCounts(float(row["delta"]) * 0.4, row["m"])
            noise = CountNoise("gaussian", sigma * person, person)
            assert rule.threshold(noise) / person == pytest.approx(float(row["tau"]), abs=1.5 / person)
            assert alone_threshold(sigma, rule.delta, row["m"]) == pytest.approx(float(row["tau"]), rel=1e-9)
            assert rule.people_needed(noise) == math.ceil(float(row["tau"]))


def test_laplace_thresholds_are_the_formula() -> None:
    """1 − (1 − ½ e^−(τ−1)/b)^m = δ, up to the rounding of noise to its grid."""
    for most, delta in itertools.product((1, 3, 10), (4e-7, 1e-3)):
        scale, person = 2.0 * most, 2**24
        each = -math.expm1(math.log1p(-delta) / most)
        tau = 1 - scale * math.log(2 * each)
        found = PublishedCounts(delta, most).threshold(CountNoise("laplace", scale * person, person)) / person
        assert found == pytest.approx(tau, abs=2 / person)


def test_what_one_unit_moves() -> None:
    for most, blocks, replace in itertools.product((1, 3), (1, 2), (False, True)):
        moved = most * blocks * (2 if replace else 1)
        change = PublishedCounts(1e-6, most, blocks, replace).sensitivity
        assert change.l1 == moved
        assert PublishedCounts(1e-6, most, blocks, replace).cost == FailureCost(1e-6)
        assert Fraction(change.l2) ** 2 >= moved
        assert change.l2 == pytest.approx(math.sqrt(moved), rel=1e-15)


def test_half_of_the_time_is_half_of_the_time(subtests: pytest.Subtests) -> None:
    laws: list[Any] = ["laplace", "gaussian"]
    for law in laws:
        with subtests.test(law=law):
            rule, noise = PublishedCounts(1e-3, 2), CountNoise(law, 3.0, 1)
            needed = rule.people_needed(noise)
            for people, wanted in ((needed, 0.5), (needed - 1, 0.0)):
                published = 1 - float(one_key(rule, noise, people).probabilities[None])
                assert published >= wanted
                assert published < wanted + 0.5


def one_key(rule: PublishedCounts, noise: CountNoise, people: int) -> Outcomes:
    """The law of what is published of one key: nothing, or its noisy count."""
    if not people:
        return Outcomes.of({None: Fraction(1)}, Fraction(0))

    def run(entropy: Any) -> int | None:
        decided = rule.decide([people], noise, entropy)
        return int(decided.noisy[0]) if decided.found[0] else None

    return outcomes(run)


def both(first: Outcomes, second: Outcomes) -> Outcomes:
    """The law of two keys, whose noise is independent."""
    pairs, whole = itertools.product(first.shares.items(), second.shares.items()), first.whole * second.whole
    joint: dict[Hashable, int] = {(one, two): part * other for (one, part), (two, other) in pairs}
    return Outcomes(joint, whole - sum(joint.values()), whole)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("most", "replace"), list(itertools.product((1, 2), (False, True))) if SCALE >= 1 else [(1, False), (2, True)]
)
def test_every_outcome_of_every_small_table(most: int, replace: bool) -> None:
    """All tables of up to three others a key, every unit that comes, goes or changes: within its price and δ."""
    rule, noise = PublishedCounts(0.08, most, replace=replace), CountNoise("laplace", 0.5, 1)
    laws = {people: one_key(rule, noise, people) for people in range(6)}
    moves = [move for move in itertools.product((0, 1), repeat=2) if 0 < sum(move) <= most]
    joint = {held: both(laws[held[0]], laws[held[1]]) for held in itertools.product(laws, repeat=2)}
    met = set()
    for others in itertools.product(range(4), repeat=2):
        after = [(0, 0), *moves] if replace else [(0, 0)]
        for move, left in itertools.product(moves, after):
            first, second = ((others[0] + one[0], others[1] + one[1]) for one in (move, left))
            if first != second:
                met.add((min(first, second), max(first, second)))  # each pair is compared both ways
    finding = compare_outcomes((joint[first], joint[second]) for first, second in sorted(met))
    epsilon = rule.sensitivity.l1 / noise.scale
    low, high = finding.delta(epsilon)
    lone = float(1 - laws[1].probabilities[None])
    assert low <= high <= rule.delta
    # Attained by a unit that holds its keys alone: no threshold could be lower by a step.
    assert high >= (1 - (1 - lone) ** most) * (1 - 1e-9)
    assert rule.lone(noise) == pytest.approx(1 - (1 - lone) ** most, rel=0.2 if replace else 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("a published count at the threshold, its probability counted above it", 0.0150),
        ("a kept key's exact count", 0.88),
        ("a second draw of a published count, not paid for", 0.058),
        ("keys seen last month taken as public", 1.0),
        ("max_keys read from the data, as many as 95 of 100 people have", 0.99),
    ],
)
def test_what_is_not_free_has_this_true_delta(name: str, least: float) -> None:
    (mutant,) = [one for one in MUTANTS if one.name == name]
    assert examine(mutant.broken, mutant.neighbours).delta(mutant.epsilon)[0] >= least > mutant.delta


@pytest.mark.slow
def test_each_of_365_days_not_added_up_has_this_true_delta() -> None:
    from chronodp.accounting import gaussian

    (mutant,) = [one for one in MUTANTS if isinstance(one.broken, DaysApart)]
    year_of, day_of = mutant.broken, mutant.sound
    assert isinstance(year_of, DaysApart)
    assert isinstance(day_of, DaysApart)
    silent = float(day_of.law(((0,),)).probabilities[0])
    laws = [(year_of.law(first), year_of.law(second)) for first, second in mutant.neighbours]
    found = compare_outcomes(laws).delta(mutant.epsilon)[0]
    assert found == pytest.approx(1 - silent**365, rel=1e-9)
    assert found > 200 * mutant.delta
    # As it stands in print: ten keys a day at 1e-6 each, and the noise of 365 releases at (1, 1e-6) each.
    assert -math.expm1(3650 * math.log1p(-1e-6)) == pytest.approx(TRAPS["delta_365_days_10_keys_each_1e-6"], rel=1e-9)
    year = gaussian.delta_of(gaussian.mu_for(1.0, 1e-6) * math.sqrt(365), 1.0)
    assert year == pytest.approx(TRAPS["gaussian_365_days_each_at_1_1e-6"], rel=1e-9)


def test_the_number_beside_a_key_is_the_one_that_decided() -> None:
    rule, noise = PublishedCounts(1e-3, 2), CountNoise("gaussian", 40.0, 8)
    people = np.arange(200) % 40
    decided = rule.decide(people, noise, seeded(3))
    assert (decided.found == (decided.noisy >= rule.threshold(noise))).all()
    drawn = decided.noisy - people * 8
    assert (drawn == seeded(3).gaussian(40.0, 200)).all()
    shown = dict(Counted(rule, noise)(((0,),) * 60, entropy=seeded(1)))
    assert set(shown) <= {0}
    assert all(number >= rule.threshold(noise) for number in shown.values())


def test_more_people_than_64_bits_hold_are_counted_as_so_many() -> None:
    rule, noise = PublishedCounts(1e-6, 1), CountNoise("gaussian", 2.0**26, 2**29)
    assert rule.decide([2**62, 1], noise, seeded(1)).found.tolist() == [True, False]


def test_values_out_of_range(subtests: pytest.Subtests) -> None:
    wrong: list[tuple[str, Any]] = [("delta", 0.0), ("most", 0), ("blocks", 0), ("replace", 1)]
    for name, value in wrong:
        with subtests.test(name=name, value=value), pytest.raises(InvalidArgument, match=f"^{name} must be"):
            PublishedCounts(**({"delta": 1e-6, "most": 1} | {name: value}))

"""Rounds of weighted Gaussian noise: their numbers against reference values, and what a lone key passes with."""

from __future__ import annotations

import functools
import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.conftest import SCALE

from chronodp.errors import InvalidArgument
from chronodp.privacy import FailureCost, GaussianCost, decimal_value
from chronodp.randomness import seeded
from chronodp.selection.keys import Round, Rounds, Weigh
from chronodp.selection.keys.rounds import decide
from chronodp.selection.keys.threshold import Held, threshold_for
from chronodp.selection.keys.weights import weights_of

GOLDEN = Path(__file__).parents[2] / "golden" / "keys"
WEIGHTS: dict[str, Any] = json.loads((GOLDEN / "weights.json").read_text())
MU = float(WEIGHTS["rows"][0]["mu"])
SHIPPED = [
    Rounds(mu, delta, most, blocks, replace)
    for mu, delta, most, blocks, replace in itertools.product(
        (0.01, 3.0), (4e-7, 1e-12), (1, 12), (1, 7), (False, True)
    )
]


def test_scales_and_thresholds_are_the_reference_ones(subtests: pytest.Subtests) -> None:
    for row in WEIGHTS["rows"]:
        with subtests.test(row=row):
            rule = Rounds(float(row["mu"]), 4e-7, row["m"])
            for keys, weight in WEIGHTS["weight"].items():
                assert weights_of(50)[int(keys) - 1] == weight
            if row["m"] == 1:
                (only,) = rule.rounds
                assert only.threshold == row["one_round"]["t"]
                assert only.scale == pytest.approx(float(row["one_round"]["s"]), rel=1e-15)
                assert rule.lone == pytest.approx(float(row["one_round"]["lone"]), rel=1e-12)
                assert rule.hopeless is None
                return
            wanted = row["two_rounds"]
            assert [one.threshold for one in rule.rounds] == [wanted["t1"], wanted["t2"]]
            for one, scale in zip(rule.rounds, (wanted["s1"], wanted["s2"]), strict=True):
                assert one.scale == pytest.approx(float(scale), rel=1e-15)
            assert rule.hopeless == wanted["hopeless_below"]
            assert rule.lone == pytest.approx(float(wanted["lone1"]) + float(wanted["lone2"]), rel=1e-12)


def test_one_round_of_several_keys_has_the_reference_threshold(subtests: pytest.Subtests) -> None:
    for row in WEIGHTS["rows"][1:]:
        with subtests.test(row=row):
            scale = Rounds(float(row["mu"]), 4e-7, 1).rounds[0].scale
            assert threshold_for(scale, decimal_value(4e-7), Held(weights_of(row["m"]))) == row["one_round"]["t"]


def failing(scale: float, threshold: int, rule: Rounds) -> Any:
    """An interval that holds P(some lone key of the worst unit passes), from the definition alone."""

    def passes(weight: int) -> Any:
        return reaches(scale, threshold - weight)

    former = (1 - passes(0)) ** (rule.most if rule.replace else 0)
    silent = [((1 - passes(weight)) ** d * former) ** rule.blocks for d, weight in enumerate(rule.weights, 1)]
    return max((1 - one for one in silent), key=lambda one: one.b)


@functools.cache  # a threshold less by one is asked for the same steps but one
def reaches(scale: float, steps: int) -> Any:
    """An interval that holds P(Gaussian noise of a scale, rounded, is at least so many steps)."""
    iv = mpmath.iv
    x = (iv.mpf(steps) - iv.mpf(1) / 2) / iv.mpf(scale)
    return erfc_between(x / iv.sqrt(iv.mpf(2))) / 2


def erfc_between(x: Any) -> Any:
    """An interval around erfc(x) for x > 1: e^-x²/(x√π) times a continued fraction, cut at both parities."""
    iv = mpmath.iv
    inner, outer = iv.mpf(0), iv.mpf(0)
    halves = [iv.mpf(term) / 2 for term in range(61)]
    for term in range(60, 0, -1):
        inner = halves[term] / (x + inner)
        if term > 1:
            outer = halves[term - 1] / (x + outer)
    front = iv.exp(-x * x) / iv.sqrt(iv.pi)
    ends = (front / (x + inner), front / (x + outer))
    return iv.mpf([min(one.a for one in ends), max(one.b for one in ends)])


# Every third has every number, and every two of them together.
@pytest.mark.slow
def test_a_lone_key_passes_within_delta_by_interval_arithmetic(subtests: pytest.Subtests) -> None:
    for rule in [*(SHIPPED if SCALE >= 1 else SHIPPED[::3]), Rounds(MU, 4e-7, 50)]:
        with subtests.test(rule=rule):
            before, mpmath.iv.prec = mpmath.iv.prec, 120
            try:
                shares = (Fraction(1),) if rule.most == 1 else (Fraction(1, 5), Fraction(4, 5))
                total = mpmath.iv.mpf(0)
                for one, share in zip(rule.rounds, shares, strict=True):
                    allowed = decimal_value(rule.delta) * share
                    bound = mpmath.iv.mpf(allowed.numerator) / allowed.denominator
                    found = failing(one.scale, one.threshold, rule)
                    assert found.b <= bound.a
                    # and no threshold is higher than it has to be
                    assert failing(one.scale, one.threshold - 1, rule).b > bound.a
                    total += found
                assert total.a <= rule.lone * (1 + 1e-12)
                assert rule.lone <= rule.delta
            finally:
                mpmath.iv.prec = before


@pytest.mark.slow
def test_the_price_is_at_most_mu_in_exact_arithmetic(subtests: pytest.Subtests) -> None:
    for rule in SHIPPED:
        with subtests.test(rule=rule):
            *noise, failure = rule.cost.costs
            assert failure == FailureCost(rule.delta)
            spent = Fraction(0)
            for cost, one in zip(noise, rule.rounds, strict=True):
                assert isinstance(cost, GaussianCost)
                # sigma is what is drawn, and the sensitivity is at least what weights can change
                assert Fraction(cost.sigma) * 2**rule.bits == Fraction(one.scale)
                change = (
                    max(d * weight**2 for d, weight in enumerate(rule.weights, 1)) * rule.blocks * (1 + rule.replace)
                )
                assert Fraction(cost.sensitivity) ** 2 * 4**rule.bits >= change
                spent += (Fraction(cost.sensitivity) / Fraction(cost.sigma)) ** 2
            assert Fraction(rule.mu) ** 2 * (1 - Fraction(1, 2**48)) <= spent <= Fraction(rule.mu) ** 2
            assert max(one.scale for one in rule.rounds) <= 2**21


def test_the_gaussian_rule_for_one_key_has_the_reference_law() -> None:
    wanted = WEIGHTS["gaussian_rule_m1"]
    rule = Rounds(float(wanted["mu"]), float(wanted["delta_sel"]), 1)
    (only,) = rule.rounds
    for people, chance in wanted["p"].items():
        x = (only.threshold - int(people) * rule.weights[0] - 0.5) / only.scale
        assert math.erfc(x / math.sqrt(2)) / 2 == pytest.approx(float(chance), rel=2e-5)  # a step is 1/65,536


def table(rule: Rounds, people: list[tuple[int, ...]], keys: int) -> Weigh:
    def weigh(dropped: NDArray[np.bool_] | None) -> NDArray[np.int64]:
        totals = np.zeros(keys, np.int64)
        for held in people:
            left = [key for key in held if dropped is None or not dropped[key]]
            for key in left:
                totals[key] += rule.weights[len(left) - 1]
        return totals

    return weigh


def apart(weighed: NDArray[np.int64]) -> Weigh:
    """Keys whose people hold nothing else, or whose other keys are never dropped."""
    return lambda dropped: weighed if dropped is None else np.where(dropped, 0, weighed)


def test_the_same_entropy_and_table_decide_the_same() -> None:
    rule = Rounds(2.0, 1e-3, 3)
    weigh = table(rule, [(0, 1, 2)] * 9 + [(1,)] * 2 + [(2, 3)], 4)
    first, again = (rule.decide(weigh, seeded(7)) for _ in range(2))
    assert np.array_equal(first.found, again.found)
    assert np.array_equal(first.noisy, again.noisy)


def test_what_the_first_round_found_gives_way_in_the_second() -> None:
    asked = []

    def weigh(dropped: NDArray[np.bool_] | None) -> NDArray[np.int64]:
        asked.append(None if dropped is None else dropped.tolist())
        return np.array([1000, 400, 50] if dropped is None else [0, 700, 0])

    class Silent:
        def gaussian(self, scale: float, size: int) -> NDArray[np.int64]:
            del scale
            return np.zeros(size, np.int64)

    quiet: Any = Silent()
    decided = decide((Round(10.0, 1000), Round(5.0, 700)), 100, weigh, quiet)
    assert asked == [None, [True, False, True]]
    assert decided.found.tolist() == [True, True, False]
    assert decided.noisy.tolist()[:2] == [1000, 700]


@pytest.mark.parametrize("most", [1, 10])
def test_no_candidates_and_lone_keys_alone_go_the_same_way(most: int) -> None:
    rule = Rounds(MU, 4e-7, most)
    assert not len(rule.decide(apart(np.zeros(0, np.int64)), seeded(1)).found)
    # A million lone keys of a million people: each passes with at most 4e-7.
    decided = rule.decide(apart(np.full(1_000_000, rule.weights[0])), seeded(1))
    assert decided.found.sum() <= 6


def test_so_many_people_are_found_half_of_the_time(subtests: pytest.Subtests) -> None:
    for most, keys_each in [(1, 1), (10, 1), (10, 10)]:
        with subtests.test(most=most, keys_each=keys_each):
            rule = Rounds(0.5, 1e-6, most)
            needed = rule.people_needed(keys_each)
            weight = rule.weights[keys_each - 1]
            fewer, enough = (
                rule.decide(apart(np.full(40_000, people * weight)), seeded(1)).found.mean()
                for people in (needed - 1, needed)
            )
            # five standard errors of a coin are 0.0125
            assert fewer < 0.5 + 0.0125
            assert enough > 0.5 - 0.0125


def test_bad_numbers_are_refused(subtests: pytest.Subtests) -> None:
    wrong: list[tuple[str, tuple[Any, ...]]] = [
        ("mu", (0.0, 1e-6, 1)),
        ("mu", (1e-12, 1e-6, 1)),
        ("delta", (1.0, 0.0, 1)),
        ("most", (1.0, 1e-6, 0)),
        ("most", (1.0, 1e-6, 2**21)),
        ("blocks", (1.0, 1e-6, 1, 0)),
        ("replace", (1.0, 1e-6, 1, 1, 1)),
    ]
    for name, arguments in wrong:
        with subtests.test(name=name, arguments=arguments), pytest.raises(InvalidArgument, match=name):
            Rounds(*arguments)
    with pytest.raises(InvalidArgument, match="keys_each"):
        Rounds(1.0, 1e-6, 3).people_needed(4)

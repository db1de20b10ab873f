"""The optimal rule: its table against reference values, and every small table of people."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.audit.key_rules import People, ruled

from chronodp.accounting import gather
from chronodp.audit.exact import compare_outcomes
from chronodp.errors import InvalidArgument
from chronodp.privacy import ApproximateCost, RepeatedCost, decimal_value
from chronodp.randomness import seeded
from chronodp.selection.keys import OptimalRule

GOLDEN = Path(__file__).parents[2] / "golden" / "keys"
RULE: dict[str, Any] = json.loads((GOLDEN / "rule.json").read_text())
ENUMERATED: list[dict[str, Any]] = json.loads((GOLDEN / "enumeration.json").read_text())["cases"]
TRAPS: dict[str, Any] = json.loads((GOLDEN / "traps.json").read_text())


def test_the_table_is_the_reference_one(subtests: pytest.Subtests) -> None:
    for wanted in RULE["tables"]:
        with subtests.test(wanted=wanted):
            rule = OptimalRule(float(wanted["eps"]), wanted["delta"], 1)
            assert len(rule.table) == wanted["length"]
            assert rule.people_needed() == wanted["half"]
            for people, entry in wanted["P"].items():
                assert rule.table[int(people)] == int(entry, 16)
            for people, chance in wanted["pi"].items():
                assert abs(Fraction(rule.table[int(people)], 2**128) - Fraction(chance)) < Fraction(1, 10**24)


class Words:
    """Entropy that gives the words it was told."""

    def __init__(self, words: list[int]) -> None:
        self._words = words

    def integers(self, below: int, size: tuple[int, ...]) -> NDArray[np.int64]:
        assert below == 2**32
        parts = [[word >> shift & 2**32 - 1 for shift in (96, 64, 32, 0)] for word in self._words]
        return np.array(parts, np.int64).reshape(size)


def test_given_words_decide_as_in_the_reference() -> None:
    rows = RULE["decisions_eps1_delta1e_6"]
    entropy: Any = Words([int(row["word"], 16) for row in rows])
    kept = OptimalRule(1.0, 1e-6, 1).decide([row["n"] for row in rows], entropy)
    assert kept.tolist() == [row["kept"] for row in rows]


def test_a_word_decides_by_its_last_bit() -> None:
    rule = OptimalRule(1.0, 1e-6, 1)
    for people, entry in enumerate(rule.table[:-1]):
        words: Any = Words([max(entry - 1, 0), entry])
        assert rule.decide([people, people], words).tolist() == [entry > 0, False]
    last: Any = Words([2**128 - 1, 2**128 - 1])
    assert rule.decide([len(rule.table) - 1, 10**9], last).tolist() == [True, True]


def test_the_table_itself_satisfies_both_inequalities(subtests: pytest.Subtests) -> None:
    for epsilon, delta, most in [(1.0, 1e-6, 1), (0.3, 1e-9, 1), (1.0, 1e-6, 10), (7.0, 0.2, 3)]:
        with subtests.test(epsilon=epsilon, delta=delta, most=most):
            rule = OptimalRule(epsilon, delta, most)
            exact = decimal_value(rule.each.epsilon)
            with mpmath.workprec(500):
                power = mpmath.exp(mpmath.mpf(exact.numerator) / exact.denominator)
                factor = Fraction(int(mpmath.floor(mpmath.ldexp(power, 400))) - 1, 2**400)  # surely at most e^epsilon
            failure = decimal_value(rule.each.delta) * 2**128
            for fewer, more in itertools.pairwise(rule.table):
                assert fewer < more
                assert more <= factor * fewer + failure
                assert 2**128 - fewer <= factor * (2**128 - more) + failure


def test_all_keys_of_a_unit_cost_no_more_than_asked(subtests: pytest.Subtests) -> None:
    for most in [1, 2, 10, 50, 333]:
        with subtests.test(most=most):
            rule = OptimalRule(1.0, 1e-6, most)
            each = rule.each
            assert rule.cost == RepeatedCost(ApproximateCost(each.epsilon, each.delta), most)
            assert decimal_value(each.epsilon) * most <= 1
            assert 1 - (1 - decimal_value(each.delta)) ** most <= decimal_value(1e-6)
            spent = gather(rule.cost)
            assert spent.revealed <= 1e-6 * (1 + 2e-15 * (most == 1))  # one key keeps the delta as it was asked for
            assert each.epsilon * most == pytest.approx(1.0, rel=1e-14)
            assert spent.revealed == pytest.approx(1e-6, rel=1e-13)


def tables(people: int, choices: list[tuple[int, ...]]) -> Iterator[People]:
    for count in range(people + 1):
        yield from itertools.combinations_with_replacement(choices, count)


def worst(epsilon: float, delta: float, most: int, people: int, keys: int, *, held: int) -> tuple[Fraction, int]:
    """The true delta over all tables of so many people, each with up to ``held`` keys, and one person more."""
    subject = ruled(epsilon, delta, most)
    choices = [one for size in range(1, held + 1) for one in itertools.combinations(range(keys), size)]
    pairs = [(table, (*table, more)) for table in tables(people, choices) for more in choices]
    laws = {frozen: subject.law(frozen) for frozen in {tuple(sorted(one)) for pair in pairs for one in pair}}
    finding = compare_outcomes([(laws[tuple(sorted(one))], laws[tuple(sorted(two))]) for one, two in pairs])
    low, high = finding.delta(epsilon)
    assert low == high
    return Fraction(low), len(pairs)


@pytest.mark.parametrize("case", [case for case in ENUMERATED if case.get("m") == 1], ids=str)
def test_worst_of_all_small_tables_is_delta_exactly(case: dict[str, Any]) -> None:
    found, pairs = worst(case["eps"], case["delta"], 1, case["people"], case["keys"], held=1)
    assert len(OptimalRule(case["eps"], case["delta"], 1).table) == case["length"]
    assert pairs == case["pairs"]
    assert float(found) == pytest.approx(case["worst"], abs=1e-16)
    assert found <= decimal_value(case["delta"]) + Fraction(1, 10**15)


@pytest.mark.parametrize(("name", "most"), [("naive", 1), ("basic", 2)])
def test_two_keys_a_person_need_the_rule_of_two(name: str, most: int) -> None:
    wanted = next(case for case in ENUMERATED if case.get("case") == f"two keys a person, {name}")
    found, _ = worst(1.0, 0.05, most, 6, 2, held=2)
    # The reference parts δ by a root; we halve it, since a budget adds deltas up: worst is 1 - (1 - δ/2)² then.
    expected = wanted["worst"] if most == 1 else 1 - (1 - 0.05 / 2) ** 2
    assert float(found) == pytest.approx(expected, rel=1e-11)
    assert expected <= wanted["worst"]
    assert (found <= Fraction(1, 20)) == wanted["within"]


def test_the_one_key_rule_fails_people_of_many_keys_as_in_the_reference(subtests: pytest.Subtests) -> None:
    for keys in [1, 2, 10, 30]:
        with subtests.test(keys=keys):
            rule = OptimalRule(1.0, 1e-6, 1)
            delta, people = TRAPS["one_key_rule_with_m_keys"][str(keys)]
            # n people who hold the same keys, and one more: outcomes are told by how many keys are published.
            found = max(
                _binomial(rule, count, keys)
                for count in (people - 1, people, people + 1)
                if count < len(rule.table) - 1
            )
            assert float(found) == pytest.approx(delta, rel=1e-9)


def _binomial(rule: OptimalRule, people: int, keys: int) -> Fraction:
    few, many = (Fraction(rule.table[count], 2**128) for count in (people, people + 1))
    factor = Fraction(math.e)

    def excess(one: Fraction, two: Fraction) -> Fraction:
        def law(chance: Fraction, kept: int) -> Fraction:
            return math.comb(keys, kept) * chance**kept * (1 - chance) ** (keys - kept)

        return sum(
            (max(law(one, kept) - factor * law(two, kept), Fraction(0)) for kept in range(keys + 1)), Fraction(0)
        )

    return max(excess(few, many), excess(many, few))


def test_a_million_keys_are_decided_with_their_probability() -> None:
    rule = OptimalRule(1.0, 1e-6, 10)
    kept = rule.decide(np.full(1_000_000, rule.people_needed()), seeded(1))
    assert kept.mean() == pytest.approx(rule.table[rule.people_needed()] / 2**128, abs=0.003)  # six standard errors
    assert not rule.decide(np.zeros(1000, np.int64), seeded(1)).any()
    assert rule.decide(np.zeros(0, np.int64), seeded(1)).shape == (0,)
    assert rule.lone == 1e-6


def test_bad_numbers_are_refused(subtests: pytest.Subtests) -> None:
    no_counts: list[Any] = [[1.5], [[1, 2]], ["a"]]
    for name, arguments in [
        ("epsilon", (0.0, 1e-6, 1)),
        ("epsilon", (1e-9, 1e-9, 1)),
        ("delta", (1.0, 0.0, 1)),
        ("delta", (1.0, 1e-39, 1)),
        ("most", (1.0, 1e-6, 0)),
    ]:
        with subtests.test(name=name, arguments=arguments), pytest.raises(InvalidArgument, match=name):
            OptimalRule(*arguments)
    for counts in no_counts:
        with subtests.test(counts=counts):
            with pytest.raises(InvalidArgument, match="counts must be whole numbers") as refused:
                OptimalRule(1.0, 1e-6, 1).decide(counts, seeded(1))
            assert "1.5" not in str(refused.value)

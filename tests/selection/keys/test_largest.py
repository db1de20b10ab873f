"""The k largest keys: every small table of counts, neighbours of any number of keys, and the law of a reference."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.audit.cases.keys import tell_no_more
from tests.audit.key_rules import Peeled
from tests.conftest import SCALE

from chronodp.audit.exact import Outcomes
from chronodp.errors import InvalidArgument
from chronodp.privacy import ApproximateCost
from chronodp.randomness import seeded
from chronodp.selection.keys import Decided, Peel

WANTED: dict[str, Any] = json.loads((Path(__file__).parents[2] / "golden" / "keys" / "topk.json").read_text())
Table = tuple[int, ...]


def test_the_largest_found_keys_by_noisy_weight_then_by_order() -> None:
    found = np.array([True, True, False, True, True])
    noisy = np.array([7, 9, 99, 7, 7])
    assert Decided(found, noisy, found).largest(3).tolist() == [True, True, False, True, False]
    assert Decided(found, noisy, found).largest(9).tolist() == found.tolist()
    # A second round weighs what is left of people's keys higher: what the first one found goes before.
    first = np.array([True, False, False, False, True])
    assert Decided(found, noisy, first).largest(2).tolist() == first.tolist()
    assert not Decided(np.zeros(0, np.bool_), np.zeros(0, np.int64), np.zeros(0, np.bool_)).largest(2).size


def test_the_law_is_the_reference_one() -> None:
    wanted = WANTED["golden"]
    peel = Peel(wanted["eps"], wanted["delta"], wanted["k"], wanted["kbar"])
    law = Peeled(peel).law(tuple(wanted["counts"].values())).probabilities
    names = list(wanted["counts"])
    for words, chance in wanted["law"].items():
        drawn = tuple(names.index(word) for word in words.split("|") if word != "STOP")
        # The stop is rounded up to a step of 2^-19 of a count, and the slope down to 22 digits.
        assert float(law[drawn]) == pytest.approx(chance, rel=1e-4)
    assert sum(law.values()) == 1
    assert len(law) == len(wanted["law"])


def neighbours(most: int, keys: int) -> list[tuple[Table, Table]]:
    """All tables of counts up to ``most``, in one order of their keys, with any set of keys raised by one."""
    return [
        (table, tuple(count + more for count, more in zip(table, raised, strict=True)))
        for table in itertools.product(range(most + 1), repeat=keys)
        for raised in itertools.product((0, 1), repeat=keys)
        if any(raised)
    ]


def worst(subject: Peeled, pairs: list[tuple[Table, Table]], epsilon: float | None = None) -> float:
    """The true delta at the claimed epsilon, or another, over all pairs, both ways."""
    factor = math.exp(epsilon or subject.peel.cost.epsilon)
    laws = {table: numbers(subject.law(table)) for table in {one for pair in pairs for one in pair}}
    return max(max(excess(laws[one], laws[two], factor), excess(laws[two], laws[one], factor)) for one, two in pairs)


def numbers(law: Outcomes) -> dict[Any, float]:
    return {output: float(chance) for output, chance in law.probabilities.items()}


def excess(here: dict[Any, float], there: dict[Any, float], factor: float) -> float:
    return sum(max(chance - factor * there.get(output, 0.0), 0.0) for output, chance in here.items())


CASES = [case for case in WANTED["enumeration"] if case["kbar"] == 2 or case["k"] == 1]


def test_worst_of_small_tables_is_delta_over_one_more(subtests: pytest.Subtests) -> None:
    for case in CASES:
        with subtests.test(case=case):
            peel = Peel(case["eps"], case["delta"], case["k"], case["kbar"])
            assert peel.cost == ApproximateCost(case["price_eps"], case["delta"])
            found = worst(Peeled(peel), neighbours(1, case["kbar"] + 1))
            assert found <= case["delta"] / (1 + case["delta"])
            assert found == pytest.approx(case["worst_delta"], rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("case", WANTED["enumeration"], ids=str)
def test_worst_of_all_tables_is_delta_over_one_more(case: dict[str, Any]) -> None:
    peel = Peel(case["eps"], case["delta"], case["k"], case["kbar"])
    most = min(case.get("most", 3), 9 - 3 * (case["kbar"] - 1))
    if SCALE < 1:  # the worst pair is among these tables too
        most = 1 if case["kbar"] > 2 and case["k"] > 1 else 2
    found = worst(Peeled(peel), neighbours(most, case["kbar"] + 1))
    assert found <= case["delta"] / (1 + case["delta"])
    assert found == pytest.approx(case["worst_delta"], rel=1e-4)


def test_replaced_units_need_the_higher_stop() -> None:
    peel = Peel(0.7, 0.05, 2, 2, replace=True)
    assert peel.cost == ApproximateCost(2.8, 0.05)
    pairs = [
        (one, two)
        for middle in itertools.product(range(2), repeat=4)
        for (_, one), (_, two) in itertools.combinations(raises(middle), 2)
    ]
    assert worst(Peeled(peel), pairs) == pytest.approx(0.05 / 1.05, rel=1e-4)
    low = Peeled(replace(peel, replace=False))
    assert worst(low, pairs, peel.cost.epsilon) == pytest.approx(0.0915, abs=1e-4)


def raises(middle: Table) -> list[tuple[Table, Table]]:
    return [
        (middle, tuple(count + more for count, more in zip(middle, raised, strict=True)))
        for raised in itertools.product((0, 1), repeat=len(middle))
    ]


def test_telling_that_no_candidate_is_left_gives_a_lone_key_away() -> None:
    peel = Peel(0.5, 0.02, 2, 2)
    assert worst(Peeled(peel), [((0, 0), (0, 1))]) <= 0.02
    assert worst(Peeled(peel, ending=tell_no_more), [((0, 0), (0, 1))]) == 1.0


def test_a_list_ends_the_same_way_when_candidates_run_out() -> None:
    peel = Peel(5.0, 1e-6, 3, 5)
    assert peel.decide([1000, 0, 900], seeded(1)) == (0, 2)
    assert peel.decide([], seeded(1)) == ()
    assert peel.decide([0, 0], seeded(1)) == ()
    peel = Peel(0.1, 1e-6, 2, 10)
    assert peel.decide([10**6, 2**62, 5 * 10**5, 3], seeded(1)) == (1, 0)


def test_the_slope_is_never_steeper_than_paid_for() -> None:
    for epsilon in (1e-4, 0.1, 1 / 3, 1.0, 17.0):
        peel = Peel(epsilon, 1e-9, 2, 100)
        slope = Fraction(peel.slope) * 2**peel.bits
        assert Fraction(epsilon) * (1 - Fraction(1, 2**20)) <= slope <= Fraction(epsilon)
    assert Peel(0.1, 1e-6, 10, 1000).lead == pytest.approx(1 + 10 * math.log(1e9), rel=1e-6)


def test_bad_numbers_are_refused(subtests: pytest.Subtests) -> None:
    wrong: list[tuple[str, tuple[Any, ...]]] = [
        ("epsilon", (0.0, 1e-6, 1, 1)),
        ("epsilon", (1e-9, 1e-12, 1, 1)),
        ("delta", (0.1, 0.5, 2, 2)),
        ("k", (1.0, 1e-6, 0, 1)),
        ("candidates", (1.0, 1e-6, 3, 2)),
        ("replace", (1.0, 1e-6, 3, 3, 1)),
    ]
    for name, arguments in wrong:
        with subtests.test(name=name, arguments=arguments), pytest.raises(InvalidArgument, match=name):
            Peel(*arguments)
    with pytest.raises(InvalidArgument, match="counts must be whole numbers"):
        Peel(1.0, 1e-6, 1, 1).decide([[1, 2]], seeded(1))

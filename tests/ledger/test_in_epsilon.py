"""Budgets in what people ask in: what is said to fit does, and what is refused is above what is left."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from chronodp import User
from chronodp.accounting import gaussian
from chronodp.errors import BudgetExhausted
from chronodp.ledger import Ledger
from chronodp.ledger.filters import CAP, ORDERS, Filter
from chronodp.ledger.in_epsilon import apart, in_epsilon, open_sums, tell
from chronodp.privacy import ApproximateCost, GaussianCost, LaplaceCost, PureCost

DELTA = 1e-6
RULES = [
    Filter("pure", 4.0, 0.0, 0.0),
    Filter("gaussian", 4.0, DELTA, 0.0),
    Filter("gaussian", 0.01, 1e-9, 4e-10),
    Filter("gaussian", 300.0, 1e-3, 0.0),
    Filter("renyi", 4.0, DELTA, 0.0),
]


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "budget.db")


def test_after_one_of_four_one_is_spent_and_the_rest_is_told_by_itself(ledger: Ledger) -> None:
    ledger.open("meters", unit=User(), epsilon=4.0, delta=DELTA)
    assert str(ledger.status("meters").told[0]) == "epsilon 0 of 4 spent at delta 1e-06; one more of up to 4 fits"
    ledger.spend("meters", GaussianCost(1.0, gaussian.sigma(1.0, DELTA)), unit=User())
    status = ledger.status("meters")
    assert str(status.told[0]) == "epsilon 1 of 4 spent at delta 1e-06; one more of up to 3.817 fits"
    assert "mu" not in str(status)
    left = status.told[0].left
    with pytest.raises(BudgetExhausted) as refused:
        ledger.spend("meters", GaussianCost(1.0, gaussian.sigma(left * (1 + 1e-6), DELTA)), unit=User())
    assert refused.value.asked is not None
    assert refused.value.asked > left == refused.value.left
    assert (refused.value.measure, refused.value.limit) == ("epsilon at delta 1e-06", 4.0)
    assert refused.value.spent == pytest.approx(1.0, rel=1e-9)
    ledger.spend("meters", GaussianCost(1.0, gaussian.sigma(left, DELTA)), unit=User())
    assert ledger.status("meters").told[0].spent == pytest.approx(4.0, rel=1e-6)


def test_amounts_that_add_up_say_no_more_than_that(ledger: Ledger) -> None:
    ledger.open("meters", unit=User(), epsilon=1.0, delta=4e-7, rule="pure")
    ledger.spend("meters", ApproximateCost(0.25, 3e-7), unit=User())
    assert [str(part) for part in ledger.status("meters").told] == [
        "epsilon 0.25 of 1 spent, 0.75 left",
        "reserved delta 3e-07 of 4e-07 spent, 1e-07 left",
    ]
    with pytest.raises(BudgetExhausted, match=r"0.25 of 1 spent; this needs 0.9, and at most 0.75 fits; `status`"):
        ledger.spend("meters", PureCost(0.9), unit=User())


@given(
    rule=st.sampled_from(RULES),
    share=st.floats(0.0, 1.0),
    parameter=st.floats(1e-3, 1e3),
    kind=st.sampled_from([GaussianCost, LaplaceCost]),
)
def test_a_price_fits_where_it_is_no_more_than_what_is_left(
    rule: Filter, share: float, parameter: float, kind: type[GaussianCost | LaplaceCost]
) -> None:
    if rule.kind == "pure" and kind is GaussianCost:
        return
    spent = (*(max(0, int(most * share)) for most in rule.ceilings[:-1]), 0)
    amounts = rule.amounts(kind(1.0, parameter))
    for place in open_sums(rule, spent):
        asked, left = in_epsilon(rule, place, amounts[place]), tell(rule, spent, (place,)).left
        fits = spent[place] + amounts[place] <= rule.ceilings[place]
        assert asked <= left * (1 + 1e-8) if fits else asked > left


def test_nothing_spent_is_nothing_and_all_of_it_the_budget(subtests: pytest.Subtests) -> None:
    for rule in RULES:
        with subtests.test(rule=rule):
            fresh = (*(0 for _ in rule.components), 0)
            told = tell(rule, fresh, open_sums(rule, fresh))
            assert (told.spent, told.limit) == (0.0, rule.epsilon)
            assert told.left == pytest.approx(rule.epsilon, rel=1e-8)
            full = (*(max(0, most) for most in rule.ceilings[:-1]), 0)
            told = tell(rule, full, open_sums(rule, full))
            assert told.spent == pytest.approx(rule.epsilon, rel=1e-8)
            assert told.spent <= rule.epsilon
            assert told.left == 0.0


def test_an_order_is_converted_by_its_own_offset() -> None:
    rule = RULES[-1]
    place = ORDERS.index(32)
    quanta = rule.ceilings[place] // 2
    expected = rule.components[place].value(quanta) + math.log(1 / DELTA) / 31
    assert in_epsilon(rule, place, quanta) == pytest.approx(expected, rel=1e-11)
    assert open_sums(rule, (CAP, *(0 for _ in ORDERS[1:]), 0))[0] != 0


def test_what_differs_is_shown_to_differ() -> None:
    assert apart(3.817292, 3.817291) == ("3.817292", "3.817291")
    assert apart(1.0 + 1e-12, 1.0) == ("1.000000000001", "1")
    assert apart(1.0, 1.0) == ("1", "1")

"""What still fits: put to the test on both sides, and told by what is on disk."""

from __future__ import annotations

import datetime as dt
import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import chronodp as cdp
from chronodp import User
from chronodp.accounting import gaussian
from chronodp.errors import BudgetExhausted, InvalidArgument, UnknownBudget
from chronodp.ledger import Budget, Ledger, now
from chronodp.ledger.filters import CAP, ORDERS, Amounts, Filter, _Component
from chronodp.ledger.in_epsilon import apart, in_epsilon, open_sums, tell
from chronodp.ledger.outlook import Outlook, look_ahead
from chronodp.ledger.status import _gaussian, _laplace, _least, _pure
from chronodp.privacy import ApproximateCost, Cost, GaussianCost, LaplaceCost, PureCost

RULES = {
    "pure": Filter("pure", 1.5, 0.0, 0.0),
    "large": Filter("pure", 1e6, 0.0, 0.0),
    "gaussian": Filter("gaussian", 1.5, 1e-6, 0.0),
    "tiny": Filter("gaussian", 1e-4, 1e-9, 0.0),
    "huge": Filter("gaussian", 1e6, 1e-6, 0.0),
    "renyi": Filter("renyi", 2.5, 1e-3, 0.0),
}


def used(rule: Filter, share: float, *, noisy: bool) -> Amounts:
    """Return an account of which a share is used, perhaps by Gaussian noise."""
    spent = [max(0, int(most * share)) for most in rule.ceilings[:-1]]
    if noisy and rule.kind == "gaussian":
        spent[1] = CAP
    return (*spent, 0)


def test_what_fits_was_tried_and_what_is_below_it_does_not(subtests: pytest.Subtests) -> None:
    for noisy, share, name in product([False, True], [0.0, 0.3, 0.999, 1 - 1e-9, 1 - 1e-14], RULES):
        with subtests.test(noisy=noisy, share=share, name=name):
            rule, spent = RULES[name], used(RULES[name], share, noisy=noisy)
            for cost_at in (_pure, _laplace) if rule.kind == "pure" else (_pure, _laplace, _gaussian):
                found = _least(rule, spent, cost_at)
                if found is None:
                    assert not rule.fits(spent, cost_at(1e9))
                else:
                    assert rule.fits(spent, cost_at(found))
                    assert found == 1e-9 or not rule.fits(spent, cost_at(found / (1 + 2e-6)))


def test_nothing_fits_into_what_is_full() -> None:
    for rule in RULES.values():
        full = (*(max(0, most) for most in rule.ceilings[:-1]), 0)
        assert _least(rule, full, _pure) is None, rule


@given(value=st.fractions(min_value=0, max_value=10**19), digits=st.integers(-20, 40))
def test_amounts_are_rounded_up_in_whole_numbers(value: Fraction, digits: int) -> None:
    exact = value * Fraction(10) ** digits
    found = _Component("epsilon", Fraction(1), digits).amount(value)
    assert found == CAP if exact > CAP or value >= CAP else exact <= found < exact + 1


def test_what_is_remembered_never_hides_a_charge_of_another(tmp_path: Path) -> None:
    """Statuses are remembered by the sums that were read: who asks again after others' charges is told of them."""
    address = str(tmp_path / "budget.db")
    with Ledger(address) as one, Ledger(address) as other:
        one.open("meters", unit=User(), epsilon=4.0, delta=1e-6)
        before = one.status("meters")
        assert one.status("meters") == before
        other.spend("meters", PureCost(0.1), unit=User())
        after = one.status("meters")
        assert after.charges == 1
        assert 0 < after.share < 0.025  # by mu squared, of which less is used
        assert after.largest_pure == pytest.approx(3.9, rel=2e-6)
        other.spend("meters", GaussianCost(1.0, 4.0), unit=User())
        last = one.status("meters")
        assert last.smallest_sigma is not None
        assert after.smallest_sigma is not None
        assert last.smallest_sigma > after.smallest_sigma


DELTA = 1e-6
FILTERS = [
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
    rule=st.sampled_from(FILTERS),
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
    for rule in FILTERS:
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
    rule = FILTERS[-1]
    place = ORDERS.index(32)
    quanta = rule.ceilings[place] // 2
    expected = rule.components[place].value(quanta) + math.log(1 / DELTA) / 31
    assert in_epsilon(rule, place, quanta) == pytest.approx(expected, rel=1e-11)
    assert open_sums(rule, (CAP, *(0 for _ in ORDERS[1:]), 0))[0] != 0


def test_what_differs_is_shown_to_differ() -> None:
    assert apart(3.817292, 3.817291) == ("3.817292", "3.817291")
    assert apart(1.0 + 1e-12, 1.0) == ("1.000000000001", "1")
    assert apart(1.0, 1.0) == ("1", "1")


DAY = 86_400_000_000


def on_day(ledger: Ledger, number: int, days_ago: int) -> None:
    """Move a charge, and its part's, to another day: nobody waits for days in a test."""
    with ledger._store.transaction() as transaction:
        transaction.run("UPDATE charges SET made = ? WHERE number = ?", (now() - days_ago * DAY, number))


def test_each_day_has_the_share_at_its_end(ledger: Ledger) -> None:
    with pytest.raises(UnknownBudget):
        ledger.spending("meters")
    ledger.open("meters", unit=cdp.User(), epsilon=1.0)
    with pytest.raises(InvalidArgument, match="does not renew"):
        ledger.spending("meters", period="2026-01")
    ledger.allot("meters", "ana", epsilon=0.5)
    shares = []
    for number, days_ago in enumerate((9, 9, 4, 0), start=1):
        ledger.spend("meters", PureCost(0.1), unit=cdp.User(), analyst="ana" if number == 2 else "")
        shares.append(ledger.status("meters").share)
        on_day(ledger, number, days_ago)
    found = ledger.spending("meters")
    today = dt.datetime.now(dt.UTC).date()
    assert [(today - one.day).days for one in found.days] == [9, 4, 0]
    assert [one.charges for one in found.days] == [2, 1, 1]
    assert [one.share for one in found.days] == pytest.approx([shares[1], shares[2], shares[3]])
    assert (found.opening, found.share) == (0.0, ledger.status("meters").share)
    part = ledger.spending("meters", analyst="ana")
    assert [one.charges for one in part.days] == [1]
    assert part.share == ledger.status("meters", analyst="ana").share


@pytest.mark.slow
def test_a_postgresql_ledger_tells_the_same(postgres_only: str, tmp_path: Path) -> None:
    with Ledger(postgres_only, keys=tmp_path / "owner.keys") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=1.0, delta=1e-6)
        for number in (1, 2, 3):
            ledger.spend("meters", GaussianCost(1.0, 20.0), unit=cdp.User())
            on_day(ledger, number, 3 - number)
        found = ledger.spending("meters")
        assert [one.charges for one in found.days] == [1, 1, 1]
        assert found.opening == 0.0 < found.days[0].share < found.days[1].share
        assert found.days[2].share == ledger.status("meters").share


def test_a_sum_that_ran_over_is_not_counted_down(ledger: Ledger) -> None:
    """Gaussian noise closes the way without it; its sum jumped to the cap, and says nothing of the days before."""
    ledger.open("meters", unit=cdp.User(), epsilon=1.0, delta=1e-6)
    costs: tuple[Cost, ...] = (PureCost(0.1), GaussianCost(1.0, 20.0))
    for number, cost in enumerate(costs, start=1):
        ledger.spend("meters", cost, unit=cdp.User())
        on_day(ledger, number, 3 - number)
    found = ledger.spending("meters")
    assert found.days[-1].share == found.share == ledger.status("meters").share
    assert 0.0 == found.opening < found.days[0].share < found.days[1].share


def test_what_was_booked_besides_the_charges_stands_before_them(ledger: Ledger) -> None:
    ledger.open("meters", unit=cdp.User(), epsilon=1.0)
    ledger.spend("meters", PureCost(0.25), unit=cdp.User())
    with ledger._store.transaction() as transaction:
        transaction.run("UPDATE accounts SET spent_0 = 2 * spent_0")
    found = ledger.spending("meters")
    assert [found.opening, found.share] == pytest.approx([0.25, 0.5])


def test_a_renewing_budget_is_told_by_period(ledger: Ledger) -> None:
    ledger.open("meters", unit=cdp.User(), epsilon=1.0, renews="1mo")
    assert ledger.spending("meters").days == ()
    for month in (1, 2, 2):
        dates = (dt.date(2026, month, 1), dt.date(2026, month, 3))
        ledger.spend("meters", PureCost(0.125), unit=cdp.User(), dates=dates)
    assert ledger.spending("meters").period == "2026-02"
    assert ledger.spending("meters").share == pytest.approx(0.25)
    assert ledger.spending("meters", period="2026-01").share == pytest.approx(0.125)


def test_of_very_many_days_the_newest_are_read(ledger: Ledger) -> None:
    ledger.open("meters", unit=cdp.User(), epsilon=1.0)
    ledger.spend("meters", PureCost(0.001), unit=cdp.User())
    copied = (
        "INSERT INTO charges (dataset, analyst, period, number, cost, unit, amounts, purpose, made) "
        "SELECT dataset, analyst, period, ?, cost, unit, amounts, purpose, made - ? FROM charges WHERE number = 1"
    )
    with ledger._store.transaction() as transaction:
        for number in range(2, 401):
            transaction.run(copied, (number, (number - 1) * DAY))
        transaction.run("UPDATE accounts SET spent_0 = 400 * spent_0, charges = 400")
    found = ledger.spending("meters")
    assert len(found.days) == 366
    assert found.share == pytest.approx(0.4)
    assert found.opening == pytest.approx(0.034)


TODAY = dt.date(2026, 11, 18)


def ahead(
    *, share: float = 0.5, charges: int = 5, days: int = 100, reserved: float = 0.0, renews: str | None = None
) -> Outlook:
    budget = Budget(cdp.User(), 1.0, renews=renews)  # type: ignore[arg-type]
    since = TODAY - dt.timedelta(days=days) if charges else None
    return look_ahead(budget, share=share, reserved=reserved, charges=charges, since=since, today=TODAY)


def test_equal_charges_at_equal_distances_end_where_the_last_one_would_fit() -> None:
    """Charges of a tenth, every ten days: the tenth of them comes 90 days after the first, and ends the budget."""
    found = ahead(share=0.5, charges=5, days=40)  # the fifth is made today
    assert found.until == TODAY + dt.timedelta(days=50)
    assert found.words == "At this rate (5 charges since 2026-10-09) it lasts until about 2027-01-07."


def test_what_lies_far_ahead_is_told_by_the_month_and_then_not_at_all() -> None:
    assert ahead(share=0.2, days=200).words.endswith("it lasts until about August 2029.")
    far = ahead(share=1e-9)
    assert (far.until, far.picture()) == (None, "")
    assert "more than a hundred years" in far.words
    assert "more than a hundred years" in ahead(share=0.0).words


def test_what_is_reserved_may_end_first() -> None:
    soon = ahead(share=0.1, reserved=0.9).until
    assert soon is not None
    assert soon < TODAY + dt.timedelta(days=20)
    assert "needs none of it still fits" in ahead(share=0.1, reserved=1.0).words


def test_where_there_is_no_rate_none_is_told(subtests: pytest.Subtests) -> None:
    for found, words in [
        (ahead(charges=0, share=0.0), "Nothing was spent yet"),
        (ahead(charges=1), "1 charge so far: too few"),
        (ahead(charges=2), "2 charges so far: too few"),
        (ahead(days=6), "less than 7 days: too few"),
        (ahead(share=1.0), "It is used up: nothing new fits"),
        (ahead(renews="1mo"), "starts anew with each month of data, and so never runs out for good"),
        (ahead(renews="1mo", share=1.0), "never runs out for good"),
    ]:
        with subtests.test(found=found, words=words):
            assert words in found.words
            assert (found.until, found.picture()) == (None, "")
            if "too few" in words or "used up" in words:
                assert "go on, and pay nothing more" in found.words


def test_a_status_tells_it_from_the_first_charge_of_its_account(tmp_path: Path) -> None:
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=1.0)
        ledger.allot("meters", "ana", epsilon=0.5)
        ledger.open("shop", unit=cdp.User(), epsilon=4.0, delta=1e-6)
        assert "Nothing was spent yet" in str(ledger)
        for number, days_ago in enumerate((40, 30, 20, 10, 0), start=1):
            ledger.spend("meters", PureCost(0.1), unit=cdp.User(), analyst="ana" if number == 3 else "")
            on_day(ledger, number, days_ago)
        ledger.spend("shop", GaussianCost(1.0, 4.0), unit=cdp.User())
        status = ledger.status("meters")
        today = dt.datetime.now(dt.UTC).date()
        assert status.outlook.since == today - dt.timedelta(days=40)
        assert status.outlook.until == today + dt.timedelta(days=50)
        assert status.outlook.words in str(status)
        assert "stroke-dasharray" in status._repr_html_()
        assert "1 charge so far" in ledger.status("meters", analyst="ana").outlook.words
        first, meters, shop = str(ledger).splitlines()
        assert first == repr(ledger)
        assert meters == f"meters: epsilon 0.5 of 1 spent, 0.5 left. {status.outlook.words}"
        assert shop.startswith("shop: epsilon 1.061 of 4 spent at delta 1e-06; ")
        html = ledger._repr_html_()
        assert html.count("<li>") == 2
        assert status.outlook.words in html

"""A budget over time: the last day agrees with the status, and each day with the charges up to it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

import chronodp as cdp
from chronodp.errors import InvalidArgument, UnknownBudget
from chronodp.ledger import Ledger, now
from chronodp.privacy import Cost, GaussianCost, PureCost

DAY = 86_400_000_000


def on_day(ledger: Ledger, number: int, days_ago: int) -> None:
    """Move a charge, and its part's, to another day: nobody waits for days in a test."""
    with ledger._store.transaction() as transaction:
        transaction.run("UPDATE charges SET made = ? WHERE number = ?", (now() - days_ago * DAY, number))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "budget.db")


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

"""What a budget's periods and zones mean: settled once, kept, compared, and never mixed."""

from __future__ import annotations

import datetime as dt
import threading
from pathlib import Path

import pytest

import chronodp as cdp
from chronodp.errors import BudgetConflict, BudgetExhausted, InvalidArgument, UnitMismatch
from chronodp.ledger import Ledger
from chronodp.privacy import PureCost, Unit, UserPeriod, Window

HALF = PureCost(0.5)
HOURS = Window(24, every="1h")


def day(zone: str) -> UserPeriod:
    return UserPeriod("1D", timezone=zone)


def spent(ledger: Ledger, dataset: str, period: str = "") -> float:
    return ledger.status(dataset, period=period).sums[0].spent


def test_the_first_charge_says_what_a_window_is(ledger: Ledger) -> None:
    ledger.open("ward", unit=Window(24), epsilon=10.0)
    assert ledger.status("ward").budget.unit == Window(24)
    ledger.spend("ward", HALF, unit=HOURS)
    ledger.spend("ward", HALF, unit=HOURS)
    assert spent(ledger, "ward") == 1.0
    assert ledger.status("ward").budget.unit == HOURS
    assert "in any 24 consecutive hours" in str(ledger.status("ward"))
    assert ("ward", "", ledger.status("ward").budget) in ledger.budgets()
    ledger.open("ward", unit=Window(24), epsilon=10.0)  # the same again
    ledger.open("ward", unit=HOURS, epsilon=10.0)
    with pytest.raises(BudgetConflict, match=r"24 consecutive hours.*, not .*24 consecutive minutes"):
        ledger.open("ward", unit=Window(24, every="1min"), epsilon=10.0)


def test_windows_of_minutes_and_days_do_not_add_up(ledger: Ledger) -> None:
    ledger.open("ward", unit=Window(24), epsilon=10.0)
    days = Window(24, every="1D", timezone="UTC")
    ledger.spend("ward", HALF, unit=days)
    with pytest.raises(
        BudgetExhausted, match=r"epsilon 0.5 of 10 spent; this needs more than 30"
    ):  # 1,440 windows of 24 minutes make 24 days
        ledger.spend("ward", HALF, unit=Window(24, every="1min"))
    with pytest.raises(BudgetExhausted, match=r"epsilon 0.5 of 10 spent; this needs more than 30"):
        ledger.check_fits("ward", HALF, unit=Window(24, every="1min"))
    assert spent(ledger, "ward") == 0.5
    ledger.open("other", unit=Window(24, every="1min"), epsilon=10.0)
    ledger.spend("other", HALF, unit=days)
    assert spent(ledger, "other") == 1.0


def test_days_of_two_zones_are_charged_what_one_day_can_lose(ledger: Ledger) -> None:
    ledger.open("visits", unit=UserPeriod("1D", "replace"), epsilon=10.0)
    ledger.spend("visits", HALF, unit=UserPeriod("1D", "replace", timezone="UTC"))
    ledger.spend("visits", HALF, unit=UserPeriod("1D", "replace", timezone="Asia/Tokyo"))
    assert spent(ledger, "visits") == 1.5  # a day of UTC lies in two of Tokyo's
    ledger.open("strict", unit=UserPeriod("1D"), epsilon=10.0)
    ledger.spend("strict", HALF, unit=day("UTC"))
    ledger.spend("strict", HALF, unit=day("Asia/Tokyo"))
    assert spent(ledger, "strict") == 2.5  # a part of either: all out, and the rest in again


def test_what_is_not_said_is_not_mixed_with_what_is(ledger: Ledger) -> None:
    cases: list[tuple[Unit, Unit, Unit]] = [
        (Window(24), Window(24), HOURS),
        (Window(24), HOURS, Window(24)),
        (UserPeriod("1D"), UserPeriod("1D"), day("UTC")),
        (UserPeriod("1D"), day("UTC"), UserPeriod("1D")),
    ]
    for number, (unit, first, other) in enumerate(cases):
        name = f"ward {number}"
        ledger.open(name, unit=unit, epsilon=10.0)
        ledger.spend(name, HALF, unit=first)
        with pytest.raises(
            UnitMismatch, match=r"says nothing about this budget's unit, .*every='1h'|open it again with a unit"
        ):
            ledger.spend(name, HALF, unit=other)
        with pytest.raises(UnitMismatch):
            ledger.check_fits(name, HALF, unit=other)
        ledger.spend(name, HALF, unit=first)
        assert spent(ledger, name) == 1.0, (unit, first, other)


def test_a_first_charge_that_does_not_fit_settles_nothing(ledger: Ledger) -> None:
    ledger.open("ward", unit=Window(24), epsilon=1.0)
    with pytest.raises(BudgetExhausted):
        ledger.spend("ward", PureCost(2.0), unit=HOURS)
    assert ledger.status("ward").budget.unit == Window(24)
    ledger.check_fits("ward", HALF, unit=HOURS)
    assert ledger.status("ward").budget.unit == Window(24)
    ledger.spend("ward", HALF, unit=Window(24, every="1min"))
    assert ledger.status("ward").budget.unit == Window(24, every="1min")


def test_charges_for_other_units_settle_nothing(ledger: Ledger) -> None:
    ledger.open("ward", unit=Window(24), epsilon=10.0)
    ledger.spend("ward", HALF, unit=cdp.User())
    assert ledger.status("ward").budget.unit == Window(24)
    ledger.spend("ward", HALF, unit=Window(12, every="1h"))
    assert ledger.status("ward").budget.unit == HOURS
    assert spent(ledger, "ward") == 2.0


def test_a_meaning_holds_for_other_processes_and_parts(address: str, ledger: Ledger, tmp_path: Path) -> None:
    ledger.open("ward", unit=Window(24), epsilon=10.0)
    ledger.allot("ward", "ana", epsilon=2.0)
    ledger.allot("ward", "ben", epsilon=2.0, collusion="excluded")
    with Ledger(address, keys=tmp_path / "keys") as other:
        other.spend("ward", HALF, unit=cdp.User())  # it has seen the budget before it has a meaning
        ledger.spend("ward", HALF, unit=HOURS, analyst="ben")
        with pytest.raises(UnitMismatch):
            other.spend("ward", HALF, unit=Window(24), analyst="ana")
        assert other.status("ward", analyst="ana").budget.unit == HOURS


def test_of_two_first_charges_one_decides(address: str, ledger: Ledger, tmp_path: Path) -> None:
    ledger.open("ward", unit=Window(24), epsilon=1e6)
    units = [Window(24), HOURS] * 4
    refused = []
    begin = threading.Barrier(len(units))

    def charge(unit: Window) -> None:
        with Ledger(address, keys=tmp_path / "keys") as mine:
            begin.wait()
            try:
                mine.spend("ward", HALF, unit=unit)
            except UnitMismatch:
                refused.append(unit)

    threads = [threading.Thread(target=charge, args=(unit,)) for unit in units]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refused in ([Window(24)] * 4, [HOURS] * 4)
    assert spent(ledger, "ward") == 2.0


def test_the_owner_says_what_streams_without_a_length_counted(address: str, ledger: Ledger, tmp_path: Path) -> None:
    ledger.open("ward", unit=Window(24), epsilon=10.0)
    ledger.allot("ward", "ana", epsilon=2.0)
    ledger.spend("ward", HALF, unit=Window(24))
    with Ledger(address, keys=tmp_path / "keys") as other:
        other.spend("ward", HALF, unit=Window(24))
        ledger.open("ward", unit=HOURS, epsilon=10.0)
        ledger.spend("ward", HALF, unit=HOURS, analyst="ana")
        with pytest.raises((BudgetConflict, UnitMismatch)):
            other.spend("ward", HALF, unit=Window(24))  # it remembers what no longer holds
        with pytest.raises(UnitMismatch, match="does not say how long its periods are"):
            other.spend("ward", HALF, unit=Window(24))
    assert spent(ledger, "ward") == 1.5
    with pytest.raises(BudgetConflict):
        ledger.open("ward", unit=HOURS, epsilon=11.0)


def test_a_month_is_one_of_the_budgets_zone(ledger: Ledger) -> None:
    island = cdp.Aggregate(
        [1.0] * 24, change=1.0, unit=cdp.Event(), every="1h", start="2026-02-01", timezone="Pacific/Kiritimati"
    ).plan(epsilon=0.5)
    ledger.open("utc", unit=cdp.Event(), epsilon=1.0, renews="1mo")
    island.release(ledger, dataset="utc", request="day")
    assert {entry.period for entry in ledger.history("utc")} == {"2026-01", "2026-02"}
    ledger.open("island", unit=cdp.Event(), epsilon=1.0, renews="1mo", timezone="Pacific/Kiritimati")
    island.release(ledger, dataset="island", request="day")
    assert {entry.period for entry in ledger.history("island")} == {"2026-02"}
    assert "every 1mo (Pacific/Kiritimati)" in str(ledger.status("island"))
    ledger.open("island", unit=cdp.Event(), epsilon=1.0, renews="1mo")  # not said again
    with pytest.raises(BudgetConflict):
        ledger.open("island", unit=cdp.Event(), epsilon=1.0, renews="1mo", timezone="UTC")
    with pytest.raises(InvalidArgument, match="timezone must be left out: this budget does not renew"):
        ledger.open("never", unit=cdp.Event(), epsilon=1.0, timezone="UTC")


def test_moments_are_charged_where_they_fall_and_days_on_the_budgets_clocks(ledger: Ledger) -> None:
    ledger.open("utc", unit=cdp.Event(), epsilon=9.0, renews="1D")
    ledger.open("tokyo", unit=cdp.Event(), epsilon=9.0, renews="1D", timezone="Asia/Tokyo")
    noon = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)
    for dates, utc, tokyo in [
        ((noon, noon + dt.timedelta(hours=3)), {"2026-01-31"}, {"2026-01-31"}),
        ((noon, noon + dt.timedelta(hours=4)), {"2026-01-31"}, {"2026-01-31", "2026-02-01"}),
        ((dt.date(2026, 1, 31), dt.date(2026, 2, 1)), {"2026-01-31"}, {"2026-01-31"}),
    ]:
        for name, labels in (("utc", utc), ("tokyo", tokyo)):
            before = len(ledger.history(name))
            ledger.spend(name, PureCost(0.1), unit=cdp.Event(), dates=dates)
            new = ledger.history(name)[: len(ledger.history(name)) - before]
            assert {entry.period for entry in new} == labels
    for wrong in [(noon, noon), (noon, dt.date(2026, 2, 1)), (noon.replace(tzinfo=None), noon), (noon,), "2026"]:
        with pytest.raises(InvalidArgument, match="dates must be a pair"):
            ledger.spend("utc", PureCost(0.1), unit=cdp.Event(), dates=wrong)  # type: ignore[arg-type]


@pytest.mark.slow
def test_clocks_are_compared_for_the_years_that_are_known(ledger: Ledger) -> None:
    ledger.open("old", unit=day("UTC"), epsilon=10.0)
    old = (dt.datetime(1937, 6, 1, tzinfo=dt.UTC), dt.datetime(1937, 7, 1, tzinfo=dt.UTC))
    ledger.spend("old", HALF, unit=day("UTC"), dates=old)
    with pytest.raises(UnitMismatch, match="on the clocks of 1973 to 2100 only"):
        ledger.spend("old", HALF, unit=day("Europe/Amsterdam"), dates=old)
    assert spent(ledger, "old") == 0.5

"""Budgets that 0.1.0 charged: what they are read as, what mixtures are restated to, and what the owner is told."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import chronodp as cdp
from chronodp.errors import BudgetConflict, BudgetExhausted, UnitMismatch
from chronodp.ledger import Ledger, verify_chain
from chronodp.privacy import PureCost, Unit, UserPeriod, Window
from chronodp.series.windowed import WindowedStream

GOLDEN = Path(__file__).parent.parent / "golden" / "ledger-0.1.0"
HOURS = Window(24, every="1h")


@pytest.fixture
def address(tmp_path: Path) -> Path:
    path = tmp_path / "budget.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript((GOLDEN / "ledger.sql").read_text())
    connection.close()
    shutil.copy(GOLDEN / "ledger.keys", tmp_path / "budget.db.keys")
    return path


@pytest.fixture
def ledger(address: Path) -> Iterator[Ledger]:
    with Ledger(address) as opened:
        yield opened


@pytest.mark.parametrize(
    ("dataset", "unit", "spent"),
    [
        ("hours", HOURS, 2.0),
        ("together", HOURS, 1.0),
        ("ward", Window(24), 1.0),
        ("by-hand", Window(24), 0.5),
        ("people", cdp.User(), 1.0),
        ("never-spent", Window(24), 0.0),
    ],
)
def test_budgets_of_one_meaning_are_as_they_were(ledger: Ledger, dataset: str, unit: Unit, spent: float) -> None:
    status = ledger.status(dataset)
    assert (status.budget.unit, status.note) == (unit, "")
    assert status.sums[0].spent == pytest.approx(spent, rel=1e-11)
    assert status.to_dict()["note"] is None
    assert "guarantee is the opened one" in str(status)


def test_minutes_and_days_are_restated_for_days(ledger: Ledger) -> None:
    status = ledger.status("minutes-and-days")
    assert status.budget.unit == Window(24, every="1D", timezone="UTC")
    assert status.overspent
    assert status.largest_pure is None
    assert "More was spent than this budget allows" in str(status)
    assert "0.1.0 added up charges for" in status.note
    assert "any 24 consecutive minutes" in status.note
    with pytest.raises(BudgetExhausted):
        ledger.spend("minutes-and-days", PureCost(0.01), unit=Window(24, every="1D", timezone="UTC"))


def test_days_of_two_zones_are_restated_at_what_a_day_can_lose(ledger: Ledger) -> None:
    for analyst in ("", "ana"):
        status = ledger.status("two-zones", analyst=analyst)
        assert status.budget.unit == UserPeriod("1D", timezone="UTC")
        assert status.sums[0].spent == 5.0  # 1 for the day of UTC, 4 for the parts of two days of Tokyo's
        assert "one calendar day in Asia/Tokyo" in status.note
    ledger.spend("two-zones", PureCost(0.5), unit=UserPeriod("1D", timezone="UTC"), analyst="ana")
    assert ledger.status("two-zones").sums[0].spent == 5.5


def test_a_stream_without_a_length_beside_hours_leaves_nothing(ledger: Ledger) -> None:
    status = ledger.status("hours-and-stream")
    assert status.largest_pure is None
    assert "cannot be known: nothing more can be spent" in status.note
    with pytest.raises(BudgetExhausted):
        ledger.spend("hours-and-stream", PureCost(0.01), unit=HOURS)


def test_a_day_of_another_clock_is_charged_to_the_month_it_touched(ledger: Ledger) -> None:
    charged = {(entry.period, entry.purpose) for entry in ledger.history("months")}
    assert charged == {
        ("2026-01", "first-of-february"),
        ("2026-01", "january"),
        ("2026-02", "first-of-february"),
    }
    status = ledger.status("months", period="2026-01")
    assert (status.sums[0].spent, status.charges) == (2.0, 2)
    assert status.budget.zone == "UTC"
    assert "days of Pacific/Kiritimati and UTC" in status.note
    assert "charges were added in 2026-01" in status.note


def test_months_of_one_zone_stay_that_zones(ledger: Ledger) -> None:
    status = ledger.status("tokyo-months")
    assert (status.budget.zone, status.note, status.sums[0].spent) == ("Asia/Tokyo", "", 1.0)
    days = cdp.Aggregate(
        [1.0] * 28,
        change=1.0,
        unit=cdp.User(),
        max_periods=3,
        every="1D",
        start="2026-02-01",
        timezone="Asia/Tokyo",
    )
    days.plan(epsilon=1.0).release(ledger, dataset="tokyo-months", request="february")
    assert {entry.period for entry in ledger.history("tokyo-months")} == {"2026-01", "2026-02"}
    ledger.open("tokyo-months", unit=cdp.User(), epsilon=3.0, renews="1mo")


def charges(address: Path) -> int:
    with closing(sqlite3.connect(address)) as connection, connection:
        return int(connection.execute("SELECT SUM(charges) FROM accounts").fetchone()[0])


def test_restating_happens_once(address: Path, ledger: Ledger) -> None:
    before = [ledger.status(name, analyst=who).to_dict() for name, who, _ in ledger.budgets()]
    count = charges(address)
    with Ledger(address) as again:
        assert [again.status(name, analyst=who).to_dict() for name, who, _ in again.budgets()] == before
        assert charges(address) == count


def test_budgets_are_opened_again_as_before(ledger: Ledger) -> None:
    for name, epsilon in (("hours", 10.0), ("minutes-and-days", 10.0), ("ward", 2.0), ("never-spent", 1.0)):
        ledger.open(name, unit=Window(24), epsilon=epsilon)
    with pytest.raises(BudgetConflict):
        ledger.open("hours", unit=Window(24, every="1min"), epsilon=10.0)
    ledger.open("ward", unit=HOURS, epsilon=2.0)  # the owner's word
    ledger.spend("ward", PureCost(0.5), unit=HOURS)
    with pytest.raises(UnitMismatch):
        ledger.spend("hours", PureCost(0.5), unit=Window(24))


def test_certificates_and_streams_of_before_hold(ledger: Ledger) -> None:
    for dataset in ("hours", "two-zones", "together", "people"):
        verify_chain(ledger.chain(dataset), ledger.keys.public)
    stream = WindowedStream.resume(ledger, "beds")
    assert stream.period == 3
    assert stream.certificate.claim.unit == Window(24)
    stream.step(6)


def test_a_request_of_before_returns_what_was_released(ledger: Ledger) -> None:
    totals = [float(number % 5) for number in range(48)]
    unit = Window(24)
    plan = cdp.Aggregate(totals, change=1.0, unit=unit, every="1h", start="2026-01-01").plan(epsilon=1.0)
    made = plan.release(ledger, dataset="hours", request="one")
    stored = ledger.stored.release_of("hours", "one")
    assert stored is not None
    assert made.text == stored.text
    assert made.certificate.claim.unit == unit
    assert ledger.status("hours").charges == 2


@pytest.mark.parametrize(
    ("statement", "dataset"),
    [
        ("UPDATE requests SET release = 'no JSON' WHERE dataset = 'hours' AND request = 'one'", "hours"),
        ("UPDATE requests SET release = NULL, link = NULL WHERE dataset = 'hours' AND request = 'one'", "hours"),
    ],
)
def test_a_charge_whose_grid_is_not_known_leaves_nothing(address: Path, statement: str, dataset: str) -> None:
    with closing(sqlite3.connect(address)) as connection, connection:
        connection.execute(statement)
    connection.close()
    with Ledger(address) as ledger:
        assert ledger.status(dataset).largest_pure is None


def test_months_charged_by_hand_beside_others_reach_their_neighbours(address: Path) -> None:
    with closing(sqlite3.connect(address)) as connection, connection:
        connection.execute("UPDATE requests SET release = NULL, link = NULL WHERE request = 'first-of-february'")
    connection.close()
    with Ledger(address) as ledger:
        periods = {entry.period for entry in ledger.history("months") if entry.purpose == "first-of-february"}
        assert periods == {"2026-01", "2026-02", "2026-03"}
        assert "clocks not known" in ledger.status("months").note

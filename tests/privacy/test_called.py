"""What one of those who are protected is called: said in every sentence about the unit, and compared by no budget."""

from __future__ import annotations

from pathlib import Path

import pytest

from chronodp.errors import ChronodpError, InvalidArgument
from chronodp.ledger import Ledger
from chronodp.privacy import Event, PureCost, RecordUnit, Unit, User, UserPeriod, Window, dump, load, price
from chronodp.privacy.unit_text import parse_unit

UNITS = (User(), UserPeriod("1D"), Window(24), Window(24, "replace", every="1h"))
CALLED = (
    User(called="aircraft"),
    UserPeriod("1D", called="aircraft"),
    Window(24, called="aircraft"),
    Window(24, "replace", every="1h", called="aircraft"),
)


@pytest.mark.parametrize("unit", CALLED, ids=str)
def test_sentences_about_a_unit_say_the_name(unit: RecordUnit) -> None:
    assert "one aircraft" in str(unit)
    assert "any one aircraft" in unit.protects
    assert "person" not in f"{unit} {unit.protects} {unit.does_not_protect}"


@pytest.mark.parametrize(("plain", "called"), list(zip(UNITS, CALLED, strict=True)), ids=str)
def test_a_name_changes_no_price(plain: RecordUnit, called: RecordUnit) -> None:
    assert price(plain, called) == price(called, plain) == 1
    assert price(called, Event()) == price(plain, Event())
    assert price(Event(), called, max_rows=3) == price(Event(), plain, max_rows=3)


@pytest.mark.parametrize("unit", [*UNITS, *CALLED], ids=str)
def test_texts_are_read_back_and_those_without_a_name_stay_as_they_were(unit: RecordUnit) -> None:
    assert load(dump(unit), Unit) == unit
    assert ("called" in dump(unit)) == (unit in CALLED)


@pytest.mark.parametrize("text", ["user(aircraft)", "user_period(aircraft):1D", "window(aircraft):24"])
def test_units_are_written_with_a_name(text: str) -> None:
    assert parse_unit(text) in CALLED


@pytest.mark.parametrize(
    "text", ["user(", "user()", "user(a", "user)", "event(a)", "swap(a):4", "user(a/b)", "user(a(b))"]
)
def test_refuses_texts_whose_name_does_not_end_or_has_no_place(text: str) -> None:
    with pytest.raises(ChronodpError):
        parse_unit(text)


@pytest.mark.parametrize("called", ["", " aircraft", "a" * 41, "<b>", "a\nb", 7], ids=repr)
def test_refuses_what_is_no_name(called: object) -> None:
    with pytest.raises(InvalidArgument, match="called must be a short name for one of those protected"):
        User(called=called)  # type: ignore[arg-type]


def test_a_budget_takes_charges_and_is_opened_again_under_any_name(tmp_path: Path) -> None:
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("fleet", unit=User(called="aircraft"), epsilon=1.0)
        ledger.open("fleet", unit=User(), epsilon=1.0)
        ledger.spend("fleet", PureCost(0.25), unit=User(called="ship"))
        ledger.spend("fleet", PureCost(0.25), unit=User())
        status = ledger.status("fleet")
        assert status.sums[0].spent == pytest.approx(0.5)
        assert "everything of one aircraft" in str(status.budget)

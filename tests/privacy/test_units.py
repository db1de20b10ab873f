"""What no unit is, and what one of those protected is called: said in every sentence, and compared by no budget."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chronodp.errors import ChronodpError, InvalidArgument
from chronodp.ledger import Ledger
from chronodp.privacy import Event, History, PureCost, Swap, Unit, User, UserPeriod, Window, dump, load, price
from chronodp.privacy.unit_text import parse_unit

UNITS = (User(), UserPeriod("1D"), Window(24), Window(24, "replace", every="1h"))
CALLED = (
    User(called="aircraft"),
    UserPeriod("1D", called="aircraft"),
    Window(24, called="aircraft"),
    Window(24, "replace", every="1h", called="aircraft"),
)


def test_a_name_is_said_and_kept_and_changes_no_price() -> None:
    for plain, called in zip(UNITS, CALLED, strict=True):
        assert "one aircraft" in str(called)
        assert "any one aircraft" in called.protects
        assert "person" not in f"{called} {called.protects} {called.does_not_protect}"
        assert price(plain, called) == price(called, plain) == 1
        assert price(called, Event()) == price(plain, Event())
        assert price(Event(), called, max_rows=3) == price(Event(), plain, max_rows=3)
        assert (load(dump(called), Unit), load(dump(plain), Unit)) == (called, plain)
        assert "called" not in dump(plain)


def test_units_are_written_with_a_name() -> None:
    for text in ("user(aircraft)", "user_period(aircraft):1D", "window(aircraft):24"):
        assert parse_unit(text) in CALLED, text
    for text in ("user(", "user()", "user(a", "user)", "event(a)", "swap(a):4", "user(a/b)", "user(a(b))"):
        with pytest.raises(ChronodpError):
            parse_unit(text)
    wrong: Any
    for wrong in ("", " aircraft", "a" * 41, "<b>", "a\nb", 7):
        with pytest.raises(InvalidArgument, match="called must be a short name for one of those protected"):
            User(called=wrong)


def test_a_budget_takes_charges_and_is_opened_again_under_any_name(tmp_path: Path) -> None:
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("fleet", unit=User(called="aircraft"), epsilon=1.0)
        ledger.open("fleet", unit=User(), epsilon=1.0)
        ledger.spend("fleet", PureCost(0.25), unit=User(called="ship"))
        ledger.spend("fleet", PureCost(0.25), unit=User())
        status = ledger.status("fleet")
        assert status.sums[0].spent == pytest.approx(0.5)
        assert "everything of one aircraft" in str(status.budget)


def test_refuses_what_is_no_length() -> None:
    wrong: Any
    for wrong in ("", "1", "D", "0h", "-1h", "1.5h", "1d", "1 D", "9999999s", None, 24):
        with pytest.raises(InvalidArgument, match="every must be a period such as"):
            UserPeriod(wrong)
    for wrong in (0, -1, 1.5, True, "3", float("nan")):
        with pytest.raises(InvalidArgument, match="periods must be a whole number"):
            Window(wrong)


def test_refuses_unknown_relations_and_blocks_of_one() -> None:
    wrong: Any = "remove"
    builds: list[Callable[[], Unit]] = [
        lambda: Event(wrong),
        lambda: User(wrong),
        lambda: Window(3, wrong),
        lambda: UserPeriod("1D", wrong),
    ]
    for build in builds:
        with pytest.raises(InvalidArgument, match="relation must be 'add_remove' or 'replace'"):
            build()
    with pytest.raises(InvalidArgument, match="block"):
        Swap(1)
    with pytest.raises(InvalidArgument, match="changes must be 'any', 'same' or 'crossing'"):
        History("none")  # type: ignore[arg-type]

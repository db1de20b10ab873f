"""How long a budget lasts: by its rate, and in honest words where there is none."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from xml.etree import ElementTree

import pytest

import chronodp as cdp
from chronodp.ledger import Budget, Ledger
from chronodp.ledger.outlook import Outlook, look_ahead
from chronodp.privacy import GaussianCost, PureCost
from tests.ledger.test_spending import on_day

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


def test_the_picture_is_drawn_within_its_frame() -> None:
    drawn = ElementTree.fromstring(ahead().picture())
    points = [point.split(",") for line in drawn.iter("polyline") for point in line.attrib["points"].split()]
    assert len(points) == 4
    assert points[1] == points[2]  # today
    assert all(0 <= float(x) <= 480 and 0 <= float(y) <= 60 for x, y in points)


def test_a_status_tells_it_from_the_first_charge_of_its_account(tmp_path: Path) -> None:
    with Ledger(tmp_path / "budget.db") as ledger:
        assert str(ledger) == repr(ledger)
        assert "No budget is open" in ledger._repr_html_()
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
        assert status.to_dict()["outlook"] == {
            "words": status.outlook.words,
            "since": str(status.outlook.since),
            "today": str(today),
            "until": str(status.outlook.until),
        }
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


def test_a_ledger_whose_disk_is_away_prints_why(tmp_path: Path) -> None:
    place = tmp_path / "disk"
    place.mkdir()
    with Ledger(place / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=1.0)
        place.rename(tmp_path / "away")
        for shown in (str(ledger), ledger._repr_html_()):
            assert "is not where it was" in shown

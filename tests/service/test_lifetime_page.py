"""Lifetime series on the curator's page: their facts, their issues, and a form for the next one."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.service.lives import issued, write_life_policy
from tests.service.town import House, open_house
from tests.service.visiting import Visits, faults

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("page")
    with open_house(write_life_policy(folder), str(folder / "budget.db")) as opened:
        issued(opened, "ana", 0)
        yield opened


def test_a_series_is_shown_and_the_next_issue_asked_for(visit: Visits) -> None:
    page = visit("ana", forgiven="403")
    page.tab.get_by_role("link", name="Lifetimes of meters").click()
    page.slot("facts").get_by_text("stop counting with issue 13").wait_for()
    page.slot("facts").get_by_text("for all issues together, the same for ever").first.wait_for()
    page.slot("issues").get_by_role("link", name="2020-01-01 to 2020-02-01").wait_for()
    assert page.tab.get_by_label("Start").input_value() == "2020-02-01"
    assert page.tab.get_by_label("End").input_value() == "2020-03-01"
    assert faults(page.tab) == []
    page.tab.get_by_label("Start").fill("2020-01-01")
    page.tab.get_by_role("button", name="Ask for the issue").click()
    page.slot("job").get_by_text("issued already").wait_for()
    page.tab.get_by_label("Start").fill("2020-02-01")
    page.tab.get_by_label("Highest value of one person").fill("2")
    page.tab.get_by_role("button", name="Ask for the issue").click()
    page.tab.get_by_text(re.compile("Release 2 of meters", re.I)).wait_for()
    page.slot("facts").get_by_text("takes at most 0.444 of 12 shares").wait_for()
    page.open("lifetimes/meters/load")
    page.slot("issues").get_by_role("link", name="2", exact=True).click()
    page.tab.get_by_text(re.compile("Release 2 of meters", re.I)).wait_for()


def test_who_may_not_ask_sees_no_form_on_a_phone_either(visit: Visits) -> None:
    for who in ("ben", "eve"):
        page = visit(who, width=360)
        page.open("lifetimes/meters")
        page.slot("issues").get_by_text("ana/month 0").wait_for()
        assert page.tab.get_by_role("button", name="Ask for the issue").is_hidden()
        assert page.tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert faults(page.tab) == []


def test_a_dataset_without_a_series_says_so(visit: Visits, house: House) -> None:
    del house
    page = visit("zoe")
    page.open("lifetimes")
    page.slot("none").get_by_text("There is no dataset for you").wait_for()

"""Keys that are found, on the curator's page: asked for, shown with their bands, hostile ones too, many and none."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pandas
import pytest

from tests.service.test_discover import ODD, policy_for
from tests.service.town import House, open_house
from tests.service.visiting import HOSTILE, Visits, faults

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("page")
    policy = policy_for(folder, discover='discover = { columns = ["page", "rare"], longest = 64, max_keys = 5 }')
    rows = pandas.read_parquet(folder / "rows.parquet")
    pages = [*ODD[:-1], HOSTILE, *(f"page {number}" for number in range(10))]
    one = rows[rows["page"] == ODD[0]]
    many = pandas.concat([one.assign(page=page, who=one["who"] + page) for page in pages])
    many.assign(rare=many["who"]).to_parquet(folder / "rows.parquet")
    with open_house(policy) as opened:
        yield opened


def test_keys_are_asked_for_found_and_shown(visit: Visits) -> None:
    page = visit("ana")
    page.open("ask/web")
    assert page.tab.get_by_label("Keys of a person that count").is_hidden()
    page.tab.get_by_label("Find keys of").select_option("page")
    assert page.tab.get_by_label("Keys of a person that count").input_value() == "5"
    page.tab.get_by_label("ε as a number").fill("2")
    page.slot("facts").get_by_text("people hold it and nothing else").wait_for()
    assert page.planned().startswith("±")
    assert faults(page.tab) == []
    page.tab.get_by_role("button", name="Try on made-up rows").click()
    page.slot("trial-note").get_by_text("nothing was spent").wait_for()
    page.pay()
    page.tab.get_by_text(re.compile("Release \\d+ of web", re.I)).wait_for()
    page.slot("chart").locator(".scatterlayer path").nth(3).wait_for(state="attached")
    page.slot("drawn").get_by_text("largest 12 of 16 lines").wait_for()
    page.slot("facts").get_by_text("16 found privately").wait_for()
    assert HOSTILE in page.tab.get_by_label("Only").locator("option").all_inner_texts()
    assert HOSTILE in (page.slot("table").text_content() or "")
    assert page.tab.locator("img, main b").count() == 0
    page.tab.get_by_label("Only").select_option(HOSTILE)
    page.tab.wait_for_function("() => !document.querySelector('[data-slot=drawn] p')")
    assert faults(page.tab) == []


def test_a_column_without_a_key_of_many_says_so(visit: Visits) -> None:
    page = visit("ana")
    page.open("ask/web")
    page.tab.get_by_label("Find keys of").select_option("rare")
    page.slot("facts").get_by_text("finds keys of rare").wait_for()
    page.planned()
    page.pay()
    page.tab.get_by_text(re.compile("Release \\d+ of web", re.I)).wait_for()
    page.slot("chart").get_by_text("No key of rare had enough people: the table is empty.").wait_for()
    page.slot("facts").get_by_text("none had enough people").wait_for()
    assert "No key of rare" in (page.slot("table").text_content() or "")
    page.tab.get_by_role("combobox", name="Show").select_option("running_total")
    page.tab.wait_for_function("() => document.querySelector('[data-slot=caption]').textContent.includes('Running')")
    assert faults(page.tab) == []

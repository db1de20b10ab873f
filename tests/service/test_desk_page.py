"""The owner's desk as owners, auditors and analysts meet it, in a real browser before a real server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator

from chronodp.errors import NotSignedIn
from chronodp.service.tokens import check_token
from tests.service.town import API, COUNT, House, write_policy
from tests.service.visiting import HOSTILE, Visit, Visits, faults, furnished_house

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with furnished_house(tmp_path_factory.mktemp("desk")) as opened:
        yield opened


def row(page: Visit, slot: str, text: str) -> Locator:
    return page.slot(slot).locator("tbody tr", has_text=text)


def answer(page: Visit, name: str) -> None:
    """Answer the question that stands open."""
    dialog = page.tab.get_by_role("dialog")
    assert dialog.get_by_role("heading").inner_text().endswith("?")
    dialog.get_by_role("button", name=name, exact=True).click()
    dialog.wait_for(state="detached")


def test_the_owner_sees_what_is_spent_allowed_and_published(visit: Visits, house: House) -> None:
    page = visit("olga")
    page.tab.get_by_role("link", name="Desk", exact=True).click()
    page.slot("chart").locator(".scatterlayer path.js-line").wait_for()
    used = house.get("olga", "/datasets/meters/budget").json()["whole"]["share"]
    assert f"{100 * used:.0f} %" in page.slot("used").inner_text()
    words = house.get("olga", "/policy?dataset=meters").json()[0]["words"]
    assert page.slot("words").locator("li").all_text_contents() == words
    published = page.slot("published").locator("tbody tr")
    assert published.count() == 2
    assert "one person" in published.first.inner_text()
    assert published.first.get_by_role("link").get_attribute("href") == "#/releases/meters/2"
    page.slot("dataset").select_option("other")
    page.slot("chart").get_by_text("Nothing was spent yet.").wait_for()
    assert page.tab.url.endswith("#/desk/other")
    page.tab.get_by_label("Of this dataset alone").check()
    page.slot("published").get_by_text("Nothing was published yet.").wait_for()


def test_a_token_is_made_shown_once_and_revoked_after_a_question(visit: Visits, house: House) -> None:
    page = visit("olga", forgiven="status of 422")
    page.open("desk/meters")
    form = page.slot("token")
    form.get_by_label("Name").fill("kim/x")
    form.get_by_role("button", name="Make a token").click()
    assert "name" in page.slot("made").get_by_role("alert").inner_text().lower()
    form.get_by_label("Name").fill("kim")
    form.get_by_label("Role").select_option("auditor")
    form.get_by_label("Days").fill("7")
    form.get_by_role("button", name="Make a token").click()
    token = page.tab.get_by_label("The token of kim (auditor), shown this once").input_value()
    assert check_token(house.curator.store, token).role == "auditor"
    row(page, "tokens", "kim").wait_for()
    assert token.split("_", 2)[2] not in page.slot("tokens").inner_html()
    revoke = page.tab.get_by_role("button", name="Revoke the token of kim")
    revoke.press("Enter")
    page.tab.get_by_role("dialog").wait_for()
    assert page.tab.evaluate("document.activeElement.textContent") == "Cancel"  # what is safe has the focus
    assert faults(page.tab) == []
    page.tab.keyboard.press("Escape")
    page.tab.get_by_role("dialog").wait_for(state="detached")
    assert check_token(house.curator.store, token).valid
    assert page.tab.evaluate("document.activeElement.getAttribute('aria-label')") == "Revoke the token of kim"
    revoke.click()
    answer(page, "Revoke")
    row(page, "tokens", "kim").get_by_text("revoked").wait_for()
    with pytest.raises(NotSignedIn):
        check_token(house.curator.store, token)
    page.open("desk/other")
    page.open("desk/meters")
    assert page.tab.get_by_label("shown this once").count() == 0


def test_a_policy_is_checked_with_its_line_and_told_in_words(visit: Visits, tmp_path: Path) -> None:
    page = visit("olga")
    page.open("desk/meters")
    good = write_policy(tmp_path).read_text(encoding="utf-8")
    area = page.tab.get_by_label("Policy (TOML)")
    area.fill(good.replace("epsilon = 8.0", f'epsilon = "{HOSTILE}"'))
    page.slot("check").get_by_role("button", name="Check").click()
    alert = page.slot("checked").get_by_role("alert")
    alert.wait_for()
    line = next(number for number, text in enumerate(good.splitlines(), start=1) if text == "epsilon = 8.0")
    assert f"line {line}" in alert.inner_text()
    assert HOSTILE not in alert.inner_text()
    selected = area.evaluate("(area) => area.value.slice(area.selectionStart, area.selectionEnd)")
    assert selected == f'epsilon = "{HOSTILE}"'
    area.fill(good)
    page.slot("check").get_by_role("button", name="Check").click()
    page.slot("checked").get_by_text("This policy can be read.").wait_for()
    assert page.slot("checked").locator("h3").all_inner_texts() == ["meters", "other"]
    assert page.slot("checked").locator("li").count() >= 4
    assert faults(page.tab) == []


def test_jobs_are_held_and_resumed_and_everyone_is_told(visit: Visits, house: House) -> None:
    page = visit("olga", forgiven="status of 503")
    page.open("desk/meters")
    form = page.slot("hold")
    form.get_by_label("Hold jobs of").select_option("")
    form.get_by_label("Why").fill(HOSTILE)
    form.get_by_role("button", name="Hold").click()
    answer(page, "Cancel")
    page.slot("holds").get_by_text("Nothing is held.").wait_for()
    form.get_by_role("button", name="Hold").click()
    answer(page, "Hold")
    row(page, "holds", "all datasets").wait_for()
    assert HOSTILE in page.slot("holds").inner_text()
    page.tab.locator("#banner", has_text="the owner holds releases back").wait_for()
    job = house.submit("ana", "held back", COUNT | {"epsilon": 0.01}).json()["id"]
    page.open("desk/other")
    page.open("desk/meters")
    page.tab.get_by_role("button", name="Hold ana/held back").click()
    answer(page, "Hold it")
    page.tab.get_by_role("button", name="Resume ana/held back").wait_for()
    assert house.get("ana", f"/jobs/{job}").json()["state"] == "held"
    page.tab.get_by_role("button", name="Lift the hold of all datasets").click()
    page.slot("holds").get_by_text("Nothing is held.").wait_for()
    page.tab.locator("#banner").wait_for(state="hidden")
    assert house.get("ana", f"/jobs/{job}").json()["state"] == "held"  # the job's own hold stands
    resume = page.tab.get_by_role("button", name="Resume ana/held back")
    resume.click()
    resume.wait_for(state="detached")
    assert house.finish("ana", job)["state"] == "done"


def test_an_auditor_looks_and_changes_nothing(visit: Visits) -> None:
    page = visit("eve")
    page.tab.get_by_role("link", name="Desk", exact=True).click()
    page.tab.wait_for_selector('main[data-shown="#/desk"]')
    assert row(page, "tokens", "eve (you)").count() == 1
    assert page.slot("published").locator("tbody tr").count() >= 2
    for slot in ("check", "hold", "token"):
        assert page.slot(slot).is_hidden()
    assert page.tab.locator("main button:visible").count() == 0
    assert faults(page.tab) == []


def test_an_analyst_has_no_desk(visit: Visits) -> None:
    page = visit("ana")
    assert page.tab.get_by_role("link", name="Desk", exact=True).count() == 0
    page.tab.evaluate("location.hash = '#/desk/meters'")
    page.tab.get_by_role("heading", level=1, name="Datasets").wait_for()
    assert not [asked for asked in page.asked if re.search(f"{API}/(tokens|policy|holds|publications)", asked)]

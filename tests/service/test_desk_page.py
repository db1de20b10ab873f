"""The owner's desk in a real browser, and every view where answers hold nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Route

from chronodp.errors import NotSignedIn
from chronodp.service.tokens import check_token
from tests.service.town import API, COUNT, House, write_policy
from tests.service.visiting import HOSTILE, VIEWS, Visit, Visits, faults, furnished_house

pytestmark = pytest.mark.slow
house = furnished_house


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


_STEPS = (
    {"step": 1, "kind": "value", "period": 0, "values": [5.0], "half_width": None},
    {"step": 2, "kind": "value", "period": 1, "values": [None], "half_width": None},
    {"step": 3, "kind": "value", "period": 2, "values": [6.0], "half_width": 1.0},
    {"step": 4, "kind": "alert", "period": None, "value": None},
    {"step": 5, "kind": "released", "released": None},
)
_MAYBE = ("analyst", "period", "largest_pure", "smallest_laplace", "smallest_sigma", "note")  # of a budget's status


class Emptied:
    """Answers with null wherever their description has it."""

    def __init__(self, description: dict[str, Any]) -> None:
        self._shapes = description["components"]["schemas"]
        self._answers = {}
        for path, routes in description["paths"].items():
            for method, route in routes.items():
                content = route["responses"].get("200", {}).get("content", {}).get("application/json")
                if content:
                    self._answers[method.upper(), re.compile(re.sub(r"\{\w+\}", "[^/]+", path) + "$")] = content[
                        "schema"
                    ]

    def answer(self, method: str, path: str, content: Any) -> Any:
        for (known, pattern), shape in self._answers.items():
            if known == method and pattern.search(path):
                return self._undeclared(self._empty(shape, content))
        raise AssertionError(f"{method} {path} is not described")

    def _empty(self, shape: dict[str, Any], content: Any) -> Any:
        if "$ref" in shape:
            return self._empty(self._shapes[shape["$ref"].rpartition("/")[2]], content)
        if any(one.get("type") == "null" for one in shape.get("anyOf", ())):
            return None
        match content:
            case dict():
                known, rest = shape.get("properties", {}), shape.get("additionalProperties", {})
                return {
                    key: self._empty(known.get(key, rest if rest is not True else {}), content[key]) for key in content
                }
            case list():
                return [self._empty(shape.get("items", {}), one) for one in content]
        return content

    def _undeclared(self, content: Any) -> Any:
        """Empty what the description leaves open: numbers of tables, alternatives of plans, notes of budgets."""
        match content:
            case {"columns": [*columns], "rows": [*rows]}:
                first = columns.index("value")
                held = [[row[0], *([None] * (len(row) - 1))] if place % 2 else row for place, row in enumerate(rows)]
                return content | {"rows": [row[: first + 1] + [None] * (len(row) - first - 1) for row in held]}
            case {"alternatives": [*ways]}:
                return content | {"alternatives": [dict.fromkeys(way) for way in ways]}
            case {"whole": dict(whole), "analysts": dict(parts)}:
                emptied = dict.fromkeys(_MAYBE)
                return content | {
                    "whole": whole | emptied,
                    "analysts": {who: part | emptied for who, part in parts.items()},
                }
        return content


def _feed(page: Visit, emptied: Emptied) -> set[str]:
    """Let every answer be emptied on its way; return the paths that were."""
    fed: set[str] = set()

    def route(route: Route) -> None:
        request = route.request
        path = request.url.removeprefix(page.base).partition("?")[0]
        if path.endswith("/events"):
            told = "".join(f"id: {step['step']}\ndata: {json.dumps(step)}\n\n" for step in _STEPS)
            route.fulfill(status=200, content_type="text/event-stream", body=told)
            return
        answer = route.fetch()
        fed.add(path)
        route.fulfill(response=answer, json=emptied.answer(request.method, path, answer.json()))

    page.tab.route(f"{page.base}{API}/**", route)
    return fed


def _look(page: Visit, view: str) -> None:
    """Open a view, whatever it has to draw, and wait until what is late was drawn."""
    page.tab.evaluate("(hash) => { location.hash = hash; }", f"#/{view}")
    page.tab.wait_for_selector(f'main[data-shown="#/{view}"]')
    page.tab.wait_for_timeout(500)


@pytest.mark.slow
@pytest.mark.parametrize("who", ["olga", "ana"])
def test_no_page_throws_where_answers_hold_nothing(visit: Visits, house: House, who: str) -> None:
    page = visit(who)
    emptied = Emptied(house.http.get(f"{API}/openapi.json").json())
    fed = _feed(page, emptied)
    for view in VIEWS:
        _look(page, view)
        assert page.complaints == [], view
        assert page.tab.get_by_role("alert").filter(visible=True).count() == 0, view
    assert {f"{API}/datasets", f"{API}/streams", f"{API}/datasets/meters/budget", f"{API}/datasets/meters/plan"} <= fed
    _look(page, "ask/meters")
    page.slot("scale").get_by_text("too large for a number").wait_for()
    _look(page, "live/load")
    page.slot("alerts").get_by_text("load").wait_for()

"""The Ask page before anyone pays: refusals at their field, no stale figure, the error beside the scale, a question."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Error, Request, Route

from tests.service.town import API, House, open_house, write_policy
from tests.service.visiting import Visits, faults, figure

pytestmark = pytest.mark.slow
_FOCUSED = "() => document.activeElement.textContent"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Open a house whose owner declared bounds of hours alone, and what is usual in one."""
    policy = write_policy(tmp_path_factory.mktemp("ask"))
    text = policy.read_text(encoding="utf-8")
    text = text.replace("clip = { 1h = [0.0, 5.0], 1D = [0.0, 5.0] }", "clip = [0.0, 5.0]\nusual = 0.8")
    policy.write_text(text, encoding="utf-8")
    with open_house(policy) as opened:
        yield opened


def test_a_refusal_leaves_no_figure_and_stands_at_the_field_that_it_names(visit: Visits) -> None:
    page = visit("ana", forgiven="status of 4(03|22)")
    page.open("ask/meters")
    told, pay = page.tab.locator("#told-at-field"), page.tab.get_by_role("button", name=re.compile("^Submit"))
    page.tab.wait_for_selector("#error-slider:not([disabled])")
    epsilon = page.tab.get_by_label("ε as a number")
    for given, mend in (("11", "at most 10"), ("", "epsilon")):
        epsilon.fill(given)
        told.get_by_text(mend).first.wait_for()
        assert epsilon.get_attribute("aria-describedby") == "told-at-field"
        assert page.slot("refusal").get_by_role("alert").get_by_text(mend).count() > 0
        for name in ("headline", "scale", "facts", "alternatives"):
            assert page.slot(name).inner_text() == "", name
        assert page.slot("error").inner_text() == "–"
        assert page.tab.locator("#error-slider").is_disabled()
        assert pay.is_disabled()
        assert faults(page.tab) == []
        epsilon.fill("0.5")
        assert page.planned().startswith("±")
        assert told.count() == page.tab.locator("[aria-invalid]").count() == 0
        page.tab.wait_for_selector("#error-slider:not([disabled])")

    # Bounds follow the grid, and one without them is refused where it was chosen.
    low, high = (page.tab.get_by_label(f"{which} value of one person") for which in ("Lowest", "Highest"))
    high.fill("4")
    page.tab.get_by_label("Best for").select_option("running_total")
    assert high.input_value() == "4"  # what was typed stays, unless other bounds hold
    page.slot("clip-note").get_by_text("0 to 5 in periods of 1h; one person usually has about 0.8").wait_for()
    page.tab.get_by_label("Length of a period").select_option("1D")
    page.slot("clip-note").get_by_text("no bounds of kwh in periods of 1D, only of 1h").wait_for()
    assert (low.input_value(), high.input_value()) == ("", "")
    page.tab.get_by_label("Length of a period").select_option("1h")
    page.planned()
    assert (low.input_value(), high.input_value()) == ("0", "5")


def test_what_is_of_another_question_says_so_and_what_comes_late_is_nobodys(visit: Visits) -> None:
    page = visit("ana")
    page.open("ask/meters")
    page.tab.wait_for_selector("#error-slider:not([disabled])")
    before, epsilon = page.planned(), page.tab.get_by_label("ε as a number")
    held: list[Route] = []

    def hold(route: Route, request: Request) -> None:
        if '"epsilon":0.4' in (request.post_data or ""):
            held.append(route)
        else:
            route.fallback()

    page.tab.route(f"**{API}/datasets/meters/plan", hold)
    with page.tab.expect_request(lambda request: '"epsilon":0.4' in (request.post_data or "")):
        epsilon.fill("0.4")
    assert page.slot("headline").locator("dd").first.inner_text() == before
    assert page.slot("stale").is_visible()
    for name in ("pay", "try"):
        assert page.slot(name).is_disabled()
    request = page.tab.get_by_label("Request id")
    request.press("Enter")  # no way around the button
    epsilon.fill("5")
    page.slot("pay").get_by_text("spends ε 5").wait_for()
    after = page.planned()
    for route in held:
        try:
            route.continue_()
        except Error:  # the page has taken it back
            continue
    page.tab.wait_for_timeout(300)
    assert page.planned() == after
    assert figure(after) < figure(before)
    assert page.slot("stale").is_hidden()
    assert not [line for line in page.asked if line.endswith(("/jobs", "/quote"))]


def test_the_error_stands_beside_what_the_owner_declared(visit: Visits) -> None:
    page = visit("olga")
    page.open("ask/meters")
    scale = page.slot("scale")
    scale.get_by_text("is more than the numbers themselves, about 48 by the owner’s declarations").wait_for()
    assert "warning" in (scale.get_attribute("class") or "")
    page.tab.get_by_text("More", exact=True).click()
    page.tab.get_by_label("Periods of a person that count").fill("1")
    page.tab.get_by_label("ε as a number").fill("5")
    scale.get_by_text(re.compile(r"^± [\d.]+ of about 48 by the owner’s declarations \([\d.]+ %\)\.$")).wait_for()
    assert "warning" not in (scale.get_attribute("class") or "")
    covers = page.slot("covers").inner_text()
    assert "total in a period is cut to 0 to 5" in covers
    assert "at most 1 of 48 periods of a person count" in covers
    page.tab.get_by_label("Best for").select_option("running_total")
    scale.get_by_text(re.compile("^In one period ± ")).wait_for()
    page.tab.get_by_label("Measure").select_option("mean")  # the plan knows the noise of its sums, and not its own
    scale.get_by_text("with the weight of 1,000 rows").wait_for()
    assert page.slot("error-label").inner_text() == "Noise of its sums at 95 %"
    page.tab.get_by_label("Dataset").select_option("other")
    scale.get_by_text("declared no usual size").wait_for()
    assert faults(page.tab) == []


def test_nothing_is_paid_before_a_question_is_answered(visit: Visits, house: House) -> None:
    page = visit("ana")
    page.open("ask/meters")
    request = page.tab.get_by_label("Request id").input_value()
    dialog = page.tab.get_by_role("dialog", name=re.compile("^Spend ε 0.444 of meters"))
    spent = house.get("olga", "/datasets/meters/history").json()
    page.submit()
    for said in (
        "ε 0.444 at the dataset’s δ of 1e-6, asked as ε 0.5 at δ 1e-7",
        "of the whole budget",
        "of your part",
        "is more than the numbers themselves",
        "This cannot be undone",
        request,
    ):
        dialog.get_by_text(said).first.wait_for()
    assert page.tab.evaluate(_FOCUSED) == "Cancel"
    assert faults(page.tab) == []
    page.tab.emulate_media(color_scheme="dark")
    assert faults(page.tab, only="color-contrast") == []
    page.tab.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    assert page.tab.evaluate(_FOCUSED).startswith("Submit: spends")
    assert page.slot("pay").is_enabled()
    page.submit()
    page.tab.keyboard.press("Enter")  # on “Cancel”
    dialog.wait_for(state="hidden")
    assert house.get("olga", "/datasets/meters/history").json() == spent
    assert f"POST {API}/datasets/meters/jobs" not in page.asked

    page.tab.set_viewport_size({"width": 360, "height": 740})
    page.submit()
    box = dialog.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360
    page.tab.keyboard.press("Tab")
    page.tab.keyboard.press("Enter")
    page.tab.get_by_text(re.compile(r"Release \d+ of meters", re.I)).wait_for()
    paid = house.get("olga", "/datasets/meters/history").json()
    assert len(paid) == len(spent) + 1

    # The same request again, or the same question under another id, costs nothing, and that is told before.
    for again, why in ((request, "This request was made before"), ("another", "The same question was asked before")):
        page.open("ask/meters")
        page.tab.get_by_label("Request id").fill(again)
        page.submit()
        free = page.tab.get_by_role("dialog", name="Nothing is debited")
        free.get_by_text(f"{why}: its release is shown again, and nothing is debited.").wait_for()
        free.get_by_role("button", name="Show it").click()
        page.tab.get_by_text(re.compile(r"Release \d+ of meters", re.I)).wait_for()
    assert house.get("olga", "/datasets/meters/history").json() == paid


def test_who_leaves_while_a_job_waits_meets_no_error(visit: Visits) -> None:
    page = visit("olga")
    page.open("ask/meters")
    page.tab.route(re.compile(f"{API}/jobs/"), lambda _: None)  # no answer comes any more
    page.tab.get_by_label("ε as a number").fill("0.1")
    page.slot("pay").get_by_text("spends ε 0.1").wait_for()
    page.pay()
    page.slot("job").get_by_text(re.compile("Waiting|Being released")).wait_for()
    page.open("budget/meters")
    page.tab.wait_for_timeout(200)
    assert page.complaints == []

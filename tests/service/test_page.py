"""The curator's page as people meet it: in a real browser, before a real server, with nothing else to reach."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error

import chronodp as cdp
from chronodp.ledger import Feeding, Gap, feeding_path, write_feeding
from chronodp.service.tokens import add_token, revoke_token
from tests.conftest import SCALE
from tests.service.town import API, ROOT, House, free_port
from tests.service.visiting import HOSTILE, VIEWS, Visit, Visits, faults, figure, furnished_house, number

pytestmark = pytest.mark.slow
_DROP = """([data, name]) => {
    const files = new DataTransfer();
    files.items.add(new File([data], name, { type: "application/json" }));
    const place = document.querySelector('[data-slot="drop"]');
    place.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
}"""
house = furnished_house


def test_from_signing_in_to_a_downloaded_release(visit: Visits, house: House, tmp_path: Path) -> None:
    page = visit("ana")
    page.tab.get_by_role("link", name="Plan a question about meters").click()
    page.planned()
    assert page.slot("alternatives").locator("tbody tr").count() > 1
    page.slot("bands").locator(".scatterlayer path").nth(1).wait_for(state="attached")
    page.tab.get_by_role("button", name="Try on made-up rows").click()
    page.slot("trial-chart").locator(".scatterlayer path").first.wait_for()
    assert "nothing was spent" in page.slot("trial-note").inner_text()
    request = page.tab.get_by_label("Request id, once for each release").input_value()
    page.pay()
    page.tab.get_by_text(re.compile("Release \\d+ of meters", re.I)).wait_for()
    assert f"ana/{request}" in page.slot("promise").inner_text()
    page.slot("chart").locator(".scatterlayer path").first.wait_for()
    place = int(page.tab.url.rpartition("/")[2])

    page.tab.get_by_role("combobox", name="Show").select_option("running_total")
    page.tab.wait_for_function("() => document.querySelector('[data-slot=caption]').textContent.includes('Running')")
    with page.tab.expect_download() as started:
        page.tab.get_by_role("link", name="CSV of what is shown").click()
    rows = list(csv.reader(io.StringIO(started.value.path().read_text(encoding="utf-8"))))
    truth = house.get("ana", f"/datasets/meters/releases/{place}/table?view=running_total").json()
    assert rows[0] == [*truth["columns"], "covers"]
    assert {row[-1] for row in rows[1:]} == {"noise only"}
    assert [float(row[-4]) for row in rows[1:]] == pytest.approx([row[-3] for row in truth["rows"]])
    assert page.slot("table").locator("tbody tr").count() == len(truth["rows"])

    for name in ("Release (JSON)", "Certificate"):
        with page.tab.expect_download() as started:
            page.tab.get_by_role("link", name=name, exact=True).click()
        started.value.save_as(tmp_path / started.value.suggested_filename)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"meters-{place}-certificate.json",
        f"meters-{place}.json",
    ]
    page.open("check")
    for path in tmp_path.iterdir():  # dropped
        page.tab.evaluate(_DROP, [path.read_text(encoding="utf-8"), path.name])
        page.tab.locator(".verdict.good", has_text=path.name).wait_for()
    changed = json.loads((tmp_path / f"meters-{place}.json").read_text(encoding="utf-8"))
    changed["release"] = changed["release"].replace("1", "2", 1)
    (tmp_path / "changed.json").write_text(json.dumps(changed), encoding="utf-8")
    page.slot("file").set_input_files(tmp_path / "changed.json")  # chosen
    page.tab.locator(".verdict.bad", has_text="changed.json").wait_for()
    (tmp_path / "text.json").write_text("no JSON", encoding="utf-8")
    page.slot("file").set_input_files(tmp_path / "text.json")
    page.tab.get_by_role("alert").get_by_text("text.json is not JSON.").wait_for()


def test_bounds_are_found_and_what_they_took_away_is_drawn(visit: Visits) -> None:
    page = visit("ana")
    page.open("ask/meters")
    page.tab.get_by_label("Find the lowest and highest value of a person").check()
    assert page.tab.get_by_label("Highest value of one person").is_disabled()
    page.tab.get_by_label("Find the number of periods per person").check()
    page.tab.get_by_label("Release how much the bounds remove").check()
    page.slot("facts").get_by_text("of the budget picks max_periods and clip").wait_for()
    assert page.planned() == "as found"
    assert page.slot("alternatives").locator("tbody tr").count() > 1
    assert page.tab.get_by_label(re.compile("^Error at 95")).is_disabled()
    assert faults(page.tab) == []
    page.tab.get_by_role("button", name="Try on made-up rows").click()
    page.slot("trial-chart").locator(".scatterlayer path").first.wait_for()
    page.pay()
    page.tab.get_by_text(re.compile("Release \\d+ of meters", re.I)).wait_for()
    page.slot("chart").locator(".scatterlayer path").first.wait_for(state="attached")
    for said in ("privately, as a part of the price", "The limits removed between"):
        page.slot("facts").get_by_text(said).first.wait_for()
    assert "value_all" in (page.slot("table").locator("thead").text_content() or "")
    # Nothing is assumed of single days: one line, and a sentence that says why there is no other.
    assert "perhaps unevenly: no band for single" in (page.slot("table").text_content() or "")
    # A measure whose bounds cannot be found has no such fields, and what was ticked does not go along.
    page.open("ask/meters")
    page.tab.get_by_label("Find the lowest and highest value of a person").check()
    page.tab.get_by_label("Measure").select_option("variance")
    assert page.tab.get_by_label("Find the lowest and highest value of a person").is_hidden()
    page.tab.wait_for_function("() => document.querySelector('.headline dd').textContent.startsWith('±')")


def test_a_release_is_read_by_share_change_rule_and_place(visit: Visits, house: House) -> None:
    page = visit("ana", forgiven="status of 422")
    spent = house.get("olga", "/datasets/meters/history").json()
    caption = "(words) => document.querySelector('[data-slot=caption]').textContent.startsWith(words)"
    page.open("releases/meters/1")
    page.tab.locator("select[name=as]").select_option("share")
    page.tab.wait_for_function(caption, arg="Share of")
    truth = house.get("ana", "/datasets/meters/releases/1/table?share=true").json()
    why = [row[-1] for row in truth["rows"] if row[-1]]
    assert why  # so much noise that some shares cannot be told
    crossed = "() => document.querySelector('[data-slot=chart]').data.filter((one) => one.yaxis === 'y2')"
    assert sum(len(line["x"]) for line in page.tab.evaluate(crossed)) == len(why)
    page.slot("table").get_by_text(why[0]).first.wait_for(state="attached")
    page.tab.locator("select[name=as]").select_option("change")
    page.tab.wait_for_function(caption, arg="Change in percent")
    page.tab.locator("select[name=rule]").select_option("points")
    page.tab.get_by_label("Off by more than").fill("60")
    page.tab.get_by_label("with a probability above").fill("10")
    page.tab.get_by_label("By its").select_option("median")
    page.slot("table").get_by_text("the median of").first.wait_for(state="attached")
    page.slot("table").get_by_text("more than 60 off is at most 10 %").wait_for(state="attached")
    csv = page.tab.get_by_role("link", name="CSV of what is shown").get_attribute("href") or ""
    assert "baseline=2026-01-01&baseline=2026-01-01" in csv
    assert "statistic=median" in csv
    page.tab.get_by_label("weekday by weekday").check()  # of two days, and the baseline has one of them
    page.slot("refusal").get_by_text("weekday").first.wait_for()
    page.tab.get_by_label("weekday by weekday").uncheck()
    page.slot("refusal").get_by_role("alert").wait_for(state="detached")
    assert faults(page.tab) == []

    page.open("releases/meters/2")
    level = page.tab.get_by_label("Level of places")
    assert level.locator("option").all_inner_texts() == ["all levels", "town", "region"]
    level.select_option("region")
    page.tab.wait_for_function(caption, arg="Count of people, of level region")
    one = page.tab.get_by_label("One place")
    one.press_sequentially("OUT")
    page.tab.wait_for_selector("#found-places option[value=south]", state="attached")
    one.fill("south")
    one.press("Enter")
    page.tab.wait_for_function(caption, arg="Count of people, region south")
    page.tab.locator("select[name=as]").select_option("share")
    page.slot("refusal").get_by_text("of one alone the share is 1").first.wait_for()
    assert house.get("olga", "/datasets/meters/history").json() == spent


def test_either_slider_moves_the_other_by_way_of_plans(visit: Visits) -> None:
    page = visit("ana")
    page.open("ask/meters")
    price, error = page.tab.get_by_label(re.compile("^Price ε")), page.tab.get_by_label(re.compile("^Error at 95"))
    page.tab.wait_for_selector("#error-slider:not([disabled])")
    page.asked.clear()
    before, epsilon, place = page.planned(), number(page.slot("epsilon")), error.input_value()
    price.focus()
    for _ in range(10):
        page.tab.keyboard.press("PageUp")
    page.tab.wait_for_function("(before) => document.querySelector('.headline dd').textContent !== before", arg=before)
    dear = page.planned()
    assert figure(dear) < figure(before)
    assert (dearest := number(page.slot("epsilon"))) > epsilon
    assert int(error.input_value()) < int(place)

    error.focus()
    for _ in range(8):
        page.tab.keyboard.press("PageUp")
    wanted = number(page.slot("error"))
    page.tab.wait_for_function("(before) => document.querySelector('.headline dd').textContent !== before", arg=dear)
    assert figure(page.planned()) == pytest.approx(wanted, rel=0.02)
    assert number(page.slot("epsilon")) < dearest
    assert set(page.asked) == {f"POST {API}/datasets/meters/plan"}  # nothing else, and never the data

    page.tab.get_by_role("checkbox", name="region").check()
    page.tab.get_by_label("north").wait_for()
    page.tab.get_by_label("Best for").select_option("running_total")
    page.tab.locator(".facts", has_text="running totals").wait_for()
    page.planned()
    assert page.tab.get_by_label("south").is_checked()


def test_quantiles_are_planned_with_their_error_of_ranks(visit: Visits) -> None:
    page = visit("ana")
    page.open("ask/meters")
    page.planned()
    fractions = page.tab.locator("input[name=fractions]")
    assert not fractions.is_visible()  # a sum has no such choice
    page.tab.locator("select[name=measure]").select_option("quantiles")
    page.tab.locator(".facts", has_text="quantiles 0.1, 0.5, 0.9 of kwh").wait_for()
    fractions.fill("0.5")
    page.tab.locator("input[name=edges]").fill(", ".join(f"{edge / 20}" for edge in range(41)))
    page.tab.locator(".facts", has_text="quantile 0.5 of kwh").wait_for()
    assert re.search(r"[\d.]+ ranks", page.slot("headline").inner_text())
    alternatives = page.slot("alternatives")
    alternatives.get_by_text("bins drawn by the exponential mechanism").wait_for()
    assert "Ranks off on average" in alternatives.inner_text()
    assert not page.slot("preview").is_visible()  # errors of ranks have no band
    page.tab.locator("#error-slider:not([disabled])").wait_for()
    assert page.slot("error-label").inner_text() == "Error on average"
    page.tab.get_by_role("button", name="Try on made-up rows").click()
    page.slot("trial-chart").locator(".scatterlayer path").first.wait_for()
    page.pay()
    page.tab.get_by_text(re.compile("Release \\d+ of meters", re.I)).wait_for()
    page.slot("chart").locator(".scatterlayer path").first.wait_for()
    assert page.slot("table").locator("tbody tr").count() == 48
    assert "the band" not in page.tab.locator("figcaption").inner_text()  # drawn bins have none
    assert faults(page.tab) == []


def test_a_live_stream_is_drawn_as_it_is_released(visit: Visits, house: House) -> None:
    page = visit("ben")
    path = feeding_path(house.curator.address, "load")
    assert path is not None
    write_feeding(path, Feeding("noon", ("the clock <b>went</b> ahead",), (Gap("then", "was cut short"),)))
    page.open("live/load")
    assert page.slot("said").locator("li").all_inner_texts() == ["Waits, as of noon: the clock <b>went</b> ahead."]
    path.unlink()
    steps = "() => document.querySelector('[data-slot=chart]').data?.at(-1).x.length"
    page.tab.wait_for_function(f"{steps} === 40")
    line = page.slot("chart").locator(".scatterlayer path.js-line").last
    before = line.get_attribute("d") or ""
    assert page.slot("alerts-sheet").is_visible()
    cdp.Stream.resume(house.curator.ledger, "load").steps([100.0] * 5)
    page.tab.wait_for_function(f"{steps} === 45", timeout=60_000)
    assert line.get_attribute("d") != before
    assert "±" in page.slot("value").inner_text()
    assert page.slot("table").locator("tbody tr").first.locator("td").first.text_content() == "44"
    assert page.slot("alerts").locator("li").all_inner_texts() == ["alarm in period 0"]
    alert = cdp.Alert.resume(house.curator.ledger, "alarm")
    for value in (0.0, 1e6):
        alert.step(value)
    page.slot("alerts").get_by_text("alarm in period 2").wait_for(timeout=60_000)


@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_in_light_or_dark(visit: Visits, width: int) -> None:
    page = visit("olga", width=width)
    found = {}
    for view in VIEWS:
        page.open(view)
        for more in page.tab.locator("details").all():
            more.evaluate("(details) => { details.open = true; }")
        found[view] = faults(page.tab)
        if width == 1280 or SCALE >= 1:  # colours are the same on a phone
            page.tab.get_by_role("button", name="Dark colours").click()
            found[f"{view} in the dark"] = faults(page.tab, only="color-contrast")
            page.tab.get_by_role("button", name="Light colours").click()
    page.sign_out()
    found["sign-in"] = faults(page.tab)
    assert {view: those for view, those in found.items() if those} == {}


def test_fits_a_phone(visit: Visits) -> None:
    page = visit("olga", width=360)
    for view in VIEWS:
        page.open(view)
        if view == "releases/meters/1":  # with all that can be asked of it
            page.tab.locator("select[name=as]").select_option("change")
            page.tab.locator("select[name=rule]").select_option("points")
        assert page.tab.evaluate("document.documentElement.scrollWidth") <= 360, view
        assert page.tab.locator("img").count() == 0, view  # no name became one


def test_every_role_sees_what_it_may_do(visit: Visits) -> None:
    owner, analyst, auditor = visit("olga"), visit("ana"), visit("eve")
    gauges = {}
    for name, page in (("owner", owner), ("analyst", analyst), ("auditor", auditor)):
        page.open("budget/meters")
        gauges[name] = page.slot("gauges").locator("h2").all_inner_texts()
        assert page.slot("history").locator("tbody tr").count() >= 2
        assert page.tab.get_by_role("link", name="All certificates").count() == (name != "analyst")
    assert gauges == {
        "owner": ["The whole", "ana", "ben"],
        "analyst": ["The whole", "Your part"],
        "auditor": ["The whole", "ana", "ben"],
    }
    assert auditor.tab.get_by_role("link", name="Ask", exact=True).count() == 0
    auditor.tab.evaluate("location.hash = '#/ask/meters'")
    auditor.tab.get_by_role("heading", level=1, name="Datasets").wait_for()
    assert auditor.tab.get_by_role("link", name="Plan a question").count() == 0
    auditor.open("claims")
    auditor.tab.get_by_role("button", name="Audit now").click()
    auditor.slot("audited").get_by_text("Genuine").first.wait_for()
    auditor.tab.evaluate(
        """() => { const key = "audit of meters"; const last = JSON.parse(localStorage.getItem(key));
        localStorage.setItem(key, JSON.stringify({ ...last, links: last.links + 1 })); }"""
    )
    auditor.tab.get_by_role("button", name="Audit now").click()
    auditor.slot("audited").get_by_text("the ledger was set back").wait_for()
    analyst.open("claims")
    assert analyst.tab.get_by_role("button", name="Audit now").is_hidden()


def test_long_lists_grow_page_by_page(visit: Visits, house: House) -> None:
    with house.curator.store.transaction() as transaction:
        for number in range(30):
            transaction.run(
                "INSERT INTO service_jobs (id, dataset, request, analyst, source, question, design, state, worker, "
                "lease, made, ended) VALUES (?, 'meters', ?, 'ben', ?, '{}', '{}', 'refused', '', 0, ?, ?)",
                (f"old{number}", f"ben/old{number}", f"ben/old{number}", number, number),
            )
    page = visit("ben")
    page.open("releases/meters")
    rows = page.slot("jobs").locator("tbody tr")
    assert rows.count() == 20
    page.slot("jobs").get_by_role("button", name="Load more (20 so far)").click()
    page.slot("jobs").get_by_text("ben/old0", exact=True).wait_for()
    assert rows.count() == house.get("ben", "/jobs?limit=200").text.count('"id"')
    assert page.slot("jobs").get_by_role("button").filter(visible=True).count() == 0


def test_names_are_never_read_as_html(visit: Visits) -> None:
    page = visit("olga")
    assert page.tab.locator(".brand").inner_text() == HOSTILE
    assert page.tab.get_by_text(HOSTILE).count() >= 2
    page.open("releases/meters/1")
    names = page.slot("chart").locator(".legendtext").all_text_contents()
    assert names[0] == "north"
    assert "<img src=x onerror=alert(1)>" in names[1]
    assert HOSTILE in page.slot("table").locator("td").all_text_contents()


def test_goes_by_keyboard_and_keeps_the_colours_chosen(visit: Visits) -> None:
    page = visit("ana")
    page.tab.reload()  # the cookie holds, and nothing is asked for
    page.tab.get_by_role("heading", level=1, name="Datasets").wait_for()
    page.tab.locator(".skip").press("Shift+Tab")  # out of the page, at its beginning
    page.tab.keyboard.press("Tab")
    assert page.tab.evaluate("document.activeElement.className") == "skip"
    assert page.tab.locator(".skip").bounding_box()["x"] >= 0  # type: ignore[index]
    page.tab.keyboard.press("Enter")
    assert page.tab.evaluate("document.activeElement.id") == "main"
    page.tab.get_by_role("link", name="Releases", exact=True).press("Enter")
    page.tab.get_by_role("heading", level=1, name="Releases").wait_for()
    assert page.tab.get_by_role("link", name="Releases", exact=True).get_attribute("aria-current") == "page"
    page.open("releases/meters/1")
    whole = page.tab.evaluate("document.querySelector('[data-slot=chart]').layout.xaxis.range")
    page.tab.get_by_role("button", name="Zoom in").press("Enter")
    page.tab.wait_for_function("() => document.querySelector('[data-slot=chart]').layout.xaxis.autorange === false")
    page.tab.get_by_role("button", name="All", exact=True).press("Enter")
    page.tab.wait_for_function("() => document.querySelector('[data-slot=chart]').layout.xaxis.autorange === true")
    assert page.tab.evaluate("document.querySelector('[data-slot=chart]').layout.xaxis.range") == whole
    light = page.tab.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    page.tab.emulate_media(color_scheme="dark")
    followed = page.tab.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    page.tab.emulate_media(color_scheme="light")
    page.tab.get_by_role("button", name="Dark colours").press("Enter")
    dark = page.tab.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    page.tab.reload()
    page.tab.get_by_role("button", name="Light colours").wait_for()
    assert page.tab.evaluate("getComputedStyle(document.documentElement).backgroundColor") == dark == followed != light


def test_a_revoked_token_ends_the_visit(visit: Visits, house: House) -> None:
    house.tokens["ula"] = add_token(house.curator.store, "ula", "auditor")
    page = visit("ula", forgiven="status of 401")
    revoke_token(house.curator.store, house.tokens["ula"].split("_")[1])
    page.tab.get_by_role("link", name="Budget", exact=True).click()
    page.tab.get_by_text("The session has ended.").first.wait_for()
    page.tab.get_by_label("Token").fill(house.tokens["ula"])
    page.tab.get_by_role("button", name="Sign in").click()
    page.tab.get_by_role("alert").get_by_text("expired or revoked").wait_for()


def test_one_command_leads_to_a_page_with_a_release_in_it(browser: Browser, tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-c", "from chronodp.cli import main; main()", "serve", "--demo", "--port", str(port)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    said = tmp_path / "said"
    with said.open("wb") as log:
        process = subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=log, stderr=log)
    try:
        page = Visit(browser.new_context().new_page(), f"http://127.0.0.1:{port}")
        deadline = time.monotonic() + 60
        while f"{port}/" not in (words := said.read_text(encoding="utf-8")):
            assert process.poll() is None, words
            assert time.monotonic() < deadline
            time.sleep(0.1)
        token = re.search(r"ana +(cdp_\S+)", words)
        assert token is not None
        while True:
            try:
                page.sign_in(token[1])
                break
            except Error:  # not yet listening
                assert time.monotonic() < deadline
                time.sleep(0.2)
        page.open("releases/meters/1")
        assert "ana/first-look" in page.slot("promise").inner_text()
        page.open("ask/meters")
        for every, most in (("1D", "150"), ("1W", "1000"), ("1h", "5")):  # each length brings a clip that fits it
            page.tab.get_by_label("Length of a period").select_option(every)
            assert page.tab.get_by_label("Highest value of one person, or of a row").input_value() == most
            page.planned()
            assert page.slot("refusal").get_by_role("alert").count() == 0
        page.tab.context.close()
    finally:
        process.terminate()
        process.wait(60)

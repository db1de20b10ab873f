"""The page as a reader meets it: in a browser, without a network."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from chronodp.report import write_page
from tests.contrast import contrast
from tests.report.examples import COLUMNS, HOSTILE, hours, page, rows
from tests.report.reading import Reading, read

pytestmark = pytest.mark.slow

_NAMES = ('north, "upper"\nfloor', HOSTILE)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    lines = [hours(name, level=level) for name, level in zip(_NAMES, (100, 50), strict=True)]
    return write_page(page(*lines, warning="A seeded run."), tmp_path_factory.mktemp("page") / "release.html").as_uri()


@pytest.fixture(scope="module")
def opened(browser: Browser, address: str) -> Iterator[Reading]:
    """Open the page once: to compile the library that draws takes longer than any test."""
    with browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light") as context:
        yield read(context, address)


@pytest.fixture
def reading(opened: Reading) -> Iterator[Reading]:
    yield opened
    opened.tab.emulate_media(media="screen", color_scheme="light")
    light = opened.tab.get_by_role("button", name="Light colours")
    if light.is_visible():
        light.click()
    assert opened.requests == []
    assert opened.complaints == []


def test_draws_every_line_with_its_band(reading: Reading) -> None:
    shapes = reading.tab.locator("#chart .cartesianlayer .scatterlayer path")
    drawn = [shape.get_attribute("d") or "" for shape in shapes.all()]
    assert sum(len(shape) > 500 for shape in drawn) >= 4
    assert reading.tab.locator("#chart .modebar a, #chart .rangeselector").count() == 0
    assert reading.tab.locator("img").count() == 0
    legend = reading.tab.locator("#chart .legendtext").all_text_contents()
    assert any("</script><img src=x onerror=alert(1)>" in name for name in legend)


def test_hands_out_the_whole_table(reading: Reading) -> None:
    with reading.tab.expect_download() as started:
        reading.tab.get_by_role("button", name="Download all as CSV").click()
    assert started.value.suggested_filename == "visits-an-hour.csv"
    text = Path(started.value.path()).read_bytes().decode("utf-8")
    header, *table = csv.reader(io.StringIO(text, newline=""))
    assert tuple(header) == (*COLUMNS, "covers")
    expected = rows(hours(_NAMES[0]), hours(_NAMES[1], level=50))
    assert len(table) == len(expected)
    for read_row, (time, name, *numbers) in zip(table, expected, strict=True):
        assert read_row[:2] == [str(time).replace(" ", "T"), name]
        assert [float(cell) for cell in read_row[2:-1]] == numbers
        assert read_row[-1] == "noise only"


def test_follows_the_reader_into_the_dark_and_back(reading: Reading) -> None:
    light, ink = reading.background(), reading.layout("font.color")
    reading.tab.get_by_role("button", name="Dark colours").click()
    assert _brightness(light) > 0.8
    assert _brightness(reading.background()) < 0.2
    assert reading.layout("font.color") != ink
    reading.tab.get_by_role("button", name="Light colours").click()
    assert (reading.background(), reading.layout("font.color")) == (light, ink)
    reading.tab.emulate_media(color_scheme="dark")
    assert reading.background() == light  # a choice outlasts the system's


def test_bands_and_lines_show_in_the_light_and_in_the_dark(reading: Reading) -> None:
    drawn = """() => {
      const chart = document.getElementById("chart");
      const stroke = (part) => getComputedStyle(part).stroke;
      const lines = [...chart.querySelectorAll(".cartesianlayer .scatterlayer .js-line")].map(stroke);
      return [getComputedStyle(chart).backgroundColor, [...lines, chart.layout.xaxis.linecolor]];
    }"""
    seen = []
    for other in ("Dark colours", "Light colours"):
        ground, colours = reading.tab.evaluate(drawn)
        assert len(colours) >= 5  # two lines, the edges of their bands, and the axis
        assert {colour: ratio for colour in colours if (ratio := contrast(colour, ground)) < 3} == {}
        seen.append(colours)
        reading.tab.get_by_role("button", name=other).click()
        reading.tab.wait_for_timeout(200)
    assert seen[0] != seen[1]


def test_starts_dark_where_the_system_is(reading: Reading) -> None:
    reading.tab.emulate_media(color_scheme="dark")
    reading.tab.reload()
    reading.tab.wait_for_selector("#theme:visible")
    assert _brightness(reading.background()) < 0.2
    reading.tab.emulate_media(color_scheme="light")
    assert _brightness(reading.background()) > 0.8


def test_shows_the_last_day_by_keyboard(reading: Reading) -> None:
    buttons = reading.tab.locator("#spans button")
    assert buttons.all_text_contents() == ["Day", "Week", "All"]
    assert buttons.nth(2).get_attribute("aria-pressed") == "true"
    whole = reading.layout("xaxis.range")
    buttons.nth(0).focus()
    reading.tab.keyboard.press("Enter")
    reading.tab.wait_for_selector("#spans button:nth-child(1)[aria-pressed=true]")
    assert [moment[:16] for moment in reading.layout("xaxis.range")] == ["2026-01-17T23:00", "2026-01-18T23:00"]
    buttons.nth(2).press("Enter")
    reading.tab.wait_for_selector("#spans button:nth-child(3)[aria-pressed=true]")
    assert reading.layout("xaxis.range") == whole


def test_fits_a_phone(browser: Browser, address: str) -> None:
    size = {"width": 375, "height": 800}
    with browser.new_context(viewport=size, is_mobile=True, has_touch=True) as context:  # type: ignore[arg-type]
        reading = read(context, address)
        assert reading.tab.evaluate("document.documentElement.scrollWidth") <= 375
        assert reading.layout("dragmode") is False
        assert reading.complaints == []


def test_goes_on_paper_in_light_colours_and_comes_back(reading: Reading) -> None:
    reading.tab.get_by_role("button", name="Dark colours").click()
    dark = reading.layout("font.color")
    reading.tab.evaluate("addEventListener('beforeprint', () => { window.printed = chart.layout.font.color })")
    assert reading.tab.pdf(format="A4").startswith(b"%PDF")
    assert _brightness(reading.tab.evaluate("window.printed")) < _brightness(dark)
    assert reading.layout("font.color") == dark
    reading.tab.emulate_media(media="print")
    assert _brightness(reading.background()) == 1.0
    assert reading.tab.locator("button:visible").count() == 0
    assert reading.tab.locator("tbody tr:visible").count() == 40
    assert "On paper: the first 40." in reading.tab.locator(".note").inner_text()


def test_is_readable_without_scripts(browser: Browser, address: str) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        tab = context.new_page()
        tab.goto(address)
        assert tab.get_by_text("The chart needs JavaScript.").is_visible()
        for place in (".warning", ".promise", ".facts", "tbody", "pre"):
            assert tab.locator(place).inner_text().strip()
        assert tab.locator("button:visible").count() == 0


def test_draws_more_points_than_svg_is_meant_for(browser: Browser, tmp_path: Path) -> None:
    shown = page(*(hours(name, count=4_001) for name in ("north", "south", "east", "west", "centre")))
    with browser.new_context() as context:
        reading = read(context, write_page(shown, tmp_path / "long.html").as_uri())
        assert reading.tab.locator("#chart .scatterlayer path, #chart canvas").count() > 0
        assert reading.complaints == []


def _brightness(colour: str) -> float:
    red, green, blue = map(int, re.findall(r"\d+", colour)[:3])
    return (red + green + blue) / 765


def test_names_of_lines_are_whole_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    names = ("sum of what one household used, its total in an hour clipped to 0 … 300", "Q&A <tea> " + "x" * 80)
    place = write_page(page(*(hours(name) for name in names)), tmp_path / "narrow.html").as_uri()
    with browser.new_context(viewport={"width": 390, "height": 844}) as context:
        tab = read(context, place).tab
        edge = tab.locator("#chart").bounding_box()
        assert edge is not None
        for text in tab.locator("#chart .legendtext").all():
            box = text.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= edge["x"] + edge["width"]
        shown = [re.sub(r"\s", "", text) for text in tab.locator("#chart .legendtext").all_text_contents()]
        assert shown == [re.sub(r"\s", "", name) for name in names]

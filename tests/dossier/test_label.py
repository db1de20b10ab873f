"""The label of a dossier: whole, true, and readable in the light, in the dark and on paper."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Page

import chronodp as cdp
from chronodp.accounting import adversary
from chronodp.dossier import Owner, gather
from chronodp.dossier.label import label
from chronodp.randomness import seeded
from tests.contrast import contrast
from tests.dossier.everything import QUIET, meters

_SVG = "{http://www.w3.org/2000/svg}"
_DATASETS = ("meters", "renewed", "watch", "building", "empty")
_HOSTILE = 'A & B </svg><script>alert(1)</script> \x1b[2J\u202e "quoted" ' + "x" * 300


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> cdp.Ledger:
    """A ledger with one budget of each kind that a label tells apart."""
    return _opened(tmp_path_factory.mktemp("label"))


def _opened(folder: Path) -> cdp.Ledger:
    ledger = cdp.Ledger(folder / "budget.db")
    ledger.open("ever", unit=cdp.User(), epsilon=1.0, delta=1e-6)
    ledger.open("monthly", unit=cdp.User(), epsilon=0.5, renews="1mo")
    return ledger


def texts(picture: str) -> list[str]:
    return ["".join(one.itertext()) for one in ElementTree.fromstring(picture).iter(f"{_SVG}text")]


def test_says_what_a_guesser_gains(ledger: cdp.Ledger) -> None:
    picture = label(gather(ledger, "ever"))
    said = " ".join(texts(picture))
    right = 100 * (1 + adversary.total_variation(1.0, 1e-6)) / 2
    assert "at most 73.2 %" in said
    assert 73.1 < right < 73.2
    assert "ε = 1, δ = 10⁻⁶, for everything together." in said
    assert "Everything about any one person over the whole series." in said
    assert "For ever: all that is ever released counts together." in said
    assert "No table of numbers with intervals was released." in said
    root = ElementTree.fromstring(picture)
    told = root.findtext(f"{_SVG}desc") or ""
    assert root.get("role") == "img"
    assert root.findtext(f"{_SVG}title") == "Privacy label of ever"
    assert all(part in told for part in ("Who is protected", "73.2 %", "For ever", "How exact"))


def test_a_promise_that_starts_anew_is_not_one_for_ever(ledger: cdp.Ledger) -> None:
    said = " ".join(texts(label(gather(ledger, "monthly"))))
    assert "starts anew every month" in said
    assert "less and less" in said
    assert "ε = 0.5, for one month." in said
    assert "For ever" not in said


def test_others_words_are_shown_and_not_obeyed(ledger: cdp.Ledger) -> None:
    facts = gather(ledger, "ever", owner=Owner(name=_HOSTILE))
    picture = label(facts)
    assert "<script" not in picture
    assert "\x1b" not in picture
    root = ElementTree.fromstring(picture)
    assert "</svg><script>alert(1)</script>" in (root.findtext(f"{_SVG}title") or "")
    assert any(line.endswith("…") for line in texts(picture))


def test_a_seeded_release_promises_nothing(ledger: cdp.Ledger) -> None:
    ledger.open("seeded", unit=cdp.User(), epsilon=1.0)
    plan = meters().count().plan(epsilon=1.0)
    plan.release(ledger, dataset="seeded", request="a", entropy=seeded(1), **QUIET)
    said = " ".join(texts(label(gather(ledger, "seeded"))))
    assert "Nothing is promised" in said
    assert "at most" not in said
    assert "the newest table: count of people." in said


def test_more_spent_than_allowed_is_no_promise(ledger: cdp.Ledger) -> None:
    facts = gather(ledger, "ever")
    over = dataclasses.replace(facts, lost=dataclasses.replace(facts.lost, epsilon=3.0, delta=1e-5, most=None))
    said = " ".join(texts(label(over)))
    assert "More was spent than the budget allows." in said
    assert "at most 95.3 %" in said


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Page:
    return browser.new_context(viewport={"width": 390, "height": 900}).new_page()


@pytest.mark.browser
@pytest.mark.slow
def test_fits_and_is_read_in_the_light_in_the_dark_and_on_paper(
    everything: cdp.Ledger, tab: Page, tmp_path: Path
) -> None:
    grounds = set()
    for name in _DATASETS:
        file = tmp_path / f"{name}.svg"
        file.write_text(label(gather(everything, name)), encoding="utf-8")
        tab.goto(file.as_uri())
        for scheme, media in (("light", "screen"), ("dark", "screen"), ("dark", "print")):
            tab.emulate_media(color_scheme=scheme, media=media)  # type: ignore[arg-type]
            ground, colours, right, width = tab.evaluate(
                """() => {
                  const fill = (one) => getComputedStyle(one).fill, all = [...document.querySelectorAll("text")];
                  const edges = all.map((one) => one.getBoundingClientRect().right);
                  return [fill(document.querySelector(".ground")), [...new Set(all.map(fill))], Math.max(...edges),
                          document.documentElement.getBoundingClientRect().width];
                }"""
            )
            assert right <= width <= 390
            assert all(contrast(colour, ground) >= 4.5 for colour in colours)
            grounds.add((scheme, media, ground))
    assert grounds == {
        ("light", "screen", "rgb(255, 255, 255)"),
        ("dark", "screen", "rgb(26, 32, 39)"),
        ("dark", "print", "rgb(255, 255, 255)"),
    }

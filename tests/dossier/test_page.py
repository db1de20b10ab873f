"""The page of a dossier: text stays text, nothing is fetched, and it can be read on a telephone and in the dark."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Request, Route

import chronodp as cdp
from chronodp.dossier import Owner, gather, write_dossier
from chronodp.dossier.page import render
from tests.axe import faults
from tests.dossier.everything import KINDS, QUIET, meters
from tests.hostile import HOSTILE as NAMED, unseen
from tests.report.examples import HOSTILE
from tests.report.reader import Reader

pytestmark = pytest.mark.slow


def test_says_everything_without_a_script_and_without_a_network(everything: cdp.Ledger) -> None:
    facts = gather(everything, "meters", owner=Owner(name="Load of Mill Town"))
    reader = Reader(render(facts))
    assert reader.scripts == []
    for tag, attributes in reader.tags:
        assert tag not in {"link", "iframe", "object", "embed", "base", "form"}
        assert not any(name.startswith("on") for name in attributes), tag
        address = attributes.get("href") or attributes.get("src") or "#"
        assert address.startswith(("#", "releases/", "numbers/", "data:")), address
    assert reader.policy().startswith("default-src 'none';")
    for request in KINDS:
        assert f"Request {request}, issued" in reader.text
    for words in (facts.public_key, facts.head, "Load of Mill Town", "not known to chronodp", "in all so far"):
        assert words in reader.text
    headings = [int(tag[1]) for tag, _ in reader.tags if re.fullmatch(r"h\d", tag)]
    assert headings[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(headings))


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=9.0, delta=1e-5)
        plan = meters().count().by(region=["north", NAMED, HOSTILE]).plan(epsilon=1.0, delta=1e-7)
        plan.release(ledger, dataset="meters", request="first", **QUIET)
        owner = Owner(name=HOSTILE, curators=(HOSTILE, NAMED), exposure=HOSTILE, collection=HOSTILE)
        facts = gather(ledger, "meters", owner=owner)
        page = render(facts)
        folder = write_dossier(ledger, "meters", tmp_path / "out", owner=owner)
    reader = Reader(page)
    assert "img" not in {tag for tag, _ in reader.tags}
    assert "b" not in {tag for tag, _ in reader.tags}
    assert reader.scripts == []
    assert unseen(page) == []
    assert (folder / "manifest.json").is_file()


def test_a_seeded_release_is_said_first(everything: cdp.Ledger) -> None:
    facts = gather(everything, "renewed")
    (one,) = facts.published
    certificate = replace(one.certificate, seeded=True)
    object.__setattr__(one, "link", replace(one.link, certificate=certificate))
    reader = Reader(render(facts))
    assert reader.text.strip().index("drawn with a seed") < reader.text.index("Dossier of private releases")


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_is_read_on_every_screen(browser: Browser, folder: Path, width: int, scheme: str) -> None:
    asked: list[str] = []
    options = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    with browser.new_context(**options) as context:  # type: ignore[arg-type]

        def route(route: Route, request: Request) -> None:
            if not request.url.startswith(("file:", "data:")):
                asked.append(request.url)
            route.continue_()

        context.route("**/*", route)
        tab = context.new_page()
        complaints: list[str] = []
        tab.on("console", lambda said: complaints.append(said.text))
        tab.goto((folder / "index.html").as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth") == width
        assert tab.locator("article").count() == len(KINDS)
        assert faults(tab) == []
        dark = tab.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert (dark == "rgb(18, 22, 27)") == (scheme == "dark")
    assert (asked, complaints) == ([], [])

"""People on the curator's page: what they see, what the page asks of the network, and what it complains of."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page as Tab, Request

import chronodp as cdp
from tests import axe
from tests.service.town import COUNT, SUM, House, house_of, write_policy

HOSTILE = "<img src=x onerror=alert(1)> & <b>bold</b>"
VIEWS = [
    *("datasets", "ask/meters", "releases/meters", "releases/meters/1", "budget/meters", "live/load"),
    *("claims", "check", "desk/meters"),
]


@dataclass
class Visit:
    """Someone on the page, what the page asked of the network, and what it complained of."""

    tab: Tab
    base: str
    asked: list[str] = field(default_factory=list)
    strayed: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    forgiven: str = ""

    def note(self, request: Request) -> None:
        """Write down what the page asks of the network; `tests/chromium.py` lets it reach this machine alone."""
        self.asked.append(f"{request.method} {request.url.removeprefix(self.base)}")
        if not request.url.startswith((f"{self.base}/", "data:", "blob:")):
            self.strayed.append(request.url)

    def listen(self, said: ConsoleMessage) -> None:
        if said.type == "error" and not (self.forgiven and re.search(self.forgiven, said.text)):
            self.complaints.append(said.text)

    def tidied(self) -> bool:
        """Take back what a test changed of the tab, and open the first view; return whether someone is signed in still.

        Where colours were chosen the page is loaded anew, for a choice outlasts all else.
        """
        self.tab.unroute_all(behavior="ignoreErrors")
        inside = self.is_signed_in()
        self.tab.emulate_media(color_scheme="light")
        self.tab.evaluate("() => localStorage.clear()")
        if self.tab.evaluate("() => 'theme' in document.documentElement.dataset"):
            self.tab.reload()
        if inside:
            self.open("datasets")
        else:
            self.tab.evaluate("() => { location.hash = ''; }")
        return inside

    def is_signed_in(self) -> bool:
        """Whether someone is signed in; a page that is still loading shows neither that nor the opposite."""
        out = self.tab.get_by_role("button", name="Sign out")
        out.or_(self.tab.get_by_label("Token")).filter(visible=True).first.wait_for()
        return out.is_visible()

    def sign_in(self, token: str) -> None:
        field = self.tab.get_by_label("Token")
        if not field.is_visible():
            self.tab.goto(self.base)
        field.fill(token)
        self.tab.get_by_role("button", name="Sign in").click()
        self.tab.get_by_role("heading", level=1, name="Datasets").wait_for()

    def sign_out(self) -> None:
        self.tab.get_by_role("button", name="Sign out").click()
        self.tab.get_by_role("heading", name="Sign in").wait_for()

    def open(self, view: str) -> None:
        self.tab.evaluate("(hash) => { location.hash = hash; }", f"#/{view}")
        self.tab.wait_for_selector(f'main[data-shown="#/{view}"]')
        if view.startswith("ask"):
            self.planned()
        if view.startswith(("releases/meters/", "live/")):
            self.tab.wait_for_selector('[data-slot="chart"] .scatterlayer path')

    def slot(self, name: str) -> Locator:
        return self.tab.locator(f'[data-slot="{name}"]')

    def planned(self) -> str:
        """Wait until the plan is that of the form, and return its error."""
        self.tab.wait_for_selector('[data-slot="answer"]:not([aria-busy]) .headline')
        return self.slot("headline").locator("dd").first.inner_text()

    def submit(self) -> None:
        """Submit what is planned; before it is paid, the page asks."""
        self.tab.get_by_role("button", name=re.compile("^Submit: spends ε")).click()
        self.slot("confirm").wait_for()

    def pay(self) -> None:
        """Submit what is planned, and say yes."""
        self.submit()
        self.slot("confirm-yes").click()


Visits = Callable[..., Visit]


def furnished_policy(folder: Path) -> Path:
    """Write a policy whose names would be HTML if they could."""
    return write_policy(folder, changes={
        'title = "Test"': f'title = "{HOSTILE}"',
        "north = 40, south = 20": f'north = 40, south = 20, "{HOSTILE}" = 15',
        "[datasets.meters.allow]": "[datasets.meters.allow]\nfind = true",
        'source = "rows.parquet"': f'about = "{HOSTILE}"\nsource = "rows.parquet"',
    })  # fmt: skip


def furnish(opened: House) -> None:
    """Put two releases, a stream and an alert into a house."""
    opened.ended("ana", "first", SUM | {"by": {"region": ["north", HOSTILE]}, "epsilon": 0.2})
    tree = {"column": "region", "names": ["town", "region"], "keys": [["all of it"]], "children": [[2]]}
    opened.ended("ana", "places", COUNT | {"by": {"region": ["north", "south"]}, "places": tree, "epsilon": 0.2})
    terms: dict[str, Any] = {"change": 1.0, "unit": cdp.User(), "ledger": opened.curator.ledger, "dataset": "meters"}
    stream = cdp.Stream(cdp.EachPeriod(), horizon=500, epsilon=0.5, delta=1e-7, name="load", max_periods=2, **terms)
    stream.steps([100.0] * 40)
    cdp.Alert(above=500.0, max_alerts=2, epsilon=0.2, name="alarm", **terms).step(1e6)


furnished_house = house_of(furnished_policy, furnish, scope="module")


@dataclass
class Reception:
    """Lets people into a house, and keeps their tabs from one test to the next.

    To load the page, and to compile the library that draws, takes longer than most tests of it. Whoever comes next to a
    tab that is kept finds the first view, and nothing stored but who is signed in; whoever has none gets that of
    someone else, who is signed out first.
    """

    browser: Browser
    house: House
    _inside: list[tuple[str, Visit]] = field(default_factory=list)
    _kept: list[tuple[str, Visit]] = field(default_factory=list)

    def begin(self, who: str, *, width: int = 1280, forgiven: str = "") -> Visit:
        """Show the first page to someone who is signed in."""
        self._kept.sort(key=lambda kept: (kept[0] == who, not kept[0]))  # last their own tab, or one that is free
        whose, found = self._kept.pop() if self._kept else ("", self._arrive())
        found.forgiven = forgiven
        self._inside.append((who, found))
        found.tab.set_viewport_size({"width": width, "height": 900})
        if whose not in ("", who):
            found.sign_out()
        found.asked.clear()
        if whose != who:
            found.sign_in(self.house.tokens[who])
        return found

    def leave(self) -> None:
        """Check that nothing strayed and nothing was complained of, and tidy up for the next test."""
        while self._inside:
            who, found = self._inside.pop()
            strayed, complaints = list(found.strayed), list(found.complaints)
            if strayed or complaints:
                found.tab.context.close()
            else:
                self._kept.append((who if found.tidied() else "", found))
            assert strayed == []
            assert complaints == []

    def close(self) -> None:
        """Close every tab."""
        for _, found in (*self._kept, *self._inside):
            found.tab.context.close()

    def _arrive(self) -> Visit:
        context = self.browser.new_context(color_scheme="light")
        found = Visit(context.new_page(), str(self.house.http.base_url).rstrip("/"))
        found.tab.on("request", found.note)
        found.tab.on("console", found.listen)
        found.tab.on("pageerror", lambda error: found.complaints.append(str(error)))
        found.tab.on("dialog", lambda dialog: found.complaints.append(f"a dialog: {dialog.message}"))
        return found


@contextmanager
def reception(browser: Browser, house: House) -> Iterator[Reception]:
    """Open a reception for all tests of a file."""
    opened = Reception(browser, house)
    try:
        yield opened
    finally:
        opened.close()


def faults(tab: Tab, *, only: str | None = None) -> list[str]:
    """Return whatever axe finds, once colours no longer change: until then they have no contrast to measure."""
    time.sleep(0.2)
    return axe.faults(tab, only=only)


def number(place: Locator) -> float:
    return figure(place.inner_text())


def figure(text: str) -> float:
    return float(text.replace("±", "").replace("ε", "").replace(",", "").replace("−", "-").strip())

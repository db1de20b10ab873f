"""A page that is open in a browser without a network, and what it did there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import BrowserContext, Page as Tab, Request

__all__ = ["Reading", "read"]

_HARMLESS = ("file:", "data:", "blob:")


@dataclass
class Reading:
    """An open page, what it asked of the network, and what it complained of."""

    tab: Tab
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def background(self) -> str:
        return str(self.tab.evaluate("getComputedStyle(document.documentElement).backgroundColor"))

    def layout(self, path: str) -> Any:
        return self.tab.evaluate(f"document.getElementById('chart').layout.{path}")


def read(context: BrowserContext, address: str) -> Reading:
    """Open a page, and write down what it asks for and complains of."""
    context.set_offline(True)
    reading = Reading(context.new_page())

    def note(request: Request) -> None:
        if not request.url.startswith(_HARMLESS):
            reading.requests.append(request.url)

    reading.tab.on("request", note)
    reading.tab.on("console", lambda said: reading.complaints.append(said.text) if said.type == "error" else None)
    reading.tab.on("pageerror", lambda error: reading.complaints.append(str(error)))
    reading.tab.goto(address)
    reading.tab.wait_for_selector("#theme:visible")  # the last thing the script does
    return reading

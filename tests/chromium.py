"""A real browser for tests of pages: one that is installed, or Playwright's own.

``python -m tests.chromium`` gets Playwright's own where there is none, within two minutes, and says what it found.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Playwright, sync_playwright

__all__ = ["chromium", "find", "watched"]

NOT_LOOKED_AT = "no Chromium is installed, so the page was not looked at: playwright install --with-deps chromium"
# The one without a window first: it draws the same and takes a third less of the processor.
_NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
)
_PATIENCE = 120.0  # seconds for a download; without a network it does not end by itself
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # Whatever asks where it was called from has its whole script read again, plotly's for .6 s; unless that is kept.
    "--js-flags=--no-enable-lazy-source-positions",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",  # pages reach this machine alone
)


def find(playwright: Playwright) -> str | None:
    """Return the path of a Chromium: one on the PATH, or the one that Playwright keeps."""
    installed = next(filter(None, map(shutil.which, _NAMES)), None) or playwright.chromium.executable_path
    return installed if Path(installed).is_file() else None


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium; without one skip and say so, or fail where CHRONODP_BROWSER is "required"."""
    with sync_playwright() as playwright:
        executable = find(playwright)
        if executable is None:
            if os.environ.get("CHRONODP_BROWSER") == "required":
                pytest.fail(NOT_LOOKED_AT)
            pytest.skip(NOT_LOOKED_AT)
        browser = playwright.chromium.launch(executable_path=executable, args=_ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def watched(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail at the end if a script of any page in the browser threw what nobody caught."""
    thrown: list[str] = []
    begin = browser.new_context

    def new_context(**options: Any) -> BrowserContext:
        context = begin(**options)
        context.on("weberror", lambda found: thrown.append(str(found.error)))
        return context

    monkeypatch.setattr(browser, "new_context", new_context)
    yield
    assert thrown == []


def main() -> None:
    """Find a browser, or have Playwright download its own; that it fails is told, and stops nothing."""
    with sync_playwright() as playwright:
        found = find(playwright)
    if found is None:
        command = [sys.executable, "-m", "playwright", "install", "chromium"]
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        with sync_playwright() as playwright:
            found = find(playwright)
    print(f"pages are looked at in {found}" if found else NOT_LOOKED_AT)


if __name__ == "__main__":
    main()

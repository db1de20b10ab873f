"""The documentation as a reader meets it: built with its theme, served, and looked at in a browser."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import ConsoleMessage, Page as Tab, Response

from tests.axe import faults
from tests.docs.pages import ROOT

__all__ = ["KINDS", "build", "look", "served", "written"]

WIDTHS = (1280, 390)
# One page of each kind: commands, tables, pictures, formulas, docstrings, options.
KINDS = (
    "index",
    "start/publish-a-table",
    "how-to/keep-a-budget",
    "explanation/published-numbers",
    "explanation/proofs/smoothing",
    "reference/glossary",
    "reference/generated/lifetime",
)
# Pages hear of another width before they are drawn in it, which comes after a size was set.
_DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
_SEEN = """() => ({
    width: document.documentElement.scrollWidth,
    broken: [...document.images].filter((one) => one.complete && !one.naturalWidth).map((one) => one.src),
})"""


def build(folder: Path, pages: Sequence[str] = ()) -> None:
    """Build the documentation as readers get it: some pages by name, or all."""
    some = ["-D", f"include_patterns={','.join(f'{page}.md' for page in pages)}"] if pages else []
    command = [sys.executable, "-m", "sphinx", "--quiet", "--jobs", "1", *some, "docs", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)


def written(folder: Path) -> list[str]:
    """Return every page of a build; of the pages of source code, which are made alike, the list and one."""
    found = sorted(path.relative_to(folder) for path in folder.rglob("*.html"))
    sources = [path for path in found if path.parts[0] == "_modules"]
    others = [path for path in found if path.parts[0] not in {"_modules", "_static"}]
    return [path.as_posix() for path in (sources[0], sources[-1], *others)]


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, *said: Any) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder: scripts of a page may not read files."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Silent, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


def look(tab: Tab, base: str, page: str) -> list[str]:
    """Return what is wrong with a page, wide and narrow, in light and in dark."""
    wrong: list[str] = []

    def listen(said: ConsoleMessage) -> None:
        if said.type == "error":
            wrong.append(said.text)

    def loaded(response: Response) -> None:
        if response.status >= 400:
            wrong.append(f"{response.status} {response.url.removeprefix(base)}")

    tab.on("console", listen)
    tab.on("response", loaded)
    try:
        tab.emulate_media(color_scheme="light")
        tab.goto(base + page)
        for width in WIDTHS:
            tab.set_viewport_size({"width": width, "height": 900})
            tab.evaluate(_DRAWN)
            seen = tab.evaluate(_SEEN)
            wrong += [f"no picture at {one}" for one in seen["broken"]]
            if seen["width"] > width:
                wrong.append(f"{seen['width']} pixels wide at {width}")
            wrong += [f"{one} at {width}" for one in faults(tab)]
            # Structure is the same in the dark: colours alone differ.
            tab.emulate_media(color_scheme="dark")
            wrong += [f"{one} at {width} in the dark" for one in faults(tab, only="color-contrast")]
            tab.emulate_media(color_scheme="light")
    finally:
        tab.remove_listener("console", listen)
        tab.remove_listener("response", loaded)
    return [f"{page}: {one}" for one in wrong]

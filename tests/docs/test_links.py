"""Every link leads somewhere, and every file and module that a page names is there."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from tests.docs.pages import ROOT, anchors, links, pages, prose

PAGES = pages()


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def dead(page: Path) -> list[str]:
    """The links of a page that lead to no file, or to no heading of one."""
    found = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if link.startswith(("https://", "http://")):
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            found.append(link)
    return found


def test_links_lead_somewhere() -> None:
    wrong = {named(page): found for page in PAGES if (found := dead(page))}
    assert not wrong


def test_a_dead_link_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A, b\n\n[here](page.md#a-b) [gone](gone.md) [no such head](#c) `[no](link.md)`\n", encoding="utf-8"
    )
    assert dead(page) == ["gone.md", "#c"]


def test_files_that_are_named_exist() -> None:
    folders = "docs|tests|src|benchmarks|experiments|examples"
    wrong = [
        (named(page), path)
        for page in PAGES
        for path in re.findall(rf"`((?:{folders})/[\w/.-]*)`", prose(page))
        if not (ROOT / path).exists()
    ]
    assert not wrong


def test_modules_that_are_named_exist() -> None:
    wrong = [
        (named(page), module)
        for page in PAGES
        for module in re.findall(r"python -m ([\w.]+)", page.read_text(encoding="utf-8"))
        if not importlib.util.find_spec(module)
    ]
    assert not wrong


def test_files_of_the_source_that_are_named_exist() -> None:
    """A name may leave out the folders that the sentence before it has named."""
    there = [f"/{path.relative_to(ROOT)}" for path in (ROOT / "src").rglob("*.py")]
    about = [page for page in PAGES if page.stem == "ARCHITECTURE" or "rooms" in page.stem or "decisions" in page.parts]
    wrong = [
        (named(page), name)
        for page in about
        for name in re.findall(r"`([\w/]+\.py)`", prose(page))
        if not any(path.endswith(f"/{name}") for path in there)
    ]
    assert not wrong


def test_every_page_of_the_documentation_is_in_a_list() -> None:
    listed = set()
    for index in (ROOT / "docs").rglob("index.md"):
        for entry in re.findall(r"^[\w/-]+$", index.read_text(encoding="utf-8"), flags=re.MULTILINE):
            listed.add((index.parent / f"{entry}.md").resolve())
    written = {page for page in PAGES if page.is_relative_to(ROOT / "docs") and page != ROOT / "docs/index.md"}
    assert written == listed & set(PAGES)


def test_a_how_to_ends_with_why() -> None:
    for page in sorted((ROOT / "docs/how-to").glob("*.md")):
        last = page.read_text(encoding="utf-8").rstrip().splitlines()[-1]
        assert re.match(r"Why it is so: \[.+\]\(\.\./explanation/[\w-]+\.md\)", last), page
        assert re.search(r"Why it holds: \[.+\]\(\.\./explanation/proofs/[\w-]+\.md\)", last), page

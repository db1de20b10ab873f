"""What pages say is so: links, files, names, commands, rooms, and one version everywhere."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
from benchmarks.__main__ import TOPICS

import chronodp
from chronodp.cli.shell import app
from tests.audit.registry import entries
from tests.docs.pages import ROOT, anchors, commands, links, pages, prose

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
        if not (ROOT / name).is_file() and not any(path.endswith(f"/{name}") for path in there)
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


NAMES = [name for name in chronodp.__all__ if name != "__version__"]
MODULES = [name for name in NAMES if isinstance(getattr(chronodp, name), ModuleType)]
ROOMS = sorted(path.parent.name for path in (ROOT / "src/chronodp").glob("*/__init__.py"))


def test_the_names_at_the_top_are_few() -> None:
    assert MODULES == ["errors", "privacy"]
    assert len(NAMES) <= 30
    assert dir(chronodp) == sorted(chronodp.__all__)
    # All that users are promised: the reference shows each of them.
    assert sum(len(importlib.import_module(f"chronodp.{room}").__all__) for room in ROOMS) <= 242


def test_each_name_says_what_it_is_and_is_in_the_reference_of_its_room() -> None:
    """The reference has a page for each room, of the names that the room exports."""
    for name in NAMES:
        named = getattr(chronodp, name)
        assert inspect.getdoc(named), name
        if name not in MODULES:
            room = getattr(chronodp, named.__module__.split(".")[1])
            assert name in room.__all__, name
            assert getattr(room, name) is named, name


def test_the_version_has_an_entry_in_the_changelog() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+), ", changes, flags=re.MULTILINE)[0] == chronodp.__version__
    assert importlib.metadata.version("chronodp") == chronodp.__version__


PAGE = ROOT / "docs/explanation/rooms.md"
ROWS = {
    cells[0].strip(" `"): cells[1:]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if (cells := line.strip("|").split("|")) and line.startswith("| `")
}
MEASURED = {measure.__module__.removeprefix("benchmarks.") for measure in TOPICS}


def linked(cell: str) -> set[Path]:
    return {(PAGE.parent / link).resolve() for link in re.findall(r"\]\((\S+?)\)", cell)}


def test_every_room_has_its_pages_and_its_benchmark() -> None:
    folders = {path.parent.name for path in (ROOT / "src/chronodp").glob("*/__init__.py")}
    assert set(ROWS) == folders - {"cli"}  # which is the command line's words for the others
    for room, (explained, shown, argued, measured) in ROWS.items():
        for cell, folder in ((explained, "explanation"), (shown, "how-to"), (argued, "explanation/proofs")):
            found = linked(cell)
            assert found, room
            assert all(page.is_file() and page.parent == ROOT / "docs" / folder for page in found), room
        assert set(re.findall(r"`(\w+)`", measured)) <= MEASURED, room
        assert "`" in measured, room


def test_every_how_to_every_argument_and_every_benchmark_belongs_to_a_room() -> None:
    shown = set.union(*(linked(cells[1]) for cells in ROWS.values()))
    argued = set.union(*(linked(cells[2]) for cells in ROWS.values()))
    assert shown == {page for page in pages() if page.parent == ROOT / "docs/how-to"}
    assert argued == {page for page in pages() if page.parent == ROOT / "docs/explanation/proofs"} - {
        ROOT / "docs/explanation/proofs/index.md"
    }
    assert {name for cells in ROWS.values() for name in re.findall(r"`(\w+)`", cells[3])} == MEASURED


@pytest.mark.slow
def test_the_argument_of_every_claim_is_that_of_a_room() -> None:
    argued = set.union(*(linked(cells[2]) for cells in ROWS.values()))
    for entry in entries():
        for subject in entry.cases():
            assert ROOT / subject.claim.argument in argued


SHELL: Any = typer.main.get_command(app)
REFUSED: Any = typer.BadParameter.__base__  # whatever is wrong with how a command was typed
SHOWN = [(page, words) for page in pages() for words in commands(page)]


def complaint(words: list[str]) -> str:
    """What the shell says to a command, short of running it; a page may end one that goes on by three dots."""
    command, given = SHELL, list(words)
    if given in (["--version"], ["--help"]):
        return ""
    while hasattr(command, "commands"):
        if not given:
            return ""
        if given[0] not in command.commands:
            return f"no command {given[0]}"
        command = command.commands[given.pop(0)]
    if not given or given[-1] in {"…", "..."}:
        return ""
    try:
        with command.context_class(command) as context:
            found, rest, _ = command.make_parser(context).parse_args(given)
    except REFUSED as error:
        return str(error)
    missing = [one.name for one in command.params if one.required and found.get(one.name) is None]
    return f"missing {missing}" if missing else " ".join(rest)


def test_every_command_that_a_page_shows_can_be_typed() -> None:
    assert len(SHOWN) > 60
    readme = [words for page, words in SHOWN if page == ROOT / "README.md"]
    assert ["explain", "--epsilon", "1", "--delta", "1e-6"] in readme
    wrong = [(page.name, " ".join(words), said) for page, words in SHOWN if (said := complaint(words))]
    assert not wrong


def test_what_cannot_be_typed_is_noticed() -> None:
    for words in (
        "magic",
        "explain --epsilom 1",
        "explain --delta 1e-6",
        "verify --json",
        "budget open meters",
        "explain --epsilon 1 2",
    ):
        assert complaint(words.split()), words


def test_every_command_has_its_line_on_the_page_of_commands() -> None:
    page = (ROOT / "docs/reference/commands.md").read_text(encoding="utf-8")
    firsts = [line.split("|")[1] for line in page.partition("## Without a command")[0].splitlines() if line[:1] == "|"]
    assert sorted(re.findall(r"`([\w-]+)`", " ".join(firsts))) == sorted(SHELL.commands)

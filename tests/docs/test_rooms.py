"""Every room has its page of explanation, its how-to, its arguments and its benchmark; every claim has its argument."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from benchmarks.__main__ import TOPICS

from tests.audit.registry import entries
from tests.docs.pages import ROOT, pages

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

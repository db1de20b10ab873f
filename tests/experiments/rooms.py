"""What must be true of the claims of a room: another value turns a verdict, and so does a broken part."""

from __future__ import annotations

import csv
import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path

from experiments.__main__ import PAGE, PICTURES
from experiments.claims import Claim, Finding, Given
from experiments.claims.computations import broken, computations
from experiments.claims.datasets import given
from experiments.claims.page import row
from experiments.figures import Figure
from experiments.figures.gallery import GALLERIES
from experiments.figures.writing import file_name, table

_NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")
_ROW = re.compile(r"\| \*\*([A-Z]\d+[a-z]?(?:\.\d+)?)\*\* ")
WORDS = Path(__file__).parent.parent / "golden" / "claims"


def series() -> Given:
    """Return the series that the page was written with, where they are at hand; no test needs them."""
    folder = os.environ.get("CHRONODP_SERIES")
    return given([folder]) if folder else Given()


def find_all(claims: Iterable[Claim]) -> dict[str, Finding]:
    """Return what is found for each claim that is not slow, by its id."""
    return {claim.id: claim.find() for claim in claims if not claim.slow}


def check_room(findings: Mapping[str, Finding], *rooms: str) -> None:
    """Check all that every room owes: what is found is on the page, another value and broken parts turn verdicts."""
    check_page(findings.values())
    check_nudges(findings.values())
    check_twins(findings.values(), rooms)


def check_nudges(findings: Iterable[Finding]) -> None:
    """Check that each verdict would be another had the first reading given another value."""
    kept = [one.claim.id for one in findings if one.values and one.nudged().verdict == one.verdict]
    assert not kept, f"no value turns the verdict of {kept}"


def check_twins(findings: Iterable[Finding], rooms: tuple[str, ...]) -> None:
    """Check that every computation of these rooms decides some verdict, and that every claim that agrees can fail.

    Broken parts are tried until that is seen; the table of coverage, which is written, tries every one.
    """
    found = list(findings)
    agreeing = {one.claim.id for one in found if one.word.startswith(("holds", "as expected"))}
    turned: set[str] = set()
    silent = []
    for name, twins in computations().items():
        users = [one for one in found if name in one.computations]
        if not name.startswith(tuple(f"{room}." for room in rooms)) or not users:
            continue
        noticed = False
        for twin in twins.values():
            asked = [one for one in users if one.claim.id in agreeing - turned] if noticed else users
            if not asked:
                break
            with broken(name, twin):
                changed = {one.claim.id for one in asked if _verdict(one.claim) != one.verdict}
            turned |= changed
            noticed = noticed or bool(changed)
        silent += [] if noticed else [name]
    assert not silent, f"no claim notices that these are broken: {silent}"
    assert agreeing <= turned, f"no broken part turns the verdict of {sorted(agreeing - turned)}"


def check_page(findings: Iterable[Finding]) -> None:
    """Check that the page shows these findings: words to the letter, numbers as far as processors round alike.

    What rests on a series is compared if the page was written with the same one.
    """
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    shown = {match[1]: line for line in lines if (match := _ROW.match(line))}
    for one in findings:
        found = row(one)
        assert one.claim.id in shown, "run: python -m experiments --data folder --write"
        if not one.claim.files or one.claim.data in shown[one.claim.id]:
            assert _alike(shown[one.claim.id], found), f"{shown[one.claim.id]}\n{found}"


def check_drawn(figures: Iterable[Figure]) -> None:
    """Check that the points of the documentation's pictures are those of these figures."""
    for figure in figures:
        for gallery in GALLERIES:
            panels = [panel for panel in figure.panels if panel.gallery == gallery]
            path = PICTURES / file_name(figure, gallery, "csv")
            if panels and not figure.files:
                drawn, found = (
                    list(csv.reader(text.splitlines())) for text in (path.read_text("utf-8"), table(panels))
                )
                words = f"{path.name}: run python -m experiments --data folder --figures --write"
                assert [len(line) for line in drawn] == [len(line) for line in found], words
                cells = zip(chain(*drawn), chain(*found), strict=True)
                assert all(one == other or _close(one, other) for one, other in cells), words


def _alike(shown: str, found: str) -> bool:
    if _NUMBER.split(shown) != _NUMBER.split(found):
        return False
    return all(map(_close, _NUMBER.findall(shown), _NUMBER.findall(found)))


def _close(one: str, other: str) -> bool:
    try:
        numbers = [float(text.replace(",", "")) for text in (one, other)]
    except ValueError:
        return False
    return math.isclose(*numbers, rel_tol=2e-3, abs_tol=1e-9)


def check_words(findings: Mapping[str, Finding], golden: str, otherwise: dict[str, str]) -> None:
    """Check that verdicts are those of the reference list, but for those with a reason why they are not."""
    expected = json.loads((WORDS / golden).read_text(encoding="utf-8"))
    found = {name: _bare(findings[name]) for name in expected}
    differing = {name: (word, expected[name]) for name, word in found.items() if word != expected[name]}
    assert set(differing) == set(otherwise), differing


def _bare(finding: Finding) -> str:
    verdict = finding.verdict
    if verdict.startswith(("needs real data", "not a source claim")):
        return verdict.partition(":")[0].partition(";")[0]
    return finding.word.partition(":")[0]


def _verdict(claim: Claim) -> str:
    try:
        return claim.find().verdict
    except (ArithmeticError, ValueError, TypeError, LookupError) as error:
        return type(error).__name__

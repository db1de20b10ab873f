"""What must be true of the claims of a room: another value turns a verdict, and so does a broken part."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from experiments.claims import Claim, Finding, Given
from experiments.claims.computations import broken, computations
from experiments.claims.datasets import given

stated = pytest.mark.stated
WORDS = Path(__file__).parent.parent / "golden" / "claims"


def series() -> Given:
    """Return real series, where they are at hand; no test needs them."""
    folder = os.environ.get("CHRONODP_SERIES")
    return given([folder]) if folder else Given()


def find_all(claims: Iterable[Claim]) -> dict[str, Finding]:
    """Return what is found for each claim that is not slow, by its id."""
    return {claim.id: claim.find() for claim in claims if not claim.slow}


def check_room(findings: Mapping[str, Finding], *rooms: str) -> None:
    """Check all that every room owes: another value and broken parts turn verdicts."""
    check_nudges(findings.values())
    check_twins(findings.values(), rooms)


def check_nudges(findings: Iterable[Finding]) -> None:
    """Check that each verdict would be another had the first reading given another value."""
    kept = [one.claim.id for one in findings if one.values and one.nudged().verdict == one.verdict]
    assert not kept, f"no value turns the verdict of {kept}"


def check_twins(findings: Iterable[Finding], rooms: tuple[str, ...]) -> None:
    """Check that every computation of these rooms decides some verdict, and that every claim that agrees can fail.

    Broken parts are tried until that is seen; the table of coverage tries every one.
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

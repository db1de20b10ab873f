"""The page of verdicts and its galleries are those that the claims make; every claim of the sources has its row."""

from __future__ import annotations

import json
import math
import os
import re
from functools import cache
from pathlib import Path

import pytest
from experiments.__main__ import COVERAGE, PAGE, PICTURES, main
from experiments.claims import Claim, Finding
from experiments.claims.datasets import Given, given
from experiments.claims.gathering import ROOMS, all_claims
from experiments.claims.page import row
from experiments.figures.gallery import GALLERIES

GOLDEN = Path(__file__).parent.parent / "golden" / "claims"
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")


def data() -> Given:
    """The series that the page was written with, where they are at hand; no test needs them."""
    folder = os.environ.get("CHRONODP_SERIES")
    return given([folder]) if folder else Given()


@cache
def claims() -> tuple[Claim, ...]:
    return tuple(all_claims(data()))


@cache
def findings() -> tuple[Finding, ...]:
    return tuple(claim.find() for claim in claims() if not claim.slow)


def test_every_claim_that_was_found_in_the_sources_has_its_row() -> None:
    wanted = set(json.loads((GOLDEN / "ids.json").read_text(encoding="utf-8")))
    assert len(wanted) == 205
    assert wanted <= {claim.id for claim in claims()}


@pytest.mark.long
@pytest.mark.parametrize("room", ROOMS)
def test_the_page_shows_what_the_command_finds(room: str) -> None:
    shown = {line.split("<br>")[0].split(" ")[1]: line for line in _rows(PAGE)}
    own = {claim.id for claim in all_claims(data(), [room])}
    assert own <= set(shown), "run: python -m experiments --data folder --write"
    for finding in findings():
        claim = finding.claim
        if claim.id in own and (not claim.files or data().files):
            assert _alike(shown[claim.id], row(finding)), f"{shown[claim.id]}\n{row(finding)}"


def _rows(page: Path) -> list[str]:
    lines = page.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if re.match(r"\| [A-Z]\d+[a-z]?(\.\d+)?(<br>| \|)", line)]


def _alike(shown: str, found: str) -> bool:
    """Whether two rows say the same: words to the letter, numbers as far as another processor rounds alike."""
    if NUMBER.split(shown) != NUMBER.split(found):
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(found), strict=True)
    return all(
        math.isclose(float(a.replace(",", "")), float(b.replace(",", "")), rel_tol=2e-3, abs_tol=1e-9) for a, b in pairs
    )


@pytest.mark.long
def test_a_nudge_turns_every_verdict() -> None:
    judged = [finding for finding in findings() if finding.values]
    assert len(judged) > 150
    assert [one.claim.id for one in judged if one.nudged().verdict == one.verdict] == []


def test_the_table_of_coverage_names_no_computation_that_decides_nothing() -> None:
    lines = [line for line in COVERAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert len(lines) > 40
    assert not [line for line in lines if line.endswith("| – |")]


def test_galleries_show_pictures_that_are_there() -> None:
    for name in GALLERIES.values():
        text = PAGE.with_name(name).read_text(encoding="utf-8")
        files = re.findall(r"\.\./pictures/figures/([\w.-]+)", text)
        assert len(files) >= 2 * 14
        assert {file for file in files if not (PICTURES / file).is_file()} == set()
        said = set(re.findall(r"claim,?([A-Z]\d+)", text))
        assert said <= {claim.id for claim in claims()}


def test_the_command_shows_one_room_and_refuses_half_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["findings"]
    assert {finding["id"] for finding in shown} == {claim.id for claim in all_claims(Given(), ["devices"])}
    with pytest.raises(SystemExit, match="leave the names of rooms out"):
        main(["devices", "--write"])

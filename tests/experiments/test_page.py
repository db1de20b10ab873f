"""The page of verdicts and its galleries are those that the claims make; every claim of the sources has its row."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from experiments.__main__ import COVERAGE, PAGE, PICTURES, main
from experiments.claims.datasets import Given
from experiments.claims.gathering import all_claims
from experiments.figures.gallery import GALLERIES

GOLDEN = Path(__file__).parent.parent / "golden" / "claims"


def test_every_claim_that_was_found_in_the_sources_has_its_row() -> None:
    wanted = set(json.loads((GOLDEN / "ids.json").read_text(encoding="utf-8")))
    assert len(wanted) == 205
    assert wanted <= {claim.id for claim in all_claims(Given())}


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
        assert said <= {claim.id for claim in all_claims(Given())}


@pytest.mark.slow
def test_the_command_shows_one_room_and_refuses_half_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["findings"]
    assert {finding["id"] for finding in shown} == {claim.id for claim in all_claims(Given(), ["devices"])}
    with pytest.raises(SystemExit, match="leave the names of rooms out"):
        main(["devices", "--write"])

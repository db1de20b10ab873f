"""Every claim of the sources has its row; the command shows one room."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from experiments.__main__ import main
from experiments.claims.datasets import Given
from experiments.claims.gathering import all_claims

GOLDEN = Path(__file__).parent.parent / "golden" / "claims"


def test_every_claim_that_was_found_in_the_sources_has_its_row() -> None:
    wanted = set(json.loads((GOLDEN / "ids.json").read_text(encoding="utf-8")))
    assert len(wanted) == 205
    assert wanted <= {claim.id for claim in all_claims(Given())}


@pytest.mark.slow
def test_the_command_shows_one_room_and_refuses_half_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["findings"]
    assert {finding["id"] for finding in shown} == {claim.id for claim in all_claims(Given(), ["devices"])}
    with pytest.raises(SystemExit, match="leave the names of rooms out"):
        main(["devices", "--write"])

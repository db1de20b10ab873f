"""Files that are no ledger's: a coupling model, a public key, and numbers beside the text of a release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner

import chronodp as cdp
from chronodp.cli.shell import app
from chronodp.correlated import CouplingMarkovChain
from chronodp.correlated.model_file import model_to_json
from chronodp.ledger import pack
from tests.schemas.found import golden_documents, validator

DENSE: dict[str, Any] = {"transitions": [[0.7, 0.3], [0.3, 0.7]], "coupling": [[1, 0], [0.5, 0.5]]}


def test_models_hold_to_their_schema() -> None:
    written = json.loads(model_to_json(CouplingMarkovChain(DENSE["transitions"], DENSE["coupling"])))
    for model in (written, DENSE):
        assert validator("coupling_model").is_valid(model)
        for key in model:
            assert not validator("coupling_model").is_valid({name: one for name, one in model.items() if name != key})
            assert not validator("coupling_model").is_valid({**model, key: "other"})


def test_a_public_key_holds_to_its_schema(tmp_path: Path) -> None:
    with cdp.Ledger(tmp_path / "budget.db"):
        pass
    shown = CliRunner().invoke(app, ["key", "--json", "--ledger", str(tmp_path / "budget.db")])
    key = json.loads(shown.stdout)
    assert validator("public_key").is_valid(key)
    assert not validator("public_key").is_valid({**key, "public_key": key["public_key"][:-2]})


def test_a_release_names_numbers_beside_its_text() -> None:
    text = next(one for one in golden_documents() if one["kind"] == "release")
    packed, _ = pack([np.arange(3, dtype=np.int64)])
    assert validator("release").is_valid({**text, "noisy": packed})
    assert not validator("release").is_valid({**text, "noisy": {**packed, "sha256": packed["sha256"][0]}})

"""Files that are no ledger's: models, keys, plans of devices, settings in TOML, and schemas as files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import chronodp as cdp
from chronodp.cli.shell import app
from chronodp.correlated import CouplingMarkovChain
from chronodp.correlated.model_file import model_to_json
from chronodp.errors import UnknownDocument
from chronodp.ledger import pack
from chronodp.local import (
    Fresh,
    Hybrid,
    LaplaceNumber,
    LocalHashing,
    LocalPlan,
    Memoised,
    OneBit,
    OptimizedUnary,
    Piecewise,
    RandomizedResponse,
    Slots,
    SymmetricUnary,
    WindowAsked,
    WindowBudget,
    WindowPopulation,
    device,
)
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


MECHANISMS = (
    RandomizedResponse(1.0, 3),
    OptimizedUnary(1.0, 3),
    SymmetricUnary(1.0, 3),
    LocalHashing(1.0, 9),
    OneBit(1.0),
    Piecewise(1.0),
    Hybrid(1.0),
    LaplaceNumber(1.0),
)
PROTOCOLS = (Fresh(4), Slots(9, 2), Memoised(2.0, 4), WindowBudget(3), WindowPopulation(3), WindowAsked(3))
PLANS = [
    *(LocalPlan("asked", mechanism, Fresh(4)) for mechanism in MECHANISMS),
    *(LocalPlan("asked", RandomizedResponse(0.5, 2), protocol) for protocol in PROTOCOLS),
]


def test_plans_and_reports_hold_to_their_schemas(tmp_path: Path) -> None:
    for number, plan in enumerate(PLANS):
        content, state = json.loads(plan.save(tmp_path / f"{number}.json").read_bytes()), tmp_path / f"{number}.state"
        assert validator("device_plan").is_valid(content), plan
        device.start(state, content)
        sender = device.Device(state, content)
        reports = [report for slot in (0, 3) if (report := sender.send(0, slot=slot)) is not None]
        assert all(validator("device_report").is_valid(json.loads(device.to_json(report))) for report in reports), plan


def changed(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {**content, "unknown": 1}
    for key, value in content.items():
        yield {name: part for name, part in content.items() if name != key}
        yield {**content, key: [value]}
        if isinstance(value, dict):
            yield from ({**content, key: inner} for inner in changed(value))


def test_a_changed_plan_is_refused_by_schema_and_reader(tmp_path: Path) -> None:
    file, found = tmp_path / "plan.json", 0
    plan = PLANS[0]
    for one in changed(json.loads(plan.save(file).read_bytes())):
        file.write_text(json.dumps(one), encoding="utf-8")
        with pytest.raises(UnknownDocument):
            LocalPlan.load(file)
        if not validator("device_plan").is_valid(one):
            found += 1
        else:
            assert one["source"] != plan.compiled["source"]  # a field with a default may be left out there
    assert found > 30

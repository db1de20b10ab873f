"""What devices are given and send holds to its schema, of every mechanism and protocol; a changed plan does not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chronodp.errors import UnknownDocument
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
from tests.schemas.found import validator

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
PROTOCOLS = (
    Fresh(4),
    Slots(9, 2),
    Memoised(2.0, 4),
    WindowBudget(3),
    WindowPopulation(3),
    WindowAsked(3),
)
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

"""Kill -9 at any moment of a device's life: what was told is paid, spending never shrinks, no slot is told twice."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from chronodp.local import Device, LocalPlan, Memoised, RandomizedResponse, WindowBudget, device
from tests.conftest import Trials

pytestmark = pytest.mark.kill

POINTS = ("any", "before fsync", "after fsync", "before replace", "after replace")
VICTIM = Path(__file__).with_name("victim.py")
PLANS = {
    "fresh": LocalPlan("fresh", RandomizedResponse(0.01), WindowBudget(window=1000)),
    "kept": LocalPlan("kept", RandomizedResponse(0.5), Memoised(permanent_epsilon=1.0, horizon=2**20)),
}


def kill(folder: Path, point: str, chance: random.Random) -> None:
    files = [str(folder / name) for name in ("plan.json", "state.json", "told.jsonl")]
    count = chance.randint(1, 12)
    command = [sys.executable, "-I", "-S", str(VICTIM), str(device.__file__), *files, point, str(count)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as victim:
        if point == "any":
            time.sleep(0.03 + 0.05 * chance.random())
            victim.kill()
        _, said = victim.communicate(timeout=60)
    assert victim.returncode == -signal.SIGKILL, said


def told(folder: Path) -> list[dict[str, Any]]:
    path = folder / "told.jsonl"
    if not path.exists():
        return []
    whole, _, _ = path.read_text(encoding="utf-8").rpartition("\n")
    return [json.loads(line) for line in whole.splitlines()]


def check(folder: Path, plan: LocalPlan, before: dict[str, Any]) -> dict[str, Any]:
    """Return the state after a kill, having compared it with the one before and with all that was told."""
    if not (folder / "state.json").exists():
        assert not told(folder)
        return before
    state = Device(folder / "state.json", plan.compiled)._read()
    assert state["spent"] >= before.get("spent", 0)
    assert state["slot"] >= before.get("slot", -1)
    for value, kept in before.get("memo", {}).items():
        assert state["memo"][value] == kept
    reports: dict[int, str] = {}
    for report in told(folder):
        assert reports.setdefault(report["slot"], report["id"]) == report["id"]  # sent again, never drawn again
    assert len(reports) <= state["spent"]
    assert max(reports, default=-1) <= state["slot"]
    return state


@pytest.mark.parametrize("name", PLANS)
def test_spending_never_shrinks(name: str, tmp_path: Path, trials: Trials) -> None:
    plan, chance = PLANS[name], random.Random(11)
    plan.save(tmp_path / "plan.json")
    state: dict[str, Any] = {}
    for number in range(trials(500, least=2 * len(POINTS))):  # both plans: 1,000
        kill(tmp_path, POINTS[number % len(POINTS)], chance)
        state = check(tmp_path, plan, state)
    assert state["spent"] > 5
    assert len(told(tmp_path)) > 5


def test_the_check_notices_a_state_that_was_set_back(tmp_path: Path) -> None:
    plan = PLANS["fresh"]
    plan.save(tmp_path / "plan.json")
    device.start(tmp_path / "state.json", plan.compiled)
    old = (tmp_path / "state.json").read_bytes()
    report = Device(tmp_path / "state.json", plan.compiled).send(1, slot=0)
    (tmp_path / "told.jsonl").write_text(json.dumps(report) + "\n", encoding="utf-8")
    state = check(tmp_path, plan, {})
    (tmp_path / "state.json").write_bytes(old)
    with pytest.raises(AssertionError):
        check(tmp_path, plan, state)
    with pytest.raises(AssertionError):  # told, but not paid
        check(tmp_path, plan, {})

"""What devices are given, keep and send."""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Any

from chronodp import local
from chronodp.cli.device import _value
from chronodp.local.device import Device, start, to_bytes, to_json
from tests.fuzz.target import MARK, Target, loose

__all__ = [
    "NAMES",
    "make_given_plan",
    "make_plan",
    "make_report_lines",
    "make_reports",
    "make_state",
    "make_tally",
    "make_value",
]

NAMES = ("plan", "given_plan", "state", "reports", "report_lines", "tally", "value")

_PLANS = (
    local.LocalPlan("mode", local.RandomizedResponse(1.0, 4), local.Slots(4, 1)),
    local.LocalPlan("mode", local.RandomizedResponse(0.5, 4), local.Memoised(permanent_epsilon=1.0, horizon=4)),
    local.LocalPlan("minutes", local.Piecewise(1.0, (0.0, 1.0), grid=16), local.Fresh(4)),
    local.LocalPlan("sites", local.LocalHashing(1.0, 40), local.WindowAsked(3)),
    local.LocalPlan("sites", local.OptimizedUnary(1.0, 9), local.WindowPopulation(3)),
    local.LocalPlan("amount", local.Hybrid(1.0, (0.0, 1.0)), local.WindowBudget(3)),
)


def _compiled() -> tuple[bytes, ...]:
    return tuple(json.dumps(plan.compiled).encode() for plan in _PLANS)


def make_plan(folder: Path) -> Target:
    file = folder / "plan.json"

    def door(content: bytes) -> None:
        file.write_bytes(content)
        str(local.LocalPlan.load(file))

    return Target("plan", _compiled(), door)


def make_given_plan(folder: Path) -> Target:
    """A device that is handed a plan by somebody it does not trust."""
    file = folder / "given.json"

    def door(content: bytes) -> None:
        plan: Any = None
        with contextlib.suppress(ValueError, RecursionError):
            plan = json.loads(content)
        file.unlink(missing_ok=True)
        start(file, plan)
        Device(file, plan).send(1, slot=0)

    return Target("given_plan", _compiled(), door)


def make_state(folder: Path) -> Target:
    """A state whose checksum is right, whatever it says."""
    plan, file = _PLANS[1].compiled, folder / "state.json"
    file.unlink(missing_ok=True)
    start(file, plan)
    fresh = file.read_bytes().partition(b"\n")[2]
    Device(file, plan).send(2, slot=0)
    used = file.read_bytes().partition(b"\n")[2]

    def door(content: bytes) -> None:
        file.write_bytes(hashlib.sha256(content).hexdigest().encode() + b"\n" + content)
        Device(file, plan).send(1, slot=2)

    return Target("state", (fresh, used), door, secret=b"")


def _sent(folder: Path, plan: local.LocalPlan) -> dict[str, Any]:
    file = folder / "sender.json"
    file.unlink(missing_ok=True)
    start(file, plan.compiled)
    sender = Device(file, plan.compiled)
    return next(report for report in (sender.send(1, slot=slot) for slot in range(4)) if report is not None)


def make_reports(folder: Path) -> Target:
    file = folder / "reports.bin"
    seeds = tuple(
        bytes([number]) + 2 * to_bytes(_sent(folder, plan), plan.compiled) for number, plan in enumerate(_PLANS)
    )

    def door(content: bytes) -> None:
        plan = _PLANS[content[0] % len(_PLANS) if content else 0]
        file.write_bytes(content[1:])
        collector = local.Collector(plan, slots=range(3))
        collector.read(file)
        local.estimate(plan, collector.tally)

    return Target("reports", seeds, door, secret=b"")


def make_report_lines(folder: Path) -> Target:
    file = folder / "reports.jsonl"
    seeds = tuple(f"{number}{to_json(_sent(folder, plan))}\n".encode() for number, plan in enumerate(_PLANS))

    def door(content: bytes) -> None:
        plan = _PLANS[content[0] % len(_PLANS) if content else 0]
        file.write_bytes(content[1:])
        collector = local.Collector(plan, slots=range(3))
        collector.read(file)
        collector.add_lines(loose(content[1:]).splitlines())
        local.estimate(plan, collector.tally)

    return Target("report_lines", seeds, door, secret=b"")


def make_tally(_folder: Path) -> Target:
    plan = _PLANS[0]
    mine, other = (local.Collector(plan, part=(place, 2)).tally for place in (0, 1))

    def door(content: bytes) -> None:
        local.estimate(plan, local.ReportCounts.from_bytes(content).merge(other))

    return Target("tally", (mine.to_bytes(),), door)


def make_value(folder: Path) -> Target:
    """What stands on the standard input of a device."""
    plan, file = _PLANS[2].compiled, folder / "value.json"
    start_once = folder / "value-start.json"
    start_once.unlink(missing_ok=True)
    start(start_once, plan)
    fresh = start_once.read_bytes()

    def door(content: bytes) -> None:
        file.write_bytes(fresh)
        Device(file, plan).send(_value(content), slot=0)

    return Target("value", (b"0.5", MARK, b'"' + MARK + b'"'), door, secret=b"")

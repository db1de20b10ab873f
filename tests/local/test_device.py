"""A device's durable budget, its refusals, and its file on its own."""

from __future__ import annotations

import contextlib
import json
import math
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import chronodp.local.device as module
from chronodp.local import (
    Device,
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
    WindowAsked,
    WindowBudget,
    device,
    start,
)
from chronodp.local.device import Refused, SecretChance, to_bytes, to_json
from chronodp.local.reports import parse_lines, parse_records
from tests.cases import case
from tests.conftest import Trials

FOUR = RandomizedResponse(1.0, 4)
SECRET = 3


def begun(folder: Path, plan: LocalPlan) -> Device:
    start(folder / "me.json", plan.compiled)
    return Device(folder / "me.json", plan.compiled)


def test_a_budget_is_spent_and_then_refused(tmp_path: Path) -> None:
    mine = begun(tmp_path, LocalPlan("four", FOUR, Fresh(3)))
    for slot in range(3):
        assert mine.send(SECRET, slot=slot) is not None
        assert mine.spent == slot + 1
    with pytest.raises(Refused, match="the plan ends after 3 slots"):
        mine.send(SECRET, slot=3)
    assert mine.spent == 3


def test_the_last_report_is_sent_again_and_never_drawn_again(tmp_path: Path) -> None:
    mine = begun(tmp_path, LocalPlan("four", FOUR, Fresh(3)))
    first = mine.send(SECRET, slot=1)
    assert mine.send(0, slot=1) == first
    assert Device(tmp_path / "me.json", LocalPlan("four", FOUR, Fresh(3)).compiled).send(2, slot=1) == first
    assert mine.spent == 1


def test_clocks_that_go_back_and_what_is_no_slot(tmp_path: Path) -> None:
    slot: Any
    for slot in [0, -1, 1.0, True, None, "2", 2**32]:
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        with case(slot):
            mine = begun(folder, LocalPlan("four", FOUR, Fresh(9)))
            mine.send(SECRET, slot=4)
            with pytest.raises(Refused, match="slot"):
                mine.send(SECRET, slot=slot)
            assert mine.spent == 1
    with pytest.raises(Refused, match="slot"):
        begun(tmp_path, LocalPlan("four", FOUR, Fresh(3))).send(SECRET, slot=-1)


def test_values_outside_the_alphabet_are_refused_and_not_repeated(tmp_path: Path) -> None:
    value: Any
    for value in [4, -1, 1.0, True, None, "1", [1]]:
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        with case(value):
            mine = begun(folder, LocalPlan("four", FOUR, Fresh(9)))
            with pytest.raises(Refused, match="value: a whole number from 0 to 3 is needed") as refused:
                mine.send(value, slot=0)
            assert repr(value) not in str(refused.value).replace("from 0 to 3", "")
            assert mine.spent == 0


def test_numbers_outside_the_range_are_refused(tmp_path: Path) -> None:
    value: Any
    kind: Any
    for value in [5.1, -0.1, float("nan"), float("inf"), None, "3", True, 3 + 0j]:
        for kind in [OneBit, Piecewise, Hybrid, LaplaceNumber]:
            folder = Path(tempfile.mkdtemp(dir=tmp_path))
            with case(value, kind):
                mine = begun(folder, LocalPlan("range", kind(1.0, (0.0, 5.0)), Fresh(9)))
                with pytest.raises(Refused, match="value: a number"):
                    mine.send(value, slot=0)
                assert mine.spent == 0
                assert mine.send(5.0, slot=0) is not None
                assert mine.send(0, slot=1) is not None


def test_states_of_other_plans_damaged_ones_and_second_starts(tmp_path: Path) -> None:
    plan, other = LocalPlan("four", FOUR, Fresh(3)), LocalPlan("four", FOUR, Fresh(4))
    path = tmp_path / "me.json"
    with pytest.raises(Refused, match="state: there is none yet"):
        Device(path, plan.compiled)
    begun(tmp_path, plan)
    with pytest.raises(Refused, match="belongs to another plan"):
        Device(path, other.compiled)
    with pytest.raises(Refused, match="not begun twice"):
        start(path, plan.compiled)
    text = path.read_text(encoding="utf-8")
    for damaged in (text[:-1], text.replace('"spent": 0', '"spent": -9'), "", "{}", "\x00"):
        path.write_text(damaged, encoding="utf-8")
        with pytest.raises(Refused, match="damaged"):
            Device(path, plan.compiled)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(Refused, match="cannot be read"):
        Device(path, plan.compiled)
    with pytest.raises(Refused, match="cannot be written"):
        start(tmp_path / "nowhere" / "me.json", LocalPlan("four", FOUR, Fresh(3)).compiled)


def test_plans_of_other_versions_are_refused(tmp_path: Path) -> None:
    change: Any
    for change in [{"version": 2}, {"format": "x"}, {"protocol": {"kind": "x"}}, {"mechanism": {"kind": "x"}}]:
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        with case(change):
            plan = {**LocalPlan("four", FOUR, Fresh(3)).compiled, **change}
            if "mechanism" in change:
                plan["mechanism"] = {"kind": "x", "choices": 2}
            with pytest.raises(Refused, match="plan"):  # noqa: PT012 - some are noticed at the first report only
                start(folder / "me.json", plan)
                Device(folder / "me.json", plan).send(0, slot=0)


def test_devices_refuse_a_collector_that_asks_too_often(tmp_path: Path) -> None:
    plan = LocalPlan("asked", FOUR, WindowAsked(10)).compiled
    start(tmp_path / "me.json", plan)
    mine = Device(tmp_path / "me.json", plan)
    assert mine.send(2, slot=5) is not None
    with pytest.raises(Refused, match="budget: 1 reports within 10 slots are all there may be"):
        mine.send(2, slot=14)
    assert mine.send(2, slot=15) is not None
    assert mine.spent == 2


def test_two_threads_never_share_a_charge(tmp_path: Path) -> None:
    plan = LocalPlan("four", FOUR, Fresh(1000))
    begun(tmp_path, plan)
    told: list[dict[str, Any]] = []

    def work(offset: int) -> None:
        mine = Device(tmp_path / "me.json", plan.compiled)
        for slot in range(offset, 60, 2):
            with contextlib.suppress(Refused):  # the other was ahead
                told.append(mine.send(SECRET, slot=slot) or {})

    workers = [threading.Thread(target=work, args=(offset,)) for offset in (0, 1)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len({report["slot"] for report in told}) == Device(tmp_path / "me.json", plan.compiled).spent


def test_nothing_shows_the_value(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    plan = LocalPlan("large", RandomizedResponse(0.01, 2**31 - 1), Fresh(3))
    mine = begun(tmp_path, plan)
    mine.send(1_987_654_321, slot=0)
    shown = capfd.readouterr()
    texts = [repr(mine), shown.out, shown.err, *(path.read_text() for path in tmp_path.iterdir())]
    assert not any("1987654321" in text for text in texts)


@pytest.mark.slow
def test_the_file_works_alone_and_reports_can_be_read(tmp_path: Path) -> None:
    alone = tmp_path / "device.py"
    alone.write_bytes(Path(module.__file__ or "").read_bytes())
    plan = LocalPlan("page", OptimizedUnary(1.0, 12), Fresh(5))
    plan.save(tmp_path / "plan.json")
    code = (
        "import sys, json; sys.path.insert(0, '.'); import device; plan = json.load(open('plan.json'))\n"
        "device.start('me.json', plan); report = device.Device('me.json', plan).send(7, slot=2)\n"
        "print(device.to_json(report)); print(device.to_bytes(report, plan).hex())\n"
        "assert not any(name.startswith(('chronodp', 'numpy')) for name in sys.modules)"
    )
    printed = subprocess.check_output([sys.executable, "-I", "-S", "-c", code], cwd=tmp_path, text=True).split()
    from_lines, malformed = parse_lines(plan, [printed[0]])
    from_bytes, rest = parse_records(plan, bytes.fromhex(printed[1]))
    assert malformed == rest == 0
    assert from_lines.tobytes() == from_bytes.tobytes()
    assert from_lines["slot"].tolist() == [2]


def test_both_forms_of_a_report_say_the_same(tmp_path: Path) -> None:
    mechanism: Any
    for mechanism, value in [
        (FOUR, 1),
        (OptimizedUnary(1.0, 9), 8),
        (LocalHashing(1.0, 10**9), 10**8),
        (OneBit(1.0), 0.5),
        (Piecewise(1.0), 0.5),
        (Hybrid(1.0), 0.5),
        (LaplaceNumber(0.3), -0.5),
    ]:
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        with case(mechanism, value):
            plan = LocalPlan("any", mechanism, Fresh(50))
            mine = begun(folder, plan)
            for slot in range(20):
                report = mine.send(value, slot=slot)
                assert report is not None
                from_lines, malformed = parse_lines(plan, [to_json(report)])
                from_bytes, _ = parse_records(plan, to_bytes(report, plan.compiled))
                assert malformed == 0
                assert from_lines.tobytes() == from_bytes.tobytes()
                assert mechanism.valid(from_bytes["answer"]).all()
                assert json.loads(to_json(report)) == report


@pytest.mark.slow
def test_secrets_have_their_law() -> None:
    """Each count lies within 6.6 standard deviations, which a right one leaves once in 10^10."""
    chance, size = SecretChance(), 20_000

    def near(made: int, expected: float) -> bool:
        return abs(made - size * expected) < 6.6 * math.sqrt(size * expected * (1 - expected))

    for numerator, denominator in ((1, 3), (1, 1), (5, 2)):
        decays = sum(chance.decay(numerator, denominator) for _ in range(size))
        assert near(decays, math.exp(-numerator / denominator))
        assert not near(decays, 0.7 * math.exp(-numerator / denominator))
    assert near(sum(chance.coin(2, 7) for _ in range(size)), 2 / 7)
    assert near(sum(chance.below(5) == 4 for _ in range(size)), 1 / 5)


def test_a_link_to_a_state_is_the_same_budget_and_a_second_name_is_refused(tmp_path: Path) -> None:
    plan = LocalPlan("four", FOUR, Fresh(3)).compiled
    start(tmp_path / "a.json", plan)
    (tmp_path / "b.json").symlink_to(tmp_path / "a.json")
    first = Device(tmp_path / "b.json", plan).send(SECRET, slot=0)
    assert Device(tmp_path / "a.json", plan).send(SECRET, slot=0) == first
    assert (tmp_path / "b.json").is_symlink()
    (tmp_path / "c.json").hardlink_to(tmp_path / "a.json")
    for name in ("a.json", "b.json", "c.json"):
        with pytest.raises(Refused, match="second name"):
            Device(tmp_path / name, plan)


def test_tables_that_tell_more_than_the_plan_states_are_refused(tmp_path: Path) -> None:
    mechanism: Any
    for mechanism in [
        FOUR,
        RandomizedResponse(40.0, 2),
        OptimizedUnary(0.3, 5),
        LocalHashing(2.0, 100),
        OneBit(1.0, (0.0, 5.0)),
        Piecewise(1.0, (0.0, 5.0)),
        Hybrid(2.0, (0.0, 5.0)),
        LaplaceNumber(1.0, (0.0, 5.0)),
    ]:
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        with case(mechanism):
            plan = LocalPlan("one", mechanism, Fresh(3)).compiled
            start(folder / "me.json", plan)
            less = {**plan["epsilon"], "report": plan["epsilon"]["report"] * 0.999}
            for altered in (
                {**plan, "epsilon": less},
                {**plan, "epsilon": {}},
                {**plan, "mechanism": {"kind": "choice"}},
            ):
                with pytest.raises(Refused, match=r"plan: its table (tells more than it states|is damaged)"):
                    start(folder / "other.json", altered)
                with pytest.raises(Refused, match="plan: its table"):
                    Device(folder / "me.json", altered)
            unknown = {key: value for key, value in plan.items() if key != "protocol"}
            with pytest.raises(Refused, match="protocol is not known"):
                start(folder / "other.json", unknown)
            assert not (folder / "other.json").exists()


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


@pytest.mark.kill
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

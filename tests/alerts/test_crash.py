"""Kill -9 in every gap: one debit, one threshold, no alert told that is not counted, and none beyond the last."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

import chronodp as cdp
from chronodp.errors import StreamConflict
from tests import forkserver
from tests.alerts.victim import MAX_ALERTS
from tests.conftest import Trials

pytestmark = pytest.mark.kill


def run(folder: Path, point: str, count: int) -> int:
    return forkserver.run("-m", "tests.alerts.victim", str(folder), point, str(count)).returncode


def told(folder: Path) -> list[str]:
    path = folder / "told.txt"
    return path.read_text(encoding="utf-8").split() if path.exists() else []


@pytest.mark.parametrize("point", ["stream written", "stream committed", "step written", "step committed"])
def test_nothing_is_told_that_is_not_counted(point: str, tmp_path: Path, trials: Trials) -> None:
    thresholds = set()
    for number in range(trials(12, least=3)):
        died = run(tmp_path, point, 1 if point.startswith("stream") else 1 + number % 2)
        with cdp.Ledger(tmp_path / "budget.db") as ledger:
            charges = len(ledger.history("meters"))
            try:
                alarm = cdp.Alert.resume(ledger, "alarm")
            except StreamConflict:
                assert charges == 0
                assert not told(tmp_path)
                continue
            assert charges == 1
            thresholds.add(alarm._newest.threshold)
            periods = [str(alert.period) for alert in alarm.history]
            assert len(periods) == alarm.alerts <= MAX_ALERTS
            announced = [line for line in told(tmp_path) if line != "halted"]
            assert set(announced) <= set(periods)
            assert len(announced) == len(set(announced))
            if died == 0:
                assert alarm.halted
                break
        assert died == -signal.SIGKILL
    assert len(thresholds) <= 1
    if point.startswith("step"):
        assert thresholds

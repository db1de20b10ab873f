from __future__ import annotations

from pathlib import Path

import pytest
from experiments.alerts.__main__ import measure
from experiments.alerts.air import make_days, read_days
from experiments.alerts.detection import measure_detection

pytestmark = pytest.mark.long


def test_more_budget_finds_more_with_few_false_alarms() -> None:
    rows = measure_detection(make_days(), runs=10)
    exponential = [row for row in rows if row.noise == "exponential noise"]
    found = [row.detected for row in exponential]
    assert found == sorted(found)
    assert found[-1] > 0.9
    assert found[0] < 0.2
    assert abs(exponential[-1].delay) < 30
    assert all(row.false_alarms <= 0.075 for row in rows)


def test_a_file_is_read_day_by_day(tmp_path: Path) -> None:
    path = tmp_path / "air.csv"
    path.write_text("date,CO2,Light\n2026-01-01 10:00:00,450,1\n2026-01-02 10:00:00,900,0\n2026-01-02 09:59:00,800,0\n")
    assert [day.tolist() for day in read_days(path)] == [[450.0], [800.0, 900.0]]


def test_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["experiments.alerts"])
    verdicts = measure()
    wrong = [verdict.claim for verdict in verdicts if verdict.verdict == "false"]
    assert wrong == ["the same delay for one noisy threshold, as in the sparse vector technique"]

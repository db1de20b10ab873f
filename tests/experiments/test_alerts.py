from __future__ import annotations

from pathlib import Path

import pytest
from experiments.alerts.air import make_days, read_days
from experiments.alerts.claims import claims
from experiments.alerts.comparisons import chance_of_alarm
from experiments.alerts.detection import measure_detection
from tests.experiments.rooms import check_room, check_words, find_all, series, stated

pytestmark = pytest.mark.slow


@stated
def test_verdicts() -> None:
    findings = find_all(claims(series()))
    check_words(findings, "alerts.json", {})
    assert all(one.word == "as expected" for name, one in findings.items() if name.startswith("N"))
    assert round(chance_of_alarm(), 4) == 0.0536
    check_room(findings, "alerts")


def test_an_alert_is_near_the_bad_air_where_the_budget_is_large() -> None:
    rows = measure_detection(make_days(), runs=5)
    assert abs([row for row in rows if row.noise == "exponential noise"][-1].delay) < 30


def test_a_file_is_read_day_by_day(tmp_path: Path) -> None:
    path = tmp_path / "air.csv"
    path.write_text("date,CO2,Light\n2026-01-01 10:00:00,450,1\n2026-01-02 10:00:00,900,0\n2026-01-02 09:59:00,800,0\n")
    assert [day.tolist() for day in read_days(path)] == [[450.0], [800.0, 900.0]]

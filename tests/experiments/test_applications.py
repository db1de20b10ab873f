from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from experiments.applications.__main__ import measure
from experiments.applications.buildings import read_occupancy
from experiments.applications.linkage import coarsen, singled_out, smallest_class
from experiments.applications.panels import Panel, make_steps, read_panel

pytestmark = pytest.mark.long


def test_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["experiments.applications"])
    verdicts = measure()
    assert len(verdicts) == 21
    assert [verdict.claim for verdict in verdicts if verdict.verdict == "false"] == [
        "noise on the innovations of a filter is private at the price of one measurement",
        "noise for one measurement hides occupancy that shows in the heat",
    ]


def test_classes_hold_k_people_and_equal_values() -> None:
    panel = make_steps(40, days=2)
    for k in (2, 5, 13):
        labels = coarsen(panel, k)
        assert smallest_class(labels) >= k
        for values, classes in zip(panel.values.T, labels.T, strict=True):
            assert all(len(set(classes[values == value])) == 1 for value in values)
            assert (np.diff(classes[np.argsort(values, kind="stable")]) >= 0).all()
        assert labels.max() >= 1


def test_equal_people_are_not_singled_out() -> None:
    same = Panel("2026-06-01", np.ones((12, 48)))
    assert singled_out(coarsen(same, 3), 6) == 0.0


def test_occupancy_is_read_by_the_hour(tmp_path: Path) -> None:
    path = tmp_path / "room.csv"
    minutes = [f"2026-06-0{1 + hour // 24} {hour % 24:02}:{minute}:00,{int(hour >= 24)}" for hour in range(12, 60)
               for minute in ("00", "30")]  # fmt: skip
    path.write_text("date,Occupancy\n" + "\n".join(minutes))
    assert read_occupancy(path).tolist() == [1.0] * 24


def test_a_file_is_read_by_the_hour(tmp_path: Path) -> None:
    path = tmp_path / "meters.csv"
    lines = ["id,when,kwh"]
    for half in range(48 * 2):
        day, hour, minute = 1 + half // 48, half // 2 % 24, "30" if half % 2 else "00"
        lines += [f"{who},2026-06-0{day}T{hour:02}:{minute}:00Z,{who}.5" for who in (1, 2) if (who, half) != (2, 70)]
    lines += [f"2,2026-06-0{day}T{hour:02}:00:00Z,1" for day in (3,) for hour in range(1)]
    path.write_text("\n".join(lines))
    panel = read_panel(path, days=1)
    assert panel.start == "2026-06-01"
    assert panel.values.shape == (2, 24)
    assert panel.values.tolist() == [[3.0] * 24, [5.0] * 24]

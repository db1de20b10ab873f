from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from experiments.applications import accumulation, buildings, information
from experiments.applications.claims import claims
from experiments.applications.linkage import coarsen, singled_out, smallest_class
from experiments.applications.panels import Panel, make_steps, read_loads, read_panel, read_pulses
from experiments.applications.signals import read_occupancy
from tests.experiments.rooms import check_room, check_words, find_all, series, stated

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parent.parent / "golden" / "claims"


@stated
def test_verdicts() -> None:
    findings = find_all(claims(series()))
    check_words(
        findings,
        "applications.json",
        {"A19": "a mechanism with two outputs attains the formula, though Gaussian noise does not"},
    )
    assert findings["A17"].word.startswith("holds only: the rest")
    assert all(one.word == "as expected" for name, one in findings.items() if name.startswith("N"))
    check_room(findings, "applications")


def test_reference_numbers() -> None:
    known = json.loads((GOLDEN / "textbook_numbers.json").read_text(encoding="utf-8"))
    assert [buildings.steady_error(added) for added in buildings.ADDED] == pytest.approx(
        list(known["riccati"].values())
    )
    assert buildings.innovations_change() == pytest.approx(known["innovations"])
    assert accumulation.group_delta(0.5, 1e-6, 24) == pytest.approx(known["group of 24"][1])
    told = json.loads((GOLDEN / "adversaries.json").read_text(encoding="utf-8"))
    rest = [information.told_of_the_rest(memory) for memory in information.MEMORIES]
    assert rest == pytest.approx(list(told["rest, nats"].values()), abs=1e-9)
    itself = [information.told_of_itself(leaving) for leaving in information.LEAVING]
    assert itself == pytest.approx(list(told["itself, bits"].values()))
    found = [information.singled_out_by_bits(leaving) for leaving in information.LEAVING[:3]]
    assert found == pytest.approx(list(told["singled out"].values()), abs=0.015)  # both simulated


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

    path = tmp_path / "loads.csv"
    path.write_text("V1,V2,V3,V4\n1,2,3,4\n0,0,5,5\n")
    assert read_loads(path).values.tolist() == [[3.0, 7.0], [0.0, 10.0]]


def test_pulses_of_long_stays_are_read_and_gaps_filled(tmp_path: Path) -> None:
    path = tmp_path / "vitals.csv"
    rows = [("a", 1, ""), ("a", 2, "80"), ("a", 3, ""), ("b", 1, "70"), ("c", 1, ""), ("c", 2, ""), ("c", 3, "")]
    path.write_text("patient,ICULOS,HR\n" + "\n".join(f"{who},{hour},{pulse}" for who, hour, pulse in rows))
    assert read_pulses(path, hours=3).values.tolist() == [[80.0, 80.0, 80.0]]

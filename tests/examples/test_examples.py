"""Every example runs: on made-up data, and on a table of one's own where it takes one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from examples.notebooks.write import scripts
from tests import forkserver
from tests.conftest import Trials

pytestmark = pytest.mark.kill

ROOT = Path(__file__).parents[2]
SCRIPTS = {path.stem: path for path in scripts()}

# What a reader must have been told at the end, and a file that must be there.
TOLD = {
    "building_occupancy": ("lie in their 95 % intervals", "present.html"),
    "federated_training": ("area under the curve", "north.db"),
    "fleet_of_devices": ("no change proven", "charging.html"),
    "published_for_ever": ("15.1 after 10 years", "for-the-board.html"),
    "smart_meters": ("belongs to another release", "load.html"),
    "stream_with_alerts": ("quiet hours cost nothing", "visitors.html"),
    "ward_vitals": ("To publish", "usual-pulse.html"),
}
# Ten years of twenty thousand homes: `make test` runs one.
SHORTER: dict[str, tuple[tuple[str, ...], str]] = {"published_for_ever": (("--months", "13"), "after 1 year")}


def test_there_is_an_expectation_of_every_example() -> None:
    assert set(TOLD) == set(SCRIPTS)
    listed = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert all(f"({name}.py)" in listed for name in SCRIPTS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_script_runs(name: str, tmp_path: Path, trials: Trials) -> None:
    sentence, file = TOLD[name]
    options: tuple[str, ...] = ()
    if trials(100) < 100:
        options, sentence = SHORTER.get(name, (options, sentence))
    assert sentence in _script(name, tmp_path, *options)
    assert (tmp_path / "out" / file).is_file()


def test_smart_meters_of_ones_own(tmp_path: Path) -> None:
    hours = pd.date_range("2026-02-01", "2026-02-03", freq="1h", inclusive="left")
    rows = {"meter_id": np.repeat(np.arange(20), 48), "read_at": np.tile(hours, 20), "kwh": 0.5}
    pd.DataFrame(rows).to_csv(tmp_path / "own.csv", index=False)
    told = _script("smart_meters", tmp_path, "--data", "own.csv", "--start", "2026-02-01", "--end", "2026-02-03")
    assert "Genuine" in told
    assert "days lie in" not in told


def test_ward_vitals_of_ones_own(tmp_path: Path) -> None:
    rows = {"patient": np.repeat(np.arange(30), 1440), "minute": np.tile(np.arange(1440), 30), "pulse": 70}
    pd.DataFrame(rows).to_csv(tmp_path / "own.csv", index=False)
    assert "in truth 70.0" in _script("ward_vitals", tmp_path, "--data", "own.csv")


def test_a_building_of_ones_own(tmp_path: Path) -> None:
    at = pd.date_range("2026-04-06", "2026-04-08", freq="1h", inclusive="left")
    rows = {"badge": np.arange(480) % 30, "at": np.repeat(at, 10), "zone": "hall", "minutes": 40.0}
    pd.DataFrame(rows).to_csv(tmp_path / "own.csv", index=False)
    days = ("--start", "2026-04-06", "--end", "2026-04-08")
    told = _script("building_occupancy", tmp_path, "--data", "own.csv", *days, "--zones", "hall", "--meals", "hall")
    assert "most in hall" in told


def test_a_fleet_of_ones_own(tmp_path: Path) -> None:
    pd.DataFrame(np.ones((2_000, 9), dtype=int)).to_csv(tmp_path / "own.csv", index=False)
    told = _script("fleet_of_devices", tmp_path, "--data", "own.csv")
    assert "18,000 reports, 10 twice, 1 malformed" in told


def test_a_stream_of_ones_own_twice(tmp_path: Path) -> None:
    start = pd.date_range("2026-04-06", periods=30, freq="1h")
    pd.DataFrame({"start": start, "visitors": 30}).to_csv(tmp_path / "own.csv", index=False)
    first = _script("stream_with_alerts", tmp_path, "--data", "own.csv")
    assert "Goes on with hour 0.\n" in first
    again = _script("stream_with_alerts", tmp_path, "--data", "own.csv")
    assert again.count("Goes on with hour 30.\n") == 2
    assert "30 hours" in again


def test_a_series_of_ones_own_twice(tmp_path: Path) -> None:
    months = pd.date_range("2026-01-01", periods=3, freq="MS")
    rows = {"meter_id": np.repeat(np.arange(50), 3), "month": np.tile(months, 50), "region": "all", "kwh": 250.0}
    pd.DataFrame(rows).to_csv(tmp_path / "own.csv", index=False)
    asked = ("--data", "own.csv", "--start", "2026-01-01", "--months", "3", "--regions", "all")
    first, again = (_script("published_for_ever", tmp_path, *asked) for _ in range(2))
    assert "and 0 issues are out" in first
    assert "and 3 issues are out" in again
    assert "1.81 by now" in again
    assert "lie in their 95 % intervals" not in first


def _script(name: str, folder: Path, *options: str) -> str:
    """Run an example. That a fresh interpreter finds what it imports, notebooks show."""
    code = (
        "import runpy, sys, warnings\n"
        "warnings.simplefilter('error')\n"
        "del sys.argv[0]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    words = ("-c", code, str(SCRIPTS[name]), *options, "--folder", "out")
    program = forkserver.start(*words, cwd=folder, environment={"TMPDIR": str(folder)})
    told, said = program.communicate()
    assert program.wait() == 0, said
    return told

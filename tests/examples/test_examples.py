"""Every example runs: as a notebook on made-up data, and as a script on a table of one's own where it takes one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from examples.notebooks.write import HERE, notebook, scripts
from tests import warm
from tests.conftest import Trials

pytestmark = pytest.mark.processes

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
# Of the others, make test runs the script that they are made of; ten years of twenty thousand homes it runs for one.
IN_KERNELS = {"federated_training", "smart_meters"}
SHORTER: dict[str, tuple[tuple[str, ...], str]] = {"published_for_ever": (("--months", "13"), "after 1 year")}


def test_there_is_an_expectation_of_every_example() -> None:
    assert set(TOLD) == set(SCRIPTS)
    listed = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert all(f"{name}.py" in listed and f"{name}.ipynb" in listed for name in SCRIPTS)


def test_notebooks_are_what_their_scripts_say() -> None:
    assert {path.stem for path in HERE.glob("*.ipynb")} == set(SCRIPTS)
    for name, path in SCRIPTS.items():
        written = (HERE / f"{name}.ipynb").read_text(encoding="utf-8")
        assert written == notebook(path.read_text(encoding="utf-8")), "run python -m examples.notebooks.write"


def test_a_script_becomes_cells() -> None:
    import nbformat

    script = '"""# Title"""\n\n# %%\nx = 1\n\n\n# %% [markdown]\n# Some *words*.\n#\n# - one\n'
    made = nbformat.reads(notebook(script), as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(made)
    assert [(cell.cell_type, cell.source) for cell in made.cells] == [
        ("markdown", "# Title"),
        ("code", "x = 1"),
        ("markdown", "Some *words*.\n\n- one"),
    ]


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_notebook_runs(name: str, tmp_path: Path, trials: Trials) -> None:
    fresh = name in IN_KERNELS or trials(100) == 100
    sentence, file = TOLD[name]
    if fresh:
        told = _notebook(name, tmp_path)
    else:
        options, sentence = SHORTER.get(name, ((), sentence))
        told = _script(name, tmp_path, *options)
    assert sentence in told
    assert len(list(tmp_path.glob(f"*/{file}"))) == 1
    assert not fresh or name == "federated_training" or "application/vnd.plotly.v1+json" in told


def _notebook(name: str, folder: Path) -> str:
    """Run a notebook in a kernel, in a fresh interpreter, and return what its cells show."""
    code = (
        "import sys, nbclient, nbformat\n"
        "made = nbformat.read(sys.argv[1], as_version=4)\n"
        "nbclient.NotebookClient(made, timeout=300, kernel_name='python3').execute()\n"
        "for cell in made.cells:\n"
        "    for output in cell.get('outputs', []):\n"
        "        print(output.get('text', sorted(output.get('data', {}))))\n"
    )
    command = [sys.executable, "-c", code, str(HERE / f"{name}.ipynb")]
    # From Python 3.12 on, tornado's way to a kernel's loop warns of itself.
    warnings = "error,ignore:There is no current event loop:DeprecationWarning"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "TMPDIR": str(folder), "PYTHONWARNINGS": warnings}
    made = subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return made.stdout


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


def test_a_wrong_option_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="unrecognized arguments: --dta"):
        _script("smart_meters", tmp_path, "--dta", "own.csv")


def _script(name: str, folder: Path, *options: str) -> str:
    """Run an example as a script. That a fresh interpreter finds what it imports, its notebook shows."""
    code = (
        "import runpy, sys, warnings\n"
        "warnings.simplefilter('error')\n"
        "del sys.argv[0]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    program = warm.start(
        *("-c", code, str(SCRIPTS[name]), *options, "--folder", "out"), cwd=folder, environment={"TMPDIR": str(folder)}
    )
    told, said = program.communicate()
    assert program.wait() == 0, said
    return told

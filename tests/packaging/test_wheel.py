"""The wheel alone, in an empty environment."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.processes

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(target), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = target.glob("*.whl")
    return built


def test_is_pure_python_and_typed(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "chronodp/py.typed" in names
    parts = (".py", "py.typed", ".css", ".html", ".js", ".json", ".svg")
    assert all(name.endswith(parts) or ".dist-info/" in name for name in names)


def test_works_alone_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty" / ("Scripts" if os.name == "nt" else "bin") / "python"
    options = ["--quiet", "--disable-pip-version-check", "--constraint", str(ROOT / "constraints.txt")]
    subprocess.run([str(python), "-m", "pip", "install", *options, str(wheel)], check=True, capture_output=True)
    code = (
        "import chronodp as cdp; "
        "noise = cdp.randomness.secure().gaussian(1000.0, 5); "
        "cost = cdp.privacy.RepeatedCost(cdp.privacy.LaplaceCost(1.0, 20.0), 1440); "
        "print(len(noise), round(cdp.accounting.pld.epsilon(cost, 1e-6), 3))"
    )
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    printed = subprocess.check_output([python, "-c", code], cwd=tmp_path, env=environment, text=True)
    assert printed.split() == ["5", "10.199"]
    program = python.with_name("chronodp.exe" if os.name == "nt" else "chronodp")
    shown = subprocess.check_output([program, "explain", "--epsilon", "1", "--json"], cwd=tmp_path, text=True)
    assert '"odds_factor"' in shown

"""The wheel alone, with what it says it needs and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from tests.packaging.wheels import lay_out

pytestmark = pytest.mark.kill

ROOT = Path(__file__).parents[2]
CODE = (
    "import chronodp as cdp; "
    "noise = cdp.randomness.secure().gaussian(1000.0, 5); "
    "cost = cdp.privacy.RepeatedCost(cdp.privacy.LaplaceCost(1.0, 20.0), 1440); "
    "print(len(noise), round(cdp.accounting.pld.epsilon(cost, 1e-6), 3))"
)
SHELL = (
    "import sys; from chronodp.cli import main; sys.argv = ['chronodp', 'explain', '--epsilon', '1', '--json']; main()"
)


def test_is_pure_python_and_typed(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "chronodp/py.typed" in names
    parts = (".py", "py.typed", ".css", ".html", ".js", ".json", ".svg")
    assert all(name.endswith(parts) or ".dist-info/" in name for name in names)


def test_pinned_libraries_take_the_first_python_that_is_promised() -> None:
    """Debian 12 has Python 3.11.2: a library that asks for 3.11.5 would end the set-up there."""
    promised = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    first = promised.removeprefix(">=") + ".0"
    pinned = {line.partition("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().splitlines()}
    asked = {
        found.name: str(found.metadata.json.get("requires_python", ""))
        for found in distributions()
        if found.name.lower() in pinned
    }
    assert len(asked) > 100
    assert not {name: python for name, python in asked.items() if first not in SpecifierSet(python)}


def test_needs_nothing_that_it_does_not_name(wheel: Path, tmp_path: Path) -> None:
    lay_out(wheel, tmp_path)
    assert not (tmp_path / "torch").exists()  # of an extra
    begin = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); "
    alone = [sys.executable, "-I", "-S", "-c"]  # without the environment of tests
    assert subprocess.check_output([*alone, begin + CODE], cwd=tmp_path, text=True).split() == ["5", "10.199"]
    assert '"odds_factor"' in subprocess.check_output([*alone, begin + SHELL], cwd=tmp_path, text=True)
    lost = subprocess.run([*alone, begin + "import hypothesis"], cwd=tmp_path, capture_output=True, check=False)
    assert lost.returncode  # what is not named cannot be had


@pytest.mark.stated  # the test before has the same libraries
def test_works_alone_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty" / ("Scripts" if os.name == "nt" else "bin") / "python"
    options = ["--quiet", "--disable-pip-version-check", "--constraint", str(ROOT / "constraints.txt")]
    subprocess.run([str(python), "-m", "pip", "install", *options, str(wheel)], check=True, capture_output=True)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    printed = subprocess.check_output([python, "-c", CODE], cwd=tmp_path, env=environment, text=True)
    assert printed.split() == ["5", "10.199"]
    program = python.with_name("chronodp.exe" if os.name == "nt" else "chronodp")
    shown = subprocess.check_output([program, "explain", "--epsilon", "1", "--json"], cwd=tmp_path, text=True)
    assert '"odds_factor"' in shown

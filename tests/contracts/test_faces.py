"""The contracts on imports refuse what they should: each is tried on a small house that breaks it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTRACTS = """
[importlinter]
root_package = house
contract_types =
    faces: tests.contracts.imports.FacesContract
    circles: tests.contracts.imports.CirclesContract

[importlinter:contract:faces]
name = Rooms meet at their faces
type = faces
container = house

[importlinter:contract:circles]
name = No circle of files
type = circles
"""
HOUSE = {
    "house/__init__.py": "",
    "house/low/__init__.py": "from house.low.part import shown as shown, tool\n\n__all__ = ['tool']\n",
    "house/low/part.py": "def tool(): ...\n\n\ndef shown(): ...\n",
    "house/high/__init__.py": "",
    "house/high/work.py": "from house.low import shown, tool\n",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "2 kept, 0 broken"),
        ({"house/high/work.py": "from house.low.part import tool\n"}, "house.high.work imports house.low.part"),
        ({"house/high/work.py": "def late():\n    from house.low.part import tool\n"}, "imports house.low.part"),
        (
            {"house/low/part.py": "from house.low import other\n", "house/low/other.py": "import house.low.part\n"},
            "circle",
        ),
    ],
    ids=["kept", "past a face", "past a face, late", "circle"],
)
def test_a_house_is_held_to_its_contracts(tmp_path: Path, changed: dict[str, str], said: str) -> None:
    for name, text in (HOUSE | changed | {".importlinter": CONTRACTS}).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    paths = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "COLUMNS": "200"}
    done = subprocess.run(command, cwd=tmp_path, env=paths, capture_output=True, text=True, check=False)
    assert said in done.stdout
    assert (done.returncode == 0) == (not changed)

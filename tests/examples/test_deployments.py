"""Every deployment runs, says its unit, price and error, is short, and publishes no group of one person."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from tests import forkserver

import chronodp as cdp

pytestmark = pytest.mark.kill

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples/deployments"
PROGRAMS = {path.stem: path for path in sorted(FOLDER.glob("[!_]*.py")) if path.stem != "made_up"}
OUTSIDE = {"browser_domains", "exposure_notifications", "keyboard_model"}
MOST_LINES = 20


def run(name: str, folder: Path) -> str:
    """Run a deployment as a module, with warnings as errors; what it leaves goes to ``folder``."""
    code = (
        "import runpy, sys, warnings\n"
        "warnings.simplefilter('error')\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "runpy.run_module(sys.argv[2], run_name='__main__')\n"
    )
    module = f"examples.deployments.{name}"
    words = ("-c", code, str(ROOT), module)
    program = forkserver.start(*words, cwd=folder, environment={"TMPDIR": str(folder)})
    told, said = program.communicate()
    assert program.wait() == 0, said
    return told


def release_of(folder: Path, name: str) -> tuple[cdp.Release, pd.DataFrame]:
    """Return what a program saved, and the table that it read."""
    (saved,) = folder.glob(f"{name}-*/release.json")
    return cdp.Release.load(saved), pd.read_parquet(saved.parent / "table.parquet")


def test_each_says_what_it_is_is_short_and_is_listed() -> None:
    listed = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert len(PROGRAMS) == 17
    assert all(f"deployments/{name}.py" in listed for name in PROGRAMS)
    for name, path in PROGRAMS.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        told = ast.get_docstring(tree) or ""
        for heading in ("What they did.", "Unit and price.", "What is different here."):
            assert f"**{heading}**" in told, name
        assert ("**What is missing.**" in told) == (name in OUTSIDE), name
        body = [node for node in tree.body[1:] if not isinstance(node, ast.Import | ast.ImportFrom)]
        lines = {line for node in body for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
        assert len(lines) <= MOST_LINES, name


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[str, Path]]:
    """Run each deployment once: what it tells, and the folder of what it leaves."""

    @functools.cache
    def once(name: str) -> tuple[str, Path]:
        folder = tmp_path_factory.mktemp(name)
        return run(name, folder), folder

    return once


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_runs_and_says_its_error(name: str, ran: Callable[[str], tuple[str, Path]]) -> None:
    told, _ = ran(name)
    assert "Error" in told or name == "keyboard_model"


@pytest.mark.parametrize(("name", "column", "who"), [("pageviews", "page", "device"), ("hiring", "employer", "person")])
def test_nothing_of_one_person_is_found(
    name: str, column: str, who: str, ran: Callable[[str], tuple[str, Path]]
) -> None:
    _, folder = ran(name)
    release, table = release_of(folder, name)
    held = table.groupby(column)[who].nunique()
    assert release.keys
    assert (held == 1).sum() > 100
    assert held[list(release.keys)].min() > 5

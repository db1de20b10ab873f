"""What must be true of every room."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import chronodp
from chronodp import errors
from chronodp.accounting import basic, gather, renyi
from chronodp.privacy import Cost, Event, FailureCost, History, Report, Swap, Unit, User, UserPeriod, Window, dump, load

ROOT = Path(__file__).parents[2]


@functools.cache
def modules() -> list[ModuleType]:
    """Return all of the package; loaded when a test asks, and not by whoever looks for tests."""
    found = pkgutil.walk_packages(chronodp.__path__, prefix="chronodp.")
    return [chronodp, *(importlib.import_module(info.name) for info in found)]


def _constants_classes_functions(name: str) -> tuple[bool, bool, str]:
    return not name.isupper(), not name[0].isupper(), name


def test_all_is_complete_and_in_order() -> None:
    assert len(modules()) > 200
    for module in modules():
        listed = module.__all__
        assert listed == sorted(listed, key=_constants_classes_functions), module
        assert [name for name in listed if getattr(module, name) is None] == [], module


@pytest.mark.kill
def test_heavy_libraries_are_imported_late() -> None:
    code = "import sys, chronodp; print(','.join(sorted(m.split('.')[0] for m in sys.modules)))"
    loaded = set(subprocess.check_output([sys.executable, "-c", code], text=True).strip().split(","))
    heavy = "scipy dp_accounting mpmath typer rich pandas absl duckdb pyarrow plotly pyspark sqlglot torch opacus"
    assert not loaded & {*heavy.split(), "statsmodels"}


def test_every_error_is_in_the_tree_and_in_its_drawing() -> None:
    drawing, _, below = (errors.__doc__ or "").partition("\n\nOne thing is no refusal: ")
    for name in errors.__all__:
        kind = getattr(errors, name)
        warns = issubclass(kind, UserWarning)
        assert warns != issubclass(kind, errors.ChronodpError)
        assert re.search(rf"\b{name}\b", below if warns else drawing), name


def test_every_unit_and_cost_has_a_json_form_and_a_price() -> None:
    units = [
        Event(),
        User(),
        UserPeriod("1D"),
        Window(24),
        Swap(8),
        Report(),
        *(History(relation) for relation in ("any", "same", "crossing")),
    ]
    for unit in units:
        assert load(dump(unit), Unit) == unit
        assert unit.protects
        assert unit.does_not_protect not in ("", unit.protects)
    seen: set[type] = set()
    documents: list[dict[str, Any]] = [
        {"kind": "pure", "epsilon": 0.5},
        {"kind": "bounded_range", "epsilon": 0.5},
        {"kind": "approximate", "epsilon": 0.5, "delta": 1e-9},
        {"kind": "failure", "delta": 1e-9},
        {"kind": "laplace", "sensitivity": 1.0, "scale": 2.0},
        {"kind": "gaussian", "sensitivity": 1.0, "sigma": 2.0},
        {"kind": "sampled_gaussian", "sensitivity": 1.0, "sigma": 2.0, "rate": 0.1},
        {"kind": "randomized_response", "epsilon": 0.5, "choices": 3},
        {"kind": "sequence", "costs": [{"kind": "pure", "epsilon": 0.5}]},
        {"kind": "repeated", "cost": {"kind": "pure", "epsilon": 0.5}, "times": 2},
        {
            "kind": "assumed",
            "cost": {"kind": "pure", "epsilon": 0.5},
            "assumption": {"kind": "assumption", "name": "a", "statement": "b"},
        },
    ]
    for document in documents:
        cost = load(document, Cost)
        seen.add(type(cost))
        assert str(cost)
        failure = isinstance(cost, FailureCost)  # no release of its own: its price is its delta
        assert gather(cost).count >= 1 or failure
        for delta in (1e-10,) if failure else (1e-6, 1e-10):
            assert basic.epsilon(cost, delta) > 0
            assert renyi.epsilon(cost, delta) > 0
    assert seen == set(Cost.__args__)


def test_arguments_of_claims_are_pages_that_exist() -> None:
    from tests.audit.mutants import MUTANTS

    for mutant in MUTANTS:
        assert (ROOT / mutant.claim.argument).is_file()
    mentioned = set()
    for path in (ROOT / "src").rglob("*.py"):
        mentioned |= set(re.findall(r"docs/explanation/[\w/-]+\.md", path.read_text(encoding="utf-8")))
    assert mentioned
    for page in mentioned:
        assert (ROOT / page).is_file(), page


@pytest.mark.slow
def test_the_project_needs_nothing_of_one_machine() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    paths = tracked.stdout.split() or [str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.py")]
    for path in paths:
        if path.endswith((".py", ".md", ".toml", ".txt", "Makefile", "run")) and (ROOT / path).is_file():
            text = (ROOT / path).read_text(encoding="utf-8")
            assert not re.search(r"(?<![\w.])/(work|root|home|tmp)/", text), path

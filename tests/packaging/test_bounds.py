"""What stands at a door has no release with a known flaw: bounds say so, and what is installed keeps to them."""

from __future__ import annotations

import tomllib
from importlib.metadata import version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[2]
LAST_FLAWED = {"starlette": "1.3.0", "h11": "0.15.0"}
"""The last releases with known flaws: CVE-2025-62727, CVE-2026-48818, -54282 and -54283; CVE-2025-43859."""


def extras() -> dict[str, list[Requirement]]:
    written = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {name: list(map(Requirement, listed)) for name, listed in written["optional-dependencies"].items()}


def pinned() -> dict[str, Version]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    found = (line.split("==") for line in lines if "==" in line and not line.startswith("#"))
    return {name.strip().lower(): Version(number.partition(";")[0].strip()) for name, number in found}


def test_doors_declare_bounds_above_known_flaws_and_what_is_installed_keeps_to_them() -> None:
    for extra in ("service", "federated"):
        for bound in extras()[extra]:
            assert bound.specifier.contains(version(bound.name), prereleases=True), str(bound)
    for name, flawed in LAST_FLAWED.items():
        (bound,) = (one for one in extras()["service"] if one.name == name)
        assert not bound.specifier.contains(flawed), bound
        assert not bound.specifier.contains("0.1"), bound
        assert bound.specifier.contains(pinned()[name]), bound

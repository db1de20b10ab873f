"""Gets each library that chronodp is measured beside, one by one: one that cannot be had stops no other.

``python -m benchmarks.peers`` installs what the extra ``peers`` names into the environment it runs in.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["install", "missing", "names"]

ROOT = Path(__file__).parents[1]


def names() -> dict[str, str]:
    """Return what to ask pip for, by the name of each peer."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    return {re.split(r"[^\w.-]", wanted, maxsplit=1)[0]: wanted for wanted in extras["peers"]}


def missing() -> list[str]:
    """Return the peers that are not installed here."""
    found = []
    for name in names():
        try:
            version(name)
        except PackageNotFoundError:
            found.append(name)
    return found


def install() -> list[str]:
    """Install every peer by a call of its own, and return those that pip could not get."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    failed = []
    for name, wanted in names().items():
        command = [*pip, "--constraint", str(ROOT / "constraints.txt"), wanted]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            said = [line for line in done.stderr.splitlines() if line.startswith("ERROR:")]
            reason = next(iter(said), "pip gave no reason")
            print(f"{name} cannot be had here, and is left out of the tables: {reason}", file=sys.stderr)
            failed.append(name)
    return failed


if __name__ == "__main__":
    install()
    if lacking := missing():  # among them what a marker leaves out on this machine, of which pip says nothing
        print(f"not installed, as the tables will say: {', '.join(lacking)}", file=sys.stderr)

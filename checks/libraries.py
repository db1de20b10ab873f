"""``python -m checks.libraries``: have mypy read the libraries that are used here once, when the project is set up.

Half of what it reads belongs to others and stays as it is; what it knows of that is kept beside what it learns later.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from checks.parts import ROOT

__all__ = ["imported"]

_FOLDERS = ("src", "tests", "experiments", "benchmarks", "examples", "checks")


def imported() -> list[str]:
    """Return the modules of libraries that files of the project import, and that are installed."""
    ours = {*_FOLDERS, "chronodp"}
    names = {name for folder in _FOLDERS for path in (ROOT / folder).rglob("*.py") for name in _imports(path)}
    return sorted(name for name in names if name.partition(".")[0] not in ours and _is_installed(name))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name.partition(".")[0]) is not None
    except (ImportError, ValueError):
        return False


def main() -> int:
    """Run mypy on a file that imports them all."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "libraries.py"
        path.write_text("".join(f"import {name}\n" for name in imported()), encoding="utf-8")
        command = [sys.executable, "-m", "mypy", "--no-error-summary", str(path)]
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)  # what is wrong there is told later
    return 0


if __name__ == "__main__":
    sys.exit(main())

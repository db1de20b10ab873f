"""Remembers which parts of ``make verify`` held with the files as they are, so that a run goes on where it stopped."""

from __future__ import annotations

import functools
import hashlib
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from checks.parts import ROOT, Part

__all__ = ["Stamps", "fingerprint"]

_FOLDERS = ("benchmarks", "checks", "docs", "examples", "experiments", "src", "tests")
_INSTALLS = ("Makefile", "constraints.txt", "pyproject.toml")
_MADE = ("docs/_build/", "docs/examples/generated/", "docs/reference/generated/")
_KINDS = {".css", ".csv", ".html", ".ipynb", ".js", ".json", ".md", ".py", ".toml", ".txt"}


def fingerprint(names: Sequence[str] = ()) -> str:
    """Return a digest of every file that a check reads, of machine and Python.

    Args:
        names: of folders and files; none means all.
    """
    digest = hashlib.sha256(f"{platform.machine()} {platform.system()} {sys.version}".encode())
    files = [path for path in ROOT.iterdir() if path.is_file() and not path.name.startswith(".")]
    if names:
        files = [path for path in files if path.name in _INSTALLS]
    for place in (ROOT / name for name in names or _FOLDERS):
        inside = place.rglob("*") if place.is_dir() else [place]
        files += [path for path in inside if path.suffix in _KINDS and path.is_file()]
    for path in sorted(files):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(_MADE) and "/__pycache__/" not in name:
            digest.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


class Stamps:
    """Files in a folder, one for each part that held, with the fingerprint it held at; and what each part printed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(exist_ok=True)
        self._now = functools.cache(fingerprint)

    def held(self, part: Part) -> bool:
        """Return whether a part held with the same files."""
        path = self._path(part, ".held")
        return path.is_file() and path.read_text(encoding="ascii") == self._now(part.reads)

    def keep(self, part: Part, *, held: bool, output: str) -> None:
        """Write down what a part printed, and whether it held."""
        self._path(part, ".log").write_text(output, encoding="utf-8")
        if held:
            self._path(part, ".held").write_text(self._now(part.reads), encoding="ascii")
        else:
            self._path(part, ".held").unlink(missing_ok=True)

    def _path(self, part: Part, ending: str) -> Path:
        return self._folder / (part.name.replace(" ", "-") + ending)

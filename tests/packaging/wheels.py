"""An environment that holds a wheel, what it says it needs, and nothing else."""

from __future__ import annotations

import os
import shutil
import sys
import zipfile
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

__all__ = ["lay_out", "needed"]

SOURCE = Path(__file__).parents[2] / "src"


def needed(
    requirements: Iterable[str] | None, found: dict[str, Distribution], extras: Iterable[str] = ()
) -> dict[str, Distribution]:
    """Return the distributions that requirements lead to, without any extra that nobody asked for."""
    for text in requirements or []:
        wanted = Requirement(text)
        if wanted.marker is None or any(wanted.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            name = wanted.name.lower().replace("_", "-")
            if name not in found:
                found[name] = distribution(name)
                needed(found[name].requires, found, wanted.extras)
    return found


def lay_out(wheel: Path, folder: Path, *, extra: str = "", also: Iterable[str] = ()) -> None:
    """Unpack a wheel into a folder, beside links to what it says it needs, by itself or with an extra."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
        _keep_compiled(archive.namelist(), folder)
        (told,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        lines = archive.read(told).decode().split("\n\n")[0].splitlines()
    asked = [line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")]
    for one in needed(also, needed(asked, {}, [extra])).values():
        for file in one.files or []:
            first = file.parts[0]
            if first not in ("..", "__pycache__") and not (folder / first).exists():
                (folder / first).symlink_to(Path(str(one.locate_file(first))))


def _keep_compiled(names: Iterable[str], folder: Path) -> None:
    """Take what Python compiled of the same files here, and where it looks for that: compiling takes four seconds."""
    for name in names:
        file, source = folder / name, SOURCE / name
        if source.is_file() and source.suffix == ".py" and source.read_bytes() == file.read_bytes():
            told = source.stat()
            os.utime(file, ns=(told.st_atime_ns, told.st_mtime_ns))  # by which Python knows that it is the same
            for compiled in (source.parent / "__pycache__").glob(f"{source.stem}.{sys.implementation.cache_tag}.pyc"):
                (file.parent / "__pycache__").mkdir(exist_ok=True)
                shutil.copy(compiled, file.parent / "__pycache__")

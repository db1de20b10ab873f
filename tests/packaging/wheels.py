"""An environment that holds a wheel, what it says it needs, and nothing else."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

__all__ = ["lay_out", "needed"]


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
        (told,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        lines = archive.read(told).decode().split("\n\n")[0].splitlines()
    asked = [line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")]
    for one in needed(also, needed(asked, {}, [extra])).values():
        for file in one.files or []:
            first = file.parts[0]
            if first not in ("..", "__pycache__") and not (folder / first).exists():
                (folder / first).symlink_to(Path(str(one.locate_file(first))))

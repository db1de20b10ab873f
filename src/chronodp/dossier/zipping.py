"""A dossier as one file for an e-mail: the folder packed, the same bytes every time."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

from chronodp.errors import InvalidArgument
from chronodp.ledger import sync_folder

__all__ = ["check_zip", "zip_folder"]

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first time that a zip file can tell


def check_zip(folder: Path) -> Path:
    """Return the zip file beside a folder, if that name is free."""
    place = folder.absolute().with_name(f"{folder.absolute().name}.zip")
    if place.exists() or place.is_symlink():
        raise InvalidArgument("zip", str(place), "free: move the file of that name away, or write to another folder")
    return place


def zip_folder(folder: Path) -> Path:
    """Pack a folder that was written, itself included, into a zip file beside it, all of it or nothing."""
    place = check_zip(folder)
    draft = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        with zipfile.ZipFile(draft, "x", zipfile.ZIP_DEFLATED) as packed:
            for path in sorted(one for one in folder.rglob("*") if one.is_file()):
                entry = zipfile.ZipInfo(f"{folder.name}/{path.relative_to(folder).as_posix()}", _EPOCH)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                with path.open("rb") as file, packed.open(entry, "w", force_zip64=True) as into:
                    while piece := file.read(1 << 20):
                        into.write(piece)
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.rename(place)
        sync_folder(place)
    except OSError as error:
        raise InvalidArgument("zip", str(place), f"a file that can be written ({error.strerror})") from None
    finally:
        draft.unlink(missing_ok=True)
    return place

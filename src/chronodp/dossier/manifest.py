"""The manifest of a dossier: every file with its digest, signed with the ledger's key.

The signature stands in a file of its own, so that what is signed is the bytes of ``manifest.json`` and nothing needs to
be written again to check it. Through the manifest it covers every file of the folder: the page and the tables too,
which no certificate knows of.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chronodp.dossier.facts import Facts

__all__ = ["FORMAT", "LITTER", "MANIFEST", "SIGNATURE", "files_in", "write_manifest"]

FORMAT = 1
MANIFEST, SIGNATURE = "manifest.json", "manifest.sig"
LITTER = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
"""Files that desktops leave in folders which somebody looked at."""


def write_manifest(folder: Path, facts: Facts) -> None:
    """Write the manifest of all files in a folder, and its signature; an error if the ledger's keys are not at hand."""
    keys = facts.ledger.keys
    content = {
        "kind": "dossier",
        "format": FORMAT,
        "made": facts.made.isoformat(),
        "version": facts.version,
        "dataset": facts.dataset,
        "public_key": facts.public_key,
        "head": facts.head,
        "files": [
            {"path": path, "sha256": digest_of(file), "bytes": file.stat().st_size} for path, file in files_in(folder)
        ],
    }
    signed = json.dumps(content, ensure_ascii=False, indent=1).encode()
    (folder / MANIFEST).write_bytes(signed)
    (folder / SIGNATURE).write_text(keys.sign(signed), encoding="ascii")


def files_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield every file of a dossier but its manifest, by the path that a manifest has of it, in their order."""
    found = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}
    for path in sorted(found.keys() - {MANIFEST, SIGNATURE}):
        if found[path].name not in LITTER:
            yield path, found[path]


def digest_of(file: Path) -> str:
    """Return the SHA-256 of a file, of which a piece at a time is read."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()

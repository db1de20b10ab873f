"""The manifest of a dossier: every file with its digest, signed with the ledger's key.

The signature stands in a file of its own, so that the bytes of ``manifest.json`` are what is signed and nothing needs
to be written again to check it. Through the manifest it covers every file of the folder: the page and the tables too,
which no certificate knows of.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from chronodp.dossier.facts import Facts

__all__ = ["FORMAT", "MANIFEST", "SIGNATURE", "files_in", "signed_manifest"]

FORMAT = 1
MANIFEST, SIGNATURE = "manifest.json", "manifest.sig"
_LITTER = frozenset({".DS_Store", "Thumbs.db"})  # what desktops leave in folders


def signed_manifest(facts: Facts, listed: Sequence[tuple[str, str, int]]) -> dict[str, bytes]:
    """Return the manifest and its signature, as files by their names.

    Args:
        facts: of the dossier; the keys of its ledger must be at hand.
        listed: path, SHA-256 and size of every other file.
    """
    content = {
        "kind": "dossier",
        "format": FORMAT,
        "made": facts.made.isoformat(),
        "version": facts.version,
        "dataset": facts.dataset,
        "public_key": facts.public_key,
        "head": facts.head,
        "files": [{"path": path, "sha256": digest, "bytes": size} for path, digest, size in listed],
    }
    signed = json.dumps(content, ensure_ascii=False, indent=1).encode()
    return {MANIFEST: signed, SIGNATURE: facts.ledger.keys.sign(signed).encode("ascii")}


def files_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield every file of a dossier but its manifest, by the path that a manifest has of it, in their order."""
    found = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}
    for path in sorted(found.keys() - {MANIFEST, SIGNATURE}):
        if found[path].name not in _LITTER:
            yield path, found[path]

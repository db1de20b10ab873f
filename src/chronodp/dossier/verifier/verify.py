"""Check a dossier without the code that wrote it: ``python verify.py [FOLDER [PUBLIC_KEY]]``.

The manifest must be signed and list all files, every certificate be signed and in its place of the chain, each release
be the one its certificate was signed for, and its table show the signed numbers. Exit code 1 and a line a fault, or 0.
"""

from __future__ import annotations

import base64
import csv
import json
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

__all__ = ["check"]
SHOWN = {"count", "sum", "scaled_sum", "histogram", "row_histogram", "active", "total"}  # in tables as they were signed
UNSIGNED = "the signature does not match: the content was changed, or signed with another key"


def _signed(key: str, signature: bytes, content: bytes) -> bool:
    try:
        raw = base64.b64decode(signature, validate=True)
        Ed25519PublicKey.from_public_bytes(base64.b64decode(key, validate=True)).verify(raw, content)
        return base64.b64encode(raw) == signature  # its last digit has bits to spare
    except (InvalidSignature, ValueError):
        return False


def _chain(chain: Any, manifest: Any, key: str) -> Iterator[str]:
    yield from (f"its {one} is not the manifest's" for one in ("dataset", "public_key") if chain[one] != manifest[one])
    before, place = "0" * 64, 0
    for place, link in enumerate(chain["links"], 1):
        if not _signed(key, link["signature"].encode(), link["body"].encode()):
            return (yield f"link {place}: {UNSIGNED}")
        said = json.loads(link["body"])
        if said["dataset"] != chain["dataset"]:
            return (yield f"link {place} is of another dataset's chain: it was added")
        if said["number"] != place:
            what = "before it is missing" if said["number"] > place else "is repeated or out of order"
            return (yield f"link {place} is numbered {said['number']}: a link {what}")
        if said["previous"] != before:
            return (yield f"link {place} does not follow link {place - 1}: one of them was exchanged")
        before = sha256(link["body"].encode()).hexdigest()
    if before != chain["head"] or before != manifest["head"]:
        yield f"the chain of {place} links does not end at the given head: newer links are missing"


def _release(number: int, links: list[Any], table: bytes | None, release: str, link: Any) -> Iterator[str]:
    if [link] != links[number - 1 : number]:
        yield f"its certificate is not link {number} of the chain"
    elif sha256(release.encode()).hexdigest() != json.loads(link["body"])["release"]:
        yield "the certificate is genuine but belongs to another release"
    elif table is not None and '"kind":"release"' in release and (signed := _numbers(**json.loads(release))):
        shown = [float(row["value"]) for row in csv.DictReader(table.decode().split("\n"))]
        wrong = [row for row in range(max(len(shown), len(signed))) if shown[row : row + 1] != signed[row : row + 1]]
        yield from (f"row {row + 1} of its table does not show the signed number" for row in wrong[:1])


def _numbers(design: Any = None, noisy: Any = None, **_: Any) -> list[float]:
    of: Any = design["table"]["measure"] if design and "measured" not in design and type(noisy) is list else {}
    return [n * design["noises"][0]["step"] for n in noisy[0]] if of.get("kind") in SHOWN and "clips" not in of else []


def check(files: dict[str, bytes], given: str = "") -> Iterator[str]:
    """Yield what is wrong and where, of a dossier's files by their paths."""
    where = "manifest.json"
    try:
        manifest = json.loads(files[where])
        held = {("dossier", 1): manifest["files"]}[manifest["kind"], manifest["format"]]  # no other format is known
        listed = {one["path"]: (one["sha256"], one["bytes"]) for one in held}
        if given not in ("", key := manifest["public_key"]):
            yield f"{where}: it names another public key than the one given"
        if not _signed(given or key, files.get("manifest.sig", b""), files[where]):
            yield f"{where}: {UNSIGNED}"
        for path in sorted({*files, *listed} - {"manifest.json", "manifest.sig"}):
            if path not in files or path not in listed:
                yield f"{path}: it is {'missing' if path in listed else 'not in the manifest: it was added'}"
            elif (sha256(files[path]).hexdigest(), len(files[path])) != listed[path]:
                yield f"{path}: it is not the file that the manifest lists: it was changed"
        chain = json.loads(files[where := "chain.json"])
        yield from (f"{where}: {what}" for what in _chain(chain, manifest, given or key))
        for where in sorted(path for path in files if path.startswith("releases/") and path.endswith(".json")):
            release, table = json.loads(files[where]), files.get(f"numbers/{where[9:-5]}.csv")
            yield from (f"{where}: {what}" for what in _release(int(where[9:-5]), chain["links"], table, **release))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError):
        yield f"{where}: it is missing, or not written as in a dossier"


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name not in (".DS_Store", "Thumbs.db")]
    faults = list(check({path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}, *sys.argv[2:3]))
    print("\n".join(ascii(fault)[1:-1] for fault in faults) or "Valid; means and Arrow files by their digests alone.")
    sys.exit(bool(faults))

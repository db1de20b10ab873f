"""Whether a dossier is what its owner signed: its files, its chain, its releases and the tables made of them.

The two verifiers that a dossier holds do the same without this library, and name faults in the same words. This one
alone makes every table again from the signed release, and reads the numbers in Arrow files.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from chronodp.dossier.manifest import FORMAT, MANIFEST, SIGNATURE, files_in
from chronodp.dossier.published import Published
from chronodp.errors import CertificateInvalid, ChronodpError, InvalidArgument, UnknownDocument
from chronodp.ledger import BEGINNING, SignedLink, check_public_key, check_signature, digest, load_release, verify_chain
from chronodp.privacy import check_path
from chronodp.reading import parse_json
from chronodp.report import frame_as_csv

__all__ = ["Verified", "verify_dossier"]

_CHAIN, _RELEASES, _HELD = "chain.json", "releases/", (".json", ".arrow")
_MANIFEST = {"kind": str, "format": int, "dataset": str, "public_key": str, "head": str, "files": list}
_FILE = {"path": str, "sha256": str, "bytes": int}
_LINKS = {"dataset": str, "public_key": str, "head": str, "links": list}
_LINK = {"body": str, "signature": str}
_SAME = 1e-9  # relative: ends of intervals are computed, and may differ in their last digits between machines


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found in a dossier's folder.

    Attributes:
        faults: what is wrong and where, a sentence each; none if everything is as it was signed.
        dataset: whose releases these are; this and what follows only where nothing is wrong.
        public_key: with which everything was signed.
        files: how many the manifest lists.
        links: how many certificates the chain has.
        releases: how many of them have their release in the folder.
    """

    faults: tuple[str, ...]
    dataset: str = ""
    public_key: str = ""
    files: int = 0
    links: int = 0
    releases: int = 0


def verify_dossier(folder: str | Path, *, public_key: str | None = None, head: str | None = None) -> Verified:
    """Return every fault of a dossier.

    Args:
        folder: of the dossier.
        public_key: the owner's; the folder's own if not given, which shows that it is whole and not who made it.
        head: digest of the newest link, if it is known; the manifest's own if not given.
    """
    place = check_path(folder)
    if public_key is not None:
        check_public_key(public_key)
    try:
        faults = tuple(_faults(place, public_key, head))
    except UnicodeEncodeError:
        raise InvalidArgument("folder", "a name with halves of letters", "the path of a folder") from None
    if faults:
        return Verified(faults)
    manifest, chain = _read(place, MANIFEST, _MANIFEST), _read(place, _CHAIN, _LINKS)
    releases = sum(path.startswith(_RELEASES) for path, _ in files_in(place))
    files, links = len(manifest["files"]), len(chain["links"])
    return Verified((), manifest["dataset"], manifest["public_key"], files, links, releases)


def _faults(folder: Path, given: str | None, head: str | None) -> Iterator[str]:
    where = MANIFEST
    try:
        manifest = _read(folder, where, _MANIFEST)
        if (manifest["kind"], manifest["format"]) != ("dossier", FORMAT):
            raise UnknownDocument("not a manifest of this format")
        listed = {one["path"]: (one["sha256"], one["bytes"]) for one in _each(manifest["files"], _FILE)}
        key = check_public_key(manifest["public_key"]) if given is None else given
        if key != manifest["public_key"]:
            yield f"{where}: it names another public key than the one given"
        yield from (f"{where}: {what}" for what in _signature_faults(folder, key))
        yield from _file_faults(dict(files_in(folder)), listed)
        where = _CHAIN
        chain = _read(folder, where, _LINKS)
        heads = {chain["head"], manifest["head"], manifest["head"] if head is None else head}
        yield from (f"{where}: {what}" for what in _chain_faults(chain, manifest, key, heads))
        for path, file in files_in(folder):
            if path.startswith(_RELEASES) and file.suffix in _HELD:
                where = path
                table = folder / "numbers" / f"{file.stem}.csv"
                yield from (f"{where}: {what}" for what in _release_faults(file, chain["links"], table))
    except (ChronodpError, OSError):
        yield f"{where}: it is missing, or not written as in a dossier"


def _signature_faults(folder: Path, key: str) -> Iterator[str]:
    signature = folder / SIGNATURE
    try:
        said = signature.read_bytes().decode("latin-1") if signature.is_file() else ""
        check_signature(key, said, (folder / MANIFEST).read_bytes())
    except CertificateInvalid as error:
        yield str(error)


def _file_faults(files: dict[str, Path], listed: dict[str, Any]) -> Iterator[str]:
    for path in sorted({*files, *listed}):
        if path not in files:
            yield f"{path}: it is missing"
        elif path not in listed:
            yield f"{path}: it is not in the manifest: it was added"
        elif (_digest(files[path]), files[path].stat().st_size) != listed[path]:
            yield f"{path}: it is not the file that the manifest lists: it was changed"


def _chain_faults(chain: Any, manifest: Any, key: str, heads: set[str]) -> Iterator[str]:
    for name in ("dataset", "public_key"):
        if chain[name] != manifest[name]:
            yield f"its {name} is not the manifest's"
    links = [SignedLink(one["body"], one["signature"]) for one in _each(chain["links"], _LINK)]
    newest = links[-1].digest if links else BEGINNING
    try:
        verified = verify_chain(links, key, head=next((head for head in heads if head != newest), None))
    except CertificateInvalid as error:
        yield str(error)
    else:
        if verified and verified[0].dataset != chain["dataset"]:
            yield "link 1 is of another dataset's chain: it was added"


def _release_faults(file: Path, links: list[Any], table: Path) -> Iterator[str]:
    if not file.stem.isdecimal():
        raise UnknownDocument("a release is called by its number")
    number = int(file.stem)
    try:
        written, signed = load_release(file)
    except CertificateInvalid as error:  # of numbers beside the text
        yield str(error)
        return
    if [signed.to_dict()] != links[number - 1 : number]:
        yield f"its certificate is not link {number} of the chain"
        return
    if digest(written.text) != signed.link.release:
        yield "the certificate is genuine but belongs to another release"
        return
    made = Published(number, signed, written.text, written.parts)
    if not made.has_numbers or not table.is_file():  # one that the manifest lists was named before
        return
    again = "".join(frame_as_csv(frame, header=not piece) for piece, frame in enumerate(made.tables()))
    rows = zip_longest(_rows(table.read_bytes()), _rows(again.encode()))
    wrong = next((place for place, pair in enumerate(rows) if not _same_row(*pair)), None)
    if wrong is not None:
        yield f"row {wrong} of its table does not show the signed number"


def _same_row(one: list[str] | None, other: list[str] | None) -> bool:
    return one is not None and other is not None and len(one) == len(other) and all(map(_same, one, other))


def _same(one: str, other: str) -> bool:
    try:
        return one == other or math.isclose(float(one), float(other), rel_tol=_SAME, abs_tol=1e-12)
    except ValueError:
        return False


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _rows(content: bytes) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(content.decode(), newline="")))
    except (UnicodeDecodeError, csv.Error):
        raise UnknownDocument("not a table") from None


def _read(folder: Path, path: str, kinds: Mapping[str, type]) -> Any:
    (content,) = _each([parse_json((folder / path).read_bytes())], kinds)
    return content


def _each(found: list[Any], kinds: Mapping[str, type]) -> list[Any]:
    """Return mappings that hold what they must."""
    for one in found:
        if not isinstance(one, dict) or not all(type(one.get(name)) is kind for name, kind in kinds.items()):
            raise UnknownDocument("it is not written as in a dossier")
    return found

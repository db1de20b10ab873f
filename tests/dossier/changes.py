"""A dossier's files, and what somebody could do to them: every change with the faults that verifiers must name."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chronodp.ledger import Keys

__all__ = ["CHANGES", "UNSIGNED", "Change", "Files", "files_of", "flips", "write_files"]

Files = dict[str, bytes]

UNSIGNED = "the signature does not match: the content was changed, or signed with another key"
_FORGED = f"manifest.json: {UNSIGNED}"


@dataclass(frozen=True)
class Change:
    """What somebody does to a folder, and what is wrong with it then."""

    name: str
    make: Callable[[Files, Keys], object]
    faults: tuple[str, ...]
    given: bool = False
    """Whether the verifier is given the owner's key."""


def files_of(folder: Path) -> Files:
    """Return all files of a folder by their paths."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def write_files(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write files into a folder."""
    for path, content in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return folder


def flips(files: Files, *, each: int) -> list[tuple[str, int, int]]:
    """Return (path, place, bit) of some flipped bits: so many of every file, evenly spread, at its ends too."""
    chosen = []
    for path, content in sorted(files.items()):
        places = {round(step * (len(content) - 1) / (each - 1)) for step in range(each)}
        chosen += [(path, place, (place + index) % 7) for index, place in enumerate(sorted(places))]
    return chosen


def _listed_again(files: Files) -> None:
    """Let the manifest list the files as they are now; its signature stays what it was."""
    manifest = json.loads(files["manifest.json"])
    manifest["files"] = [
        {"path": path, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        for path, content in sorted(files.items())
        if path not in ("manifest.json", "manifest.sig")
    ]
    files["manifest.json"] = json.dumps(manifest).encode()


def _relinked(change: Callable[[list[Any], Keys], object]) -> Callable[[Files, Keys], None]:
    def make(files: Files, keys: Keys) -> None:
        chain = json.loads(files["chain.json"])
        change(chain["links"], keys)
        files["chain.json"] = json.dumps(chain).encode()
        _listed_again(files)

    return make


def _signed_link(body: Mapping[str, Any], keys: Keys) -> dict[str, str]:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {"body": text, "signature": keys.sign(text.encode())}


def _swap(links: list[Any], _: Keys) -> None:
    links[1], links[2] = links[2], links[1]


def _add_foreign(links: list[Any], keys: Keys) -> None:
    body = json.loads(links[-1]["body"])
    links.append(_signed_link({**body, "dataset": "others"}, keys))


def _exchange(links: list[Any], keys: Keys) -> None:
    body = json.loads(links[2]["body"])
    links[2] = _signed_link({**body, "previous": "f" * 64}, keys)


def _change_body(links: list[Any], _: Keys) -> None:
    links[1]["body"] = links[1]["body"].replace('"epsilon":1.0', '"epsilon":0.1')


def _change_number(files: Files, _: Keys) -> None:
    held = json.loads(files["releases/0001.json"])
    released = json.loads(held["release"])
    released["noisy"][0][1] += 1
    held["release"] = json.dumps(released, sort_keys=True, separators=(",", ":"))
    files["releases/0001.json"] = json.dumps(held).encode()


def _change_listed_number(files: Files, keys: Keys) -> None:
    _change_number(files, keys)
    _listed_again(files)


def _change_table(files: Files, _: Keys) -> None:
    lines = files["numbers/0001.csv"].decode().split("\n")
    cells = lines[2].split(",")
    cells[1] = str(float(cells[1]) + 1)
    lines[2] = ",".join(cells)
    files["numbers/0001.csv"] = "\n".join(lines).encode()
    _listed_again(files)


def _cut_table(files: Files, _: Keys) -> None:
    lines = files["numbers/0001.csv"].decode().rstrip("\n").split("\n")
    files["numbers/0001.csv"] = "\n".join(lines[:-1]).encode()
    _listed_again(files)


def _exchange_releases(files: Files, _: Keys) -> None:
    names = ("releases/0001.json", "releases/0002.json")
    files[names[0]], files[names[1]] = files[names[1]], files[names[0]]
    _listed_again(files)


def _resign(files: Files, _: Keys) -> None:
    """Sign everything again, with a key of one's own."""
    own = Keys.create()
    chain, manifest = json.loads(files["chain.json"]), json.loads(files["manifest.json"])
    for number, link in enumerate(chain["links"], start=1):
        link["signature"] = own.sign(link["body"].encode())
        held = json.loads(files[f"releases/{number:04d}.json"])
        files[f"releases/{number:04d}.json"] = json.dumps({**held, "link": link}).encode()
    files["chain.json"] = json.dumps({**chain, "public_key": own.public}).encode()
    files["manifest.json"] = json.dumps({**manifest, "public_key": own.public}).encode()
    _listed_again(files)
    files["manifest.sig"] = own.sign(files["manifest.json"]).encode()


def _foreign_key(files: Files, _: Keys) -> None:
    manifest = json.loads(files["manifest.json"])
    files["manifest.json"] = json.dumps({**manifest, "public_key": Keys.create().public}).encode()


def _other_format(files: Files, _: Keys) -> None:
    files["manifest.json"] = json.dumps({**json.loads(files["manifest.json"]), "format": 2}).encode()


def _respell(files: Files, _: Keys) -> None:
    """Spell the signature another way: the last digit before the padding has four bits to spare."""
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    text = files["manifest.sig"].decode()
    spelled = text[:-3] + digits[digits.index(text[-3]) ^ 1] + "=="
    assert base64.b64decode(spelled) == base64.b64decode(text)
    files["manifest.sig"] = spelled.encode()


def _not_link(number: int) -> str:
    return f"releases/{number:04d}.json: its certificate is not link {number} of the chain"


_OTHER = "releases/0001.json: the certificate is genuine but belongs to another release"
_GAP = (_FORGED, "chain.json: link 2 is numbered 3: a link before it is missing", *map(_not_link, (2, 3)))
_LOST = "it is missing, or not written as in a dossier"

CHANGES = (
    Change("nothing", lambda *_: None, ()),
    Change("nothing, with the owner's key", lambda *_: None, (), given=True),
    Change(
        "a number",
        _change_number,
        ("releases/0001.json: it is not the file that the manifest lists: it was changed", _OTHER),
    ),
    Change("a number, and the manifest", _change_listed_number, (_FORGED, _OTHER)),
    Change(
        "a number in a table, and the manifest",
        _change_table,
        (_FORGED, "releases/0001.json: row 2 of its table does not show the signed number"),
    ),
    Change(
        "a table's last row, and the manifest",
        _cut_table,
        (_FORGED, "releases/0001.json: row 4 of its table does not show the signed number"),
    ),
    Change("a link removed", _relinked(lambda links, _: links.pop(1)), _GAP),
    Change(
        "the newest link removed",
        _relinked(lambda links, _: links.pop()),
        (
            _FORGED,
            "chain.json: the chain of 2 links does not end at the given head: newer links are missing",
            _not_link(3),
        ),
    ),
    Change("links reordered", _relinked(_swap), _GAP),
    Change(
        "a link repeated",
        _relinked(lambda links, _: links.insert(2, links[1])),
        (_FORGED, "chain.json: link 3 is numbered 2: a link is repeated or out of order", _not_link(3)),
    ),
    Change(
        "another dataset's link added",
        _relinked(_add_foreign),
        (_FORGED, "chain.json: link 4 is of another dataset's chain: it was added"),
    ),
    Change(
        "a link exchanged",
        _relinked(_exchange),
        (_FORGED, "chain.json: link 3 does not follow link 2: one of them was exchanged", _not_link(3)),
    ),
    Change(
        "a certificate's epsilon", _relinked(_change_body), (_FORGED, f"chain.json: link 2: {UNSIGNED}", _not_link(2))
    ),
    Change("releases exchanged", _exchange_releases, (_FORGED, *map(_not_link, (1, 2)))),
    Change(
        "all signed with another key",
        _resign,
        ("manifest.json: it names another public key than the one given", _FORGED, f"chain.json: link 1: {UNSIGNED}"),
        given=True,
    ),
    Change(
        "a foreign public key",
        _foreign_key,
        (_FORGED, "chain.json: its public_key is not the manifest's", f"chain.json: link 1: {UNSIGNED}"),
    ),
    Change(
        "a file added",
        lambda files, _: files.update({"releases/more.txt": b"more"}),
        ("releases/more.txt: it is not in the manifest: it was added",),
    ),
    Change("a file removed", lambda files, _: files.pop("numbers/0003.csv"), ("numbers/0003.csv: it is missing",)),
    Change("no signature", lambda files, _: files.pop("manifest.sig"), (_FORGED,)),
    Change("a signature spelled another way", _respell, (_FORGED,)),
    Change("no manifest", lambda files, _: files.pop("manifest.json"), (f"manifest.json: {_LOST}",)),
    Change("another format", _other_format, (f"manifest.json: {_LOST}",)),
    Change("no chain", lambda files, _: files.pop("chain.json"), ("chain.json: it is missing", f"chain.json: {_LOST}")),
)

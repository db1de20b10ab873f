"""A dossier as a folder: all of it or nothing, with a list of its files that says what each must hold."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from importlib.resources import files
from pathlib import Path

from chronodp.dossier.answers import answers_json, answers_markdown
from chronodp.dossier.facts import Facts, gather
from chronodp.dossier.formats import FORMATS
from chronodp.dossier.manifest import signed_manifest
from chronodp.dossier.owner import Owner
from chronodp.dossier.page import render, render_shelf
from chronodp.dossier.published import Published
from chronodp.dossier.streams import PublishedStream
from chronodp.dossier.words import slug
from chronodp.errors import InvalidArgument
from chronodp.ledger import Ledger, check_ledger, release_pieces, sync_folder
from chronodp.privacy import canonical
from chronodp.reading import check_path
from chronodp.report import comma_separated, frame_as_csv

__all__ = ["check_folder", "write_dossier", "write_dossiers"]

_VERIFIERS = ("verify.html", "verify.py")
_README = """\
This folder is a dossier of what was released with differential privacy from the dataset {dataset}.
index.html is for reading. Everything else is for checking, and for other programs.

To check it without chronodp: open verify.html in a browser and choose this folder;
or run: python verify.py (in this folder; it needs Python and the package cryptography).
With chronodp: chronodp verify FOLDER --public-key KEY
The key that signed: {key}
Compare it with one that you had from the owner by another way: a forger would write another.
manifest.json lists every file with its SHA-256, and is signed; chain.json holds all certificates of the dataset.
Made {made:%Y-%m-%d %H:%M} UTC by chronodp {version}.
"""


def write_dossier(
    ledger: Ledger, dataset: str, out: str | Path, *, request: str | None = None, owner: Owner | None = None
) -> Path:
    """Write the dossier of a dataset, or of one release of it, and return its folder. Nothing is spent.

    Args:
        ledger: where releases and budgets are kept; nothing of it is changed.
        dataset: of which.
        out: a folder that is new or empty.
        request: of one release; all of them if not given.
        owner: what only the owner knows; what is left out is shown as not known.
    """
    place = check_folder(out)
    facts = gather(ledger, dataset, request=request, owner=owner)
    return _whole_or_nothing(place, lambda draft: _write(draft, facts))


def write_dossiers(ledger: Ledger, out: str | Path, *, owner: Owner | None = None) -> Path:
    """Write a dossier of every dataset of a ledger, each in a folder of its own, and a page that lists them."""
    check_ledger(ledger)
    place = check_folder(out)
    names = list(dict.fromkeys(dataset for dataset, _, _ in ledger.budgets()))
    if not names:
        raise InvalidArgument("ledger", "without budgets", "one with a budget: there is nothing to give a dossier of")
    dossiers = {f"{number:03d}-{slug(name)}": name for number, name in enumerate(names, start=1)}

    def write(draft: Path) -> None:
        known = {folder: gather(ledger, name, owner=owner) for folder, name in dossiers.items()}
        for folder, facts in known.items():
            (draft / folder).mkdir()
            _write(draft / folder, facts)
        _put(draft / "index.html", [render_shelf(known).encode()])

    return _whole_or_nothing(place, write)


def check_folder(out: str | Path) -> Path:
    """Return where a dossier goes, if that is new or empty and stands in a folder that may be written to."""
    place = check_path("out", out).absolute()
    try:
        os.fsencode(place)
        empty = not place.exists() or (place.is_dir() and not any(place.iterdir()))
    except (OSError, UnicodeEncodeError):
        raise InvalidArgument("out", str(out), "a folder's name that the system takes, and may look at") from None
    if not empty or place.is_symlink():
        raise InvalidArgument("out", str(out), "a new folder, or an empty one: this one holds other things")
    if not place.parent.is_dir() or not os.access(place.parent, os.W_OK):
        raise InvalidArgument("out", str(out), "a new folder in a folder that exists and may be written to")
    return place


def _whole_or_nothing(place: Path, write: Callable[[Path], None]) -> Path:
    # Beside its place, so that the last step is a renaming: whoever is killed before leaves no half dossier there.
    draft = place.with_name(f".{place.name}.{secrets.token_hex(8)}")
    try:
        draft.mkdir()
        write(draft)
        if place.exists():
            place.rmdir()
        draft.rename(place)
        sync_folder(place)
    except OSError as error:
        raise InvalidArgument("out", str(place), f"a folder that can be written ({error.strerror})") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return place


def _write(folder: Path, facts: Facts) -> None:
    listed = []
    for name, pieces in sorted(_contents(facts)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        listed.append((name, *_put(folder / name, pieces)))
    for name, content in signed_manifest(facts, listed).items():
        _put(folder / name, [content])


def _contents(facts: Facts) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Yield every file but the manifest, by its path in the folder."""
    yield "index.html", [render(facts).encode()]
    yield "chain.json", [json.dumps(facts.chain, ensure_ascii=False).encode()]
    yield "answers.md", [answers_markdown(facts).encode()]
    yield "answers.json", [answers_json(facts).encode()]
    readme = _README.format(dataset=facts.dataset, key=facts.public_key, made=facts.made, version=facts.version)
    yield "README.txt", [readme.encode()]
    for one in facts.published:
        yield one.file, release_pieces(one.written, one.signed)
        if one.has_numbers:
            yield f"numbers/{one.stem}.csv", _numbers(one)
    if facts.whole:
        for number, stream in enumerate((one for one in facts.streams if one.readable), start=1):
            yield f"streams/{number:04d}.json", [_stream(stream)]
            yield f"numbers/stream-{number:04d}.csv", [comma_separated(stream.columns, list(stream.rows())).encode()]
    for name, write in FORMATS.items():
        if (pieces := write(facts)) is not None:
            yield name, (piece.encode() for piece in pieces)
    for name in _VERIFIERS:
        yield name, [files("chronodp.dossier").joinpath("verifier", name).read_bytes()]


def _numbers(one: Published) -> Iterator[bytes]:
    for number, frame in enumerate(one.tables()):
        yield frame_as_csv(frame, header=not number).encode()


def _stream(stream: PublishedStream) -> bytes:
    content = {
        "kind": "released_stream",
        "name": stream.name,
        "finished": stream.finished,
        "plan": stream.plan,
        "released": list(stream.released),
    }
    return canonical(content).encode()


def _put(path: Path, pieces: Iterable[bytes]) -> tuple[str, int]:
    """Write a file to the disk; return its SHA-256 and its size."""
    digest, size = hashlib.sha256(), 0
    with path.open("xb") as file:
        for piece in pieces:
            file.write(piece)
            digest.update(piece)
            size += len(piece)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest(), size

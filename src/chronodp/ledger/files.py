"""A release and its signed link in one file, which ``chronodp verify`` reads: JSON, or Arrow where numbers are many."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from chronodp.errors import InvalidArgument
from chronodp.ledger.arrow_files import arrow_pieces, is_arrow, open_arrow, release_of
from chronodp.ledger.certificates import Link, SignedLink, verify
from chronodp.ledger.numbers import Written, check_parts
from chronodp.privacy import check_path

__all__ = ["is_arrow_file", "load_release", "release_pieces", "save_release", "verify_file"]


def save_release(path: str | Path, written: Written, signed: SignedLink, *, whole: str | None = None) -> Path:
    """Write a release with its signed link: all of it or nothing. A part of a whole is refused.

    It is JSON unless its numbers stand beside its text: then it is an Arrow file with the same JSON as metadata.
    """
    if whole is not None:
        raise InvalidArgument("release", "one of several released together", "the whole of them: it was signed as one")
    check_parts(written.text, written.parts)
    place = check_path(path)
    fresh = place.with_name(f"{place.name}.{os.urandom(4).hex()}")
    try:
        with fresh.open("xb") as file:
            for piece in release_pieces(written, signed):
                file.write(piece)
        fresh.replace(place)
    except OSError:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise InvalidArgument("path", str(path), "a place that can be written") from None
    return place


def release_pieces(written: Written, signed: SignedLink) -> Iterator[bytes]:
    """Return the bytes of the file that holds a release, piece by piece."""
    if written.parts:
        return arrow_pieces(written, signed)
    return iter([json.dumps({"release": written.text, "link": signed.to_dict()}).encode()])


def load_release(path: str | Path) -> tuple[Written, SignedLink]:
    """Return a release and its link; whether the signature is genuine is for `verify` to tell."""
    place = check_path(path)
    try:
        if is_arrow_file(place):
            with open_arrow(place, place.name) as file:
                return file.read(), file.signed
        text, signed = release_of(place.read_bytes(), place.name)
    except OSError:
        raise InvalidArgument("path", str(path), "a file that can be read") from None
    check_parts(text, ())
    return Written(text), signed


def verify_file(path: Path, public_key: str) -> Link:
    """Return the link of an Arrow file if it was signed with this key, and for every number that the file holds.

    Reads one part at a time.
    """
    with open_arrow(path, path.name) as file:
        # The text first: what parts are compared with is then the owner's word.
        link = verify(file.signed, public_key, release=file.text)
        for _ in file.contents():
            pass
    return link


def is_arrow_file(path: Path) -> bool:
    """Return whether a file is one of Arrow."""
    with path.open("rb") as file:
        return is_arrow(file.read(8))

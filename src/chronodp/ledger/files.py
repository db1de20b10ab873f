"""A release and its signed link in one file, which ``chronodp verify`` reads."""

from __future__ import annotations

import json
import os
from pathlib import Path

from chronodp.errors import InvalidArgument, UnknownDocument
from chronodp.ledger.certificates import SignedLink
from chronodp.reading import parse_json

__all__ = ["load_release", "save_release"]


def save_release(path: str | Path, text: str, signed: SignedLink, *, whole: str | None = None) -> Path:
    """Write a release's text with its signed link as JSON: all of it or nothing. A part of a whole is refused."""
    if whole is not None:
        raise InvalidArgument("release", "one of several released together", "the whole of them: it was signed as one")
    place = Path(path)
    fresh = place.with_name(f"{place.name}.{os.urandom(4).hex()}")
    try:
        fresh.write_text(json.dumps({"release": text, "link": signed.to_dict()}), encoding="utf-8")
        fresh.replace(place)
    except OSError:
        raise InvalidArgument("path", str(path), "a place that can be written") from None
    return place


def load_release(path: str | Path) -> tuple[str, SignedLink]:
    """Return a release's text and its link; whether the signature is genuine is for `verify` to tell."""
    try:
        document = parse_json(Path(path).read_bytes())
        text, link = document["release"], document["link"]
        if not isinstance(text, str):
            raise TypeError(text)
        return text, SignedLink(link["body"], link["signature"])
    except OSError:
        raise InvalidArgument("path", str(path), "a file that can be read") from None
    except (ValueError, KeyError, TypeError):
        raise UnknownDocument(f"{Path(path).name} does not hold a release") from None

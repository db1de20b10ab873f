"""Which files of a dossier hold data, and what is in each: what catalogues list."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from chronodp.dossier.facts import Facts
from chronodp.dossier.formats.sdmx import has_observations
from chronodp.dossier.published import Published
from chronodp.dossier.streams import PublishedStream
from chronodp.dossier.words import title_of
from chronodp.ledger import release_pieces

__all__ = ["Held", "digest_of", "held", "streams_of", "summary", "title"]

_JSON, _CSV, _ARROW = "application/json", "text/csv", "application/vnd.apache.arrow.file"


@dataclass(frozen=True, slots=True)
class Held:
    """A file of the dossier.

    Attributes:
        path: in the folder.
        media: its media type.
        about: what it holds, in a sentence.
        digest: its SHA-256, of a file that was signed with its certificate; else empty.
    """

    path: str
    media: str
    about: str
    digest: str = ""


def held(facts: Facts) -> Iterator[Held]:
    """Yield every file with data."""
    yield Held("chain.json", _JSON, "All certificates of the dataset, signed and chained.")
    for one in facts.published:
        what = f"{title_of(one)} ({one.link.request})"
        media = _ARROW if one.parts else _JSON
        yield Held(one.file, media, f"Release {one.number} with its certificate: {what}", digest_of(one))
        if one.has_numbers:
            yield Held(f"numbers/{one.stem}.csv", _CSV, f"Numbers of release {one.number}: {what}")
    for stem, stream in streams_of(facts):
        what = f"{stream.kind}, {stream.name}"
        yield Held(f"streams/{stem}.json", _JSON, f"Plan and steps of {what}")
        yield Held(f"numbers/stream-{stem}.csv", _CSV, f"Steps of {what}")
    if has_observations(facts):
        yield Held("formats/sdmx.csv", _CSV, "All numbers with times as SDMX-CSV.")


def streams_of(facts: Facts) -> list[tuple[str, PublishedStream]]:
    """Return the streams that the dossier holds, each with what its files are called without their endings."""
    shown = [one for one in facts.streams if one.readable] if facts.whole else []
    return [(f"{number:04d}", one) for number, one in enumerate(shown, start=1)]


def digest_of(one: Published) -> str:
    """Return the SHA-256 of a release's file."""
    found = hashlib.sha256()
    for piece in release_pieces(one.written, one.signed):
        found.update(piece)
    return found.hexdigest()


def title(facts: Facts) -> str:
    """Return what the owner calls it; else the dataset's name in the ledger."""
    return facts.owner.name or facts.dataset


def summary(facts: Facts) -> str:
    """Return what the owner says of it; else what the ledger knows."""
    known = f"Numbers that were released with differential privacy from the dataset {facts.dataset!r}."
    return facts.owner.description or known

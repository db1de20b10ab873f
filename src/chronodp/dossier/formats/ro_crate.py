"""The dossier as a research object: RO-Crate 1.1 metadata, which must stand in the root of what it describes."""

from __future__ import annotations

import json
from typing import Any

from chronodp.dossier.facts import Facts
from chronodp.dossier.formats.held import held, summary, title

__all__ = ["ro_crate"]

_FILE = "ro-crate-metadata.json"


def ro_crate(facts: Facts) -> list[str]:
    """Return the metadata of the whole folder."""
    files = [_file(one.path, one.media, one.about) for one in held(facts)]
    files.append(_file("index.html", "text/html", "The dossier's page, for reading."))
    graph = [_descriptor(), _root(facts, files), *files, *_people(facts), *_made(facts)]
    if _is_address(facts.owner.licence):
        graph.append({"@id": facts.owner.licence, "@type": "CreativeWork", "name": facts.owner.licence})
    crate = {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": graph}
    return [json.dumps(crate, ensure_ascii=False, indent=1)]


def _descriptor() -> dict[str, Any]:
    return {
        "@id": _FILE,
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
    }


def _root(facts: Facts, files: list[dict[str, Any]]) -> dict[str, Any]:
    owner = facts.owner
    root: dict[str, Any] = {
        "@id": "./",
        "@type": "Dataset",
        "name": title(facts),
        "description": summary(facts),
        "datePublished": facts.made.isoformat(),
        # Required by the format, and known to the owner alone.
        "license": {"@id": owner.licence} if _is_address(owner.licence) else owner.said("licence"),
        "hasPart": [{"@id": file["@id"]} for file in files],
        "mentions": [{"@id": "#writing"}],
    }
    if owner.curators:
        root["publisher"] = [{"@id": one["@id"]} for one in _people(facts)]
    if owner.contact:
        root["contactPoint"] = {"@id": "#contact"}
    if owner.region:
        root["spatialCoverage"] = owner.region
    return root


def _file(path: str, media: str, about: str) -> dict[str, Any]:
    return {"@id": path, "@type": "File", "name": path, "encodingFormat": media, "description": about}


def _people(facts: Facts) -> list[dict[str, Any]]:
    named = enumerate(facts.owner.curators, start=1)
    return [{"@id": f"#curator-{number}", "@type": "Organization", "name": name} for number, name in named]


def _made(facts: Facts) -> list[dict[str, Any]]:
    writer = {
        "@id": "#chronodp",
        "@type": "SoftwareApplication",
        "name": "chronodp",
        "softwareVersion": facts.version,
        "description": "Wrote this dossier. Which version drew each release is not known to it.",
    }
    writing = {
        "@id": "#writing",
        "@type": "CreateAction",
        "name": "Writing of the dossier",
        "endTime": facts.made.isoformat(),
        "instrument": {"@id": "#chronodp"},
        "result": {"@id": "./"},
    }
    contact = {"@id": "#contact", "@type": "ContactPoint", "name": facts.owner.contact}
    return [writer, writing, *([contact] if facts.owner.contact else [])]


def _is_address(said: str) -> bool:
    return said.startswith(("http://", "https://"))

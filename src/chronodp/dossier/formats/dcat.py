"""The dossier as an entry of an open-data portal: a DCAT dataset with a distribution a file, as JSON-LD."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from typing import Any

from chronodp.dossier.facts import Facts
from chronodp.dossier.formats.held import Held, held, summary, title
from chronodp.dossier.formats.measured import duration, measured

__all__ = ["dcat"]

_CONTEXT = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dcterms": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "spdx": "http://spdx.org/rdf/terms#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
_MEDIA = "https://www.iana.org/assignments/media-types/"


def dcat(facts: Facts) -> list[str]:
    """Return the entry; addresses in it are relative to its own place in the dossier."""
    entry = {"@context": _CONTEXT, "@id": "../", "@type": "dcat:Dataset", **dict(_said(facts)), **dict(_known(facts))}
    return [json.dumps(entry, ensure_ascii=False, indent=1)]


def _said(facts: Facts) -> Iterator[tuple[str, Any]]:
    """Yield what the owner says; what is left out there is left out here."""
    owner = facts.owner
    yield "dcterms:title", title(facts)
    yield "dcterms:description", summary(facts)
    if owner.curators:
        yield "dcterms:publisher", [{"@type": "foaf:Agent", "foaf:name": name} for name in owner.curators]
    if owner.contact:
        yield "dcat:contactPoint", {"@type": "vcard:Kind", "vcard:fn": owner.contact}
    if owner.region:
        yield "dcterms:spatial", {"@type": "dcterms:Location", "rdfs:label": owner.region}
    if owner.licence:
        address = owner.licence.startswith(("http://", "https://"))
        licence = {"@type": "dcterms:LicenseDocument", "rdfs:label": owner.licence}
        yield "dcterms:license", {"@id": owner.licence} if address else licence
    if owner.sector:
        yield "dcat:keyword", ["differential privacy", owner.sector]
    else:
        yield "dcat:keyword", ["differential privacy"]


def _known(facts: Facts) -> Iterator[tuple[str, Any]]:
    """Yield what the ledger knows."""
    yield "dcterms:identifier", facts.dataset
    if facts.published:
        yield "dcterms:issued", _moment(facts.published[0].issued)
        yield "dcterms:modified", _moment(facts.published[-1].issued)
    asked = [one for some in measured(facts).values() for one in some.values()]
    spans = [one.span for one in asked if one.span is not None]
    if spans:
        starts, ends = zip(*spans, strict=True)
        period = {"dcat:startDate": _moment(min(starts)), "dcat:endDate": _moment(max(ends))}
        yield "dcterms:temporal", {"@type": "dcterms:PeriodOfTime", **period}
    lengths = sorted({duration(one.every) for one in asked if one.every})
    if lengths:
        yield "dcat:temporalResolution", [_typed("duration", length) for length in lengths]
    promised = [f"{one.link.request}: {one.certificate.guarantee}." for one in facts.published]
    if promised:
        yield "dcterms:provenance", {"@type": "dcterms:ProvenanceStatement", "rdfs:label": " ".join(promised)}
    yield "dcat:distribution", [_distribution(one) for one in held(facts)]


def _distribution(one: Held) -> dict[str, Any]:
    place = {"@id": f"../{one.path}"}
    said: dict[str, Any] = {
        "@type": "dcat:Distribution",
        "dcterms:title": one.path,
        "dcterms:description": one.about,
        "dcat:accessURL": place,
        "dcat:downloadURL": place,
        "dcat:mediaType": {"@id": f"{_MEDIA}{one.media}"},
    }
    if one.digest:
        said["spdx:checksum"] = {
            "@type": "spdx:Checksum",
            "spdx:algorithm": {"@id": "spdx:checksumAlgorithm_sha256"},
            "spdx:checksumValue": _typed("hexBinary", one.digest),
        }
    return said


def _typed(kind: str, text: str) -> dict[str, str]:
    return {"@type": f"xsd:{kind}", "@value": text}


def _moment(when: dt.datetime) -> dict[str, str]:
    return _typed("dateTime", when.isoformat())

"""The data structure that SDMX-CSV lines name, as an SDMX-JSON 2.0 structure message."""

from __future__ import annotations

import json
from typing import Any

from chronodp.dossier.facts import Facts
from chronodp.dossier.formats.columns import COLUMNS, Column
from chronodp.dossier.formats.sdmx import has_observations

__all__ = ["structure"]

_AGENCY, _VERSION, _CONCEPTS = "CHRONODP", "1.0", "NUMBERS_CONCEPTS"
_SCHEMA = (
    "https://raw.githubusercontent.com/sdmx-twg/sdmx-json/master/structure-message/tools/schemas/2.0.0/"
    "sdmx-json-structure-schema.json"
)
_ROLES = ("dimension", "time", "measure", "attribute")
_KINDS = {"string": "String", "integer": "Integer", "number": "Double", "datetime": "ObservationalTimePeriod"}


def structure(facts: Facts) -> list[str] | None:
    """Return the message; None where there are no lines that name it."""
    if not has_observations(facts):
        return None
    sender, prepared = {"id": _AGENCY}, facts.made.isoformat()
    message = {
        "meta": {"id": "NUMBERS", "prepared": prepared, "sender": sender, "schema": _SCHEMA},
        "data": {"conceptSchemes": [_concepts()], "dataStructures": [_structure()]},
    }
    return [json.dumps(message, ensure_ascii=False, indent=1)]


def _concepts() -> dict[str, Any]:
    named = [{"id": one.name, "name": one.name, "description": one.about} for one in COLUMNS if one.role]
    return {**_named(_CONCEPTS, "What the columns of released numbers hold"), "concepts": named}


def _structure() -> dict[str, Any]:
    by_role = {role: [_component(one) for one in COLUMNS if one.role == role] for role in _ROLES}
    components = {
        "dimensionList": {
            "id": "DimensionDescriptor",
            "dimensions": by_role["dimension"],
            "timeDimension": by_role["time"][0],
        },
        "measureList": {
            "id": "MeasureDescriptor",
            "measures": [{**one, "usage": "optional"} for one in by_role["measure"]],
        },
        "attributeList": {
            "id": "AttributeDescriptor",
            "attributes": [
                {**one, "usage": "optional", "attributeRelationship": {"observation": {}}}
                for one in by_role["attribute"]
            ],
        },
    }
    return {**_named("NUMBERS", "Numbers released with differential privacy"), "dataStructureComponents": components}


def _named(name: str, about: str) -> dict[str, Any]:
    return {"id": name, "agencyID": _AGENCY, "version": _VERSION, "name": about}


def _component(one: Column) -> dict[str, Any]:
    concept = f"urn:sdmx:org.sdmx.infomodel.conceptscheme.Concept={_AGENCY}:{_CONCEPTS}({_VERSION}).{one.name}"
    return {
        "id": one.name,
        "conceptIdentity": concept,
        "localRepresentation": {"format": {"dataType": _KINDS[one.kind]}},
    }

"""All tables of a dossier as a Frictionless data package: what each column holds, and of what kind.

Every release's own table is a resource, and so is the one table of all numbers with times, in which the unit of
measurement, the interval and its level are columns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from chronodp.dossier.facts import Facts
from chronodp.dossier.formats.columns import COLUMNS, LEVEL
from chronodp.dossier.formats.held import streams_of, summary, title
from chronodp.dossier.formats.measured import Measured, measured
from chronodp.dossier.formats.sdmx import has_observations
from chronodp.dossier.published import Published
from chronodp.dossier.words import title_of

__all__ = ["data_package", "slug"]

_VALUES = ("value", "value_to", "lower", "upper")
_OF_STREAMS = {
    "step": ("integer", "Which step, from 1."),
    "key": ("integer", "Which of the stream's series, from 0."),
    "value": ("number", "The released value, with noise."),
    "lower": ("number", f"Lower end of the {LEVEL:.0%} interval."),
    "upper": ("number", f"Upper end of the {LEVEL:.0%} interval."),
    "released": ("string", "What the step released, as JSON."),
}
_KINDS = {"M": "datetime", "f": "number", "i": "integer", "u": "integer", "b": "boolean"}


def data_package(facts: Facts) -> list[str] | None:
    """Return the package's description; None where there is no table."""
    resources = list(_resources(facts))
    if not resources:
        return None
    owner = facts.owner
    package: dict[str, Any] = {
        "profile": "tabular-data-package",
        "name": slug(title(facts)),
        "title": title(facts),
        "description": summary(facts),
        "created": facts.made.isoformat(),
    }
    if owner.licence:
        package["licenses"] = [_licence(owner.licence)]
    if owner.curators:
        package["contributors"] = [{"title": name, "role": "publisher"} for name in owner.curators]
    if owner.source:
        package["sources"] = [{"title": owner.source}]
    return [json.dumps({**package, "resources": resources}, ensure_ascii=False, indent=1)]


def slug(name: str) -> str:
    """Return a name as addresses have it: small letters of ASCII, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60].strip("-") or "dataset"


def _resources(facts: Facts) -> Iterator[dict[str, Any]]:
    known = measured(facts)
    for one in facts.published:
        if one.has_numbers:
            fields = list(_fields(one, known[one.number]))
            yield _resource(f"release-{one.stem}", f"numbers/{one.stem}.csv", title_of(one), fields)
    for stem, stream in streams_of(facts):
        fields = [_column(name, *_OF_STREAMS[name]) for name in stream.columns]
        yield _resource(f"stream-{stem}", f"numbers/stream-{stem}.csv", f"Steps of {stream.name}", fields)
    if has_observations(facts):
        fields = [_column(one.name, one.kind, one.about) for one in COLUMNS]
        yield _resource("observations", "formats/sdmx.csv", "All numbers with times.", fields)


def _fields(one: Published, known: dict[str, Measured]) -> Iterator[dict[str, Any]]:
    first = one.first_rows(1)
    if first is None:
        raise AssertionError("a release with numbers has a table")
    units = {asked.unit for asked in known.values()}
    unit = units.pop() if len(units) == 1 else ""
    for name, kind in first.dtypes.items():
        about = {
            "value_to": "Upper end of the bin, of which value is the lower end.",
            "lower": f"Lower end of the {LEVEL:.0%} interval.",
            "upper": f"Upper end of the {LEVEL:.0%} interval.",
        }
        field = _column(str(name), _KINDS.get(kind.kind, "string"), about.get(str(name), ""))
        yield {**field, "unit": unit} if unit and name in _VALUES else field


def _column(name: str, kind: str, about: str) -> dict[str, Any]:
    field = {"name": name, "type": kind, **({"description": about} if about else {})}
    return {**field, "format": "any"} if kind == "datetime" else field


def _resource(name: str, path: str, about: str, fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "profile": "tabular-data-resource",
        "name": name,
        "path": path,
        "title": about,
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "schema": {"fields": fields, "missingValues": [""]},
    }


def _licence(said: str) -> dict[str, str]:
    if said.startswith(("http://", "https://")):
        return {"path": said}
    return {"name": said} if re.fullmatch(r"[-A-Za-z0-9._]+", said) else {"title": said, "name": "other"}

"""Documents as golden files and ledgers hold them, and the validators of our schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from chronodp.schemas import json_schema

__all__ = ["GOLDEN", "golden_documents", "is_released", "kinds_within", "registered_kinds", "schema_for", "validator"]

GOLDEN = Path(__file__).parents[1] / "golden"
_RELEASED = {"release", "together", "blurred_times"}
_NUMBERS = {"quantiles": "drawn", "spectrum": "harmonics", "choice": "place"}  # by which a text is no registered kind


@cache
def validator(name: str, definition: str = "") -> Any:
    """Return what checks a document, or one of the kinds within."""
    schema = _schema(name)
    return Draft202012Validator({"$ref": f"#/$defs/{definition}", "$defs": schema["$defs"]} if definition else schema)


def registered_kinds() -> list[str]:
    """Return every kind that has a schema; other definitions are named like classes."""
    return [name for name in _schema("document")["$defs"] if name.islower()]


def golden_documents() -> list[dict[str, Any]]:
    """Return every document of the repository's golden files."""
    found: list[dict[str, Any]] = _read("documents/kinds.json")
    found += (json.loads(one["plan"]) for one in _read("streams/states.json").values())
    return found + list(_read("documents/released.json"))


def kinds_within(content: Any) -> Iterator[dict[str, Any]]:
    """Yield every object with a kind in decoded JSON."""
    if isinstance(content, dict | list):
        for one in content.values() if isinstance(content, dict) else content:
            yield from kinds_within(one)
    if isinstance(content, dict) and isinstance(content.get("kind"), str):
        yield content


def is_released(content: dict[str, Any]) -> bool:
    """Return whether it is the text of a release, and no registered kind."""
    return content["kind"] in _RELEASED or _NUMBERS.get(content["kind"], "") in content


def schema_for(content: dict[str, Any]) -> tuple[str, ...]:
    """Return which schema a document of a ledger is to hold, for `validator`."""
    kind = content["kind"]
    if is_released(content):
        return ("release",)
    return (kind,) if kind in ("budget", "link") else ("document", kind)


@cache
def _schema(name: str) -> dict[str, Any]:
    return json_schema(name)


def _read(name: str) -> Any:
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))

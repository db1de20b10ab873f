"""The stable JSON form of units, costs, guarantees, claims and certificates.

Each kind of thing has a name that never changes; its fields are its constructor's arguments. A document read
back goes through the same constructor, so a forged or damaged number is refused like any other bad argument.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from chronodp.errors import UnknownDocument

__all__ = ["canonical", "document", "dump", "load", "parse", "to_document"]

Kind = TypeVar("Kind")

_KINDS: dict[str, type[Any]] = {}
_NAMES: dict[type[Any], str] = {}


def document(name: str) -> Callable[[type[Kind]], type[Kind]]:
    """Give a frozen dataclass its permanent name in JSON."""

    def register(kind: type[Kind]) -> type[Kind]:
        _KINDS[name] = kind
        _NAMES[kind] = name
        return kind

    return register


def to_document(item: object) -> dict[str, Any]:
    """Return ``item`` as plain dictionaries, lists, strings and numbers."""
    name = _NAMES.get(type(item))
    if name is None or not dataclasses.is_dataclass(item):
        raise UnknownDocument(f"a {type(item).__name__} has no JSON form")
    fields = {field.name: _encode(getattr(item, field.name)) for field in dataclasses.fields(item)}
    return {"kind": name, **fields}


def dump(item: object) -> str:
    """Return the one canonical JSON text of ``item``: sorted keys, no spaces, shortest round-trip numbers."""
    return canonical(to_document(item))


def canonical(content: Mapping[str, Any]) -> str:
    """Return the one JSON text of plain content, which is stored, digested and signed."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def parse(text: str, kind: str) -> dict[str, Any]:
    """Return the plain content of a canonical text, and refuse texts of another kind."""
    try:
        content = json.loads(text)
    except ValueError:
        content = None
    if not isinstance(content, dict) or content.get("kind") != kind:
        raise UnknownDocument(f"the text is not of the kind {kind!r}")
    return content


def load(text: str | bytes | Mapping[str, Any], expected: Any) -> Any:
    """Return the thing that a JSON text or a decoded document describes.

    Args:
        text: JSON, or a mapping decoded from it.
        expected: the class, or union of classes, that is wanted here.
    """
    if isinstance(text, str | bytes):
        try:
            text = json.loads(text)
        except ValueError as error:
            raise UnknownDocument(f"not a JSON document: {error}") from None
    known = sorted(name for kind, name in _NAMES.items() if issubclass(kind, expected))
    kind = text.get("kind") if isinstance(text, Mapping) else None
    if kind not in known:
        raise UnknownDocument(f"unknown kind {kind!r} here; known: {', '.join(known)}")
    return _decode(text)


def _encode(value: object) -> Any:
    if dataclasses.is_dataclass(value):
        return to_document(value)
    if isinstance(value, tuple):
        return [_encode(part) for part in value]
    return value


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_decode(part) for part in value)
    if not isinstance(value, Mapping):
        return value
    name = value.get("kind")
    kind = _KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise UnknownDocument(f"unknown kind {name!r}; known: {', '.join(sorted(_KINDS))}")
    fields = {key: _decode(part) for key, part in value.items() if key != "kind"}
    parameters = {field.name: field for field in dataclasses.fields(kind)}
    unknown = sorted(fields.keys() - parameters.keys())
    if unknown:
        raise UnknownDocument(f"kind {name!r} has no field {', '.join(unknown)}; fields: {', '.join(parameters)}")
    missing = [
        field.name
        for field in parameters.values()
        if field.name not in fields
        and field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise UnknownDocument(f"kind {name!r} needs the field {', '.join(missing)}")
    return kind(**fields)

"""The stable JSON form of units, costs, guarantees, claims and certificates.

Each kind of thing has a name that never changes; its fields are its constructor's arguments. A document read
back must hold what its fields are declared to hold, and goes through the same constructor, so that a forged or damaged
number is refused like any other bad argument.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from chronodp.errors import InvalidArgument, UnknownDocument
from chronodp.reading import parse_json

__all__ = ["LATER", "canonical", "document", "dump", "kinds_of", "load", "load_parts", "text_kind", "to_document"]

Kind = TypeVar("Kind")

LATER: Mapping[str, bool] = {"later": True}
"""Marks a field that a text leaves out at its default: options that few use make no text longer."""

_FLOAT_BITS = 1000  # whole numbers below 2^1000 can be floats

_KINDS: dict[str, type[Any]] = {}
_NAMES: dict[type[Any], str] = {}


def document(name: str) -> Callable[[type[Kind]], type[Kind]]:
    """Give a frozen dataclass its permanent name in JSON."""

    def register(kind: type[Kind]) -> type[Kind]:
        _KINDS[name] = kind
        _NAMES[kind] = name
        _known.cache_clear()
        return kind

    return register


def to_document(item: object) -> dict[str, Any]:
    """Return ``item`` as plain dictionaries, lists, strings and numbers."""
    kind: Any = type(item)
    name = _NAMES.get(kind)
    if name is None:
        raise UnknownDocument(f"a {kind.__name__} has no JSON form")
    content: dict[str, Any] = {"kind": name}
    for field, later, default in _fields(kind):
        part = getattr(item, field)
        if not (later and part == default):
            content[field] = _encode(part)
    return content


def dump(item: object) -> str:
    """Return the one canonical JSON text of ``item``: sorted keys, no spaces, shortest round-trip numbers."""
    return canonical(to_document(item))


def canonical(content: Mapping[str, Any]) -> str:
    """Return the one JSON text of plain content, which is stored, digested and signed."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def load(text: str | bytes | Mapping[str, Any], expected: Any) -> Any:
    """Return the thing that a JSON text or a decoded document describes.

    Args:
        text: JSON, or a mapping decoded from it.
        expected: the class, or union of classes, that is wanted here.
    """
    if isinstance(text, str | bytes):
        text = parse_json(text)
    known = sorted(kinds_of(expected))
    kind = text.get("kind") if isinstance(text, Mapping) else None
    if kind not in known:
        list_of = ", ".join(known)
        raise UnknownDocument(
            f"unknown kind {kind!r} here; known: {list_of}", of_file=f"unknown kind; known: {list_of}"
        )
    try:
        return _decode(text)
    except RecursionError:
        raise UnknownDocument("not a document: it is nested too deep") from None


def kinds_of(expected: Any) -> dict[str, type[Any]]:
    """Return the classes of a kind, or of a union of kinds, by their names in JSON."""
    try:
        return dict(_known(expected))
    except TypeError:
        raise InvalidArgument("expected", expected, "a class, or a union of classes") from None


@cache
def _known(expected: Any) -> Mapping[str, type[Any]]:
    return {name: kind for kind, name in _NAMES.items() if issubclass(kind, expected)}


def text_kind(text: str) -> str:
    """Return which kind of thing a text says that it holds; empty if it says none."""
    try:
        content = parse_json(text)
    except UnknownDocument:
        return ""
    kind = content.get("kind") if isinstance(content, dict) else None
    return kind if isinstance(kind, str) else ""


def load_parts(text: str, kind: str, *names: str) -> dict[str, Any]:
    """Return the parts of what was released as JSON of a kind; it must have all that are named."""
    content = parse_json(text)
    if not isinstance(content, dict) or content.get("kind") != kind or not content.keys() >= set(names):
        raise UnknownDocument(f"the text is no {kind}: that has {', '.join(names)}")
    return content


@cache
def _fields(kind: type[Any]) -> tuple[tuple[str, bool, Any], ...]:
    """Return of every field its name, whether it is left out at its default, and that."""
    return tuple((field.name, bool(field.metadata.get("later")), field.default) for field in dataclasses.fields(kind))


def _encode(value: object) -> Any:
    if value is None or isinstance(value, str | float | int):
        return value
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
        list_of = ", ".join(sorted(_KINDS))
        raise UnknownDocument(f"unknown kind {name!r}; known: {list_of}", of_file=f"unknown kind; known: {list_of}")
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
    hints = _hints(str(name))
    for key, part in fields.items():
        if not _fits(part, hints[key]):
            raise InvalidArgument(key, part, f"{_name(hints[key])} in a document of kind {name!r}")
    return kind(**fields)


@cache
def _hints(name: str) -> dict[str, Any]:
    return get_type_hints(_KINDS[name])


def _fits(value: object, hint: Any) -> bool:
    """Tell whether a decoded value is what a field is declared to hold, as far as JSON and our own kinds go."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is Literal:
        return value in inner
    if origin is tuple:
        if not isinstance(value, tuple) or (inner[-1] is not Ellipsis and len(value) != len(inner)):
            return False
        hints = [inner[0]] * len(value) if inner[-1] is Ellipsis else inner
        return all(map(_fits, value, hints))
    if hint is float:
        return type(value) is float or (type(value) is int and value.bit_length() < _FLOAT_BITS)
    if hint in (bool, int, str, NoneType):
        return type(value) is hint
    if isinstance(hint, type) and any(issubclass(kind, hint) for kind in _NAMES):
        return isinstance(value, hint)
    return True  # checked by whoever is made of it


def _name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("chronodp.", "")

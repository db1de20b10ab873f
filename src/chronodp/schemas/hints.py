"""Schemas from type hints: of registered kinds, of typed dictionaries, and of what these hold.

The rules are those by which `chronodp.privacy.load` reads: every field without a default must be there, no other field
may be, and a field holds what it is declared to hold. Finer rules (limits, what goes together) are the constructors'.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from chronodp.privacy import kinds_of

__all__ = ["Schema", "complete", "schema_of"]

Schema = dict[str, Any]

_DEFS = "#/$defs/"
_PLAIN: Mapping[Any, str] = {bool: "boolean", int: "integer", float: "number", str: "string", NoneType: "null"}


def complete(name: str, title: str, about: str, root: Schema, defined: Schema) -> Schema:
    """Return the schema of a document by itself, as a file holds it."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"{name}.schema.json"}
    shown = {"$defs": dict(sorted(defined.items()))} if defined else {}
    return {**head, "title": title, **root, "description": about, **shown}


def schema_of(hint: Any) -> tuple[Schema, Schema]:
    """Return the schema of what a hint allows, and by name what it refers to."""
    made = _Definitions()
    root = made.of(hint)
    if set(root) == {"$ref"} and str(root) not in str(made.found):  # nothing else refers to it
        root = made.found.pop(root["$ref"].removeprefix(_DEFS))
    return root, made.found


class _Definitions:
    """What one schema refers to, by name, gathered while hints are read."""

    def __init__(self) -> None:
        self.found: dict[str, Schema] = {}
        self._owners: dict[str, object] = {}

    def of(self, hint: Any) -> Schema:
        origin, inner = get_origin(hint), get_args(hint)
        if origin is Annotated:
            return {**self.of(inner[0]), **inner[1]}
        if origin is NotRequired:
            return self.of(inner[0])
        if origin in (Union, UnionType):
            return _any_of([self.of(one) for one in inner])
        if origin is Literal:
            return {"const": inner[0]} if len(inner) == 1 else {"enum": list(inner)}
        if origin is list:
            return {"type": "array", "items": self.of(inner[0])}
        if origin is dict:
            return {"type": "object", "additionalProperties": self.of(inner[1])}
        if origin is tuple:
            return self._tuple(inner)
        if hint in _PLAIN:
            return {"type": _PLAIN[hint]}
        if is_typeddict(hint):
            return self._defined(hint.__name__, hint, lambda: self._dictionary(hint))
        return {} if hint is Any else self._kinds(hint)

    def _tuple(self, inner: tuple[Any, ...]) -> Schema:
        if inner[-1] is Ellipsis:
            return {"type": "array", "items": self.of(inner[0])}
        parts = [self.of(one) for one in inner]
        return {"type": "array", "prefixItems": parts, "items": False, "minItems": len(parts)}

    def _kinds(self, hint: type[Any]) -> Schema:
        # A program may register kinds of its own: the schemas are of what chronodp writes.
        kinds = {name: kind for name, kind in kinds_of(hint).items() if kind.__module__.startswith("chronodp.")}
        if not kinds:
            raise AssertionError(f"a field holds {hint}, which has no schema")
        every = [self._defined(name, kinds[name], partial(self._kind, name, kinds[name])) for name in sorted(kinds)]
        return every[0] if len(every) == 1 else self._defined(hint.__name__, hint, lambda: _any_of(every))

    def _kind(self, name: str, kind: type[Any]) -> Schema:
        hints = get_type_hints(kind, include_extras=True)
        fields = dataclasses.fields(kind)
        missing = dataclasses.MISSING
        needed = [one.name for one in fields if one.default is missing and one.default_factory is missing]
        held = {one.name: self._plain() if hints[one.name] is Any else self.of(hints[one.name]) for one in fields}
        return _object(kind, {"kind": {"const": name}, **held}, ["kind", *needed])

    def _plain(self) -> Schema:
        """Return the schema of what a constructor checks by itself: anything but an object, which would need a kind."""
        again = {"$ref": f"{_DEFS}Plain"}
        parts = [{"type": ["boolean", "null", "number", "string"]}, {"type": "array", "items": again}]
        return self._defined("Plain", Any, lambda: {"anyOf": parts})

    def _dictionary(self, hint: Any) -> Schema:
        hints = get_type_hints(hint, include_extras=True)
        # Not by __required_keys__, which does not see through annotations that are texts.
        needed = [key for key, one in hints.items() if get_origin(one) is not NotRequired]
        return _object(hint, {key: self.of(one) for key, one in hints.items()}, needed)

    def _defined(self, name: str, whose: object, make: Callable[[], Schema]) -> Schema:
        if self._owners.setdefault(name, whose) is not whose:
            raise AssertionError(f"two things are called {name}")
        if name not in self.found:
            self.found[name] = {}  # while it is made: a kind may hold itself
            self.found[name] = make()
        return {"$ref": f"{_DEFS}{name}"}


def _object(whose: Any, properties: Schema, needed: list[str]) -> Schema:
    about = (whose.__doc__ or "").strip().partition("\n")[0]
    shape = {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}
    return {"description": about, **shape}


def _any_of(schemas: list[Schema]) -> Schema:
    apart: list[Schema] = []
    for one in schemas:
        apart += [one] if one not in apart else []
    return apart[0] if len(apart) == 1 else {"anyOf": apart}

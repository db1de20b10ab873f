"""The schemas as they stand in the package: read, not made, so that nothing else is loaded for it."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from chronodp.errors import InvalidArgument

__all__ = ["ENDING", "read_schema", "schema_names"]

ENDING = ".schema.json"


def schema_names() -> tuple[str, ...]:
    """Return the documents that have a schema, in order.

    >>> schema_names()[:3]
    ('answers', 'budget', 'certificate')
    """
    found = (one.name for one in files(__package__).iterdir())
    return tuple(sorted(name.removesuffix(ENDING) for name in found if name.endswith(ENDING)))


def read_schema(name: str) -> dict[str, Any]:
    """Return the schema of a document, decoded; `schema_names` lists them.

    >>> read_schema("dossier")["required"]
    ['kind', 'format', 'made', 'version', 'dataset', 'public_key', 'head', 'files']
    """
    if not isinstance(name, str) or name not in schema_names():
        raise InvalidArgument("name", name, f"one of {', '.join(schema_names())}")
    schema: dict[str, Any] = json.loads(files(__package__).joinpath(f"{name}{ENDING}").read_text(encoding="utf-8"))
    return schema

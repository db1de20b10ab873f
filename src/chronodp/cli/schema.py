"""``chronodp schema``: the JSON Schemas of the documents that chronodp writes."""

from __future__ import annotations

from typing import Annotated

import typer

from chronodp.cli.terminal import print_json

__all__ = ["schema"]


def schema(
    name: Annotated[str | None, typer.Argument(help="Of which document; without it, all names are listed.")] = None,
) -> None:
    """Print the JSON Schema (2020-12) of a document that chronodp writes, or list the documents that have one.

    A schema says which fields there are and what kind of value each holds. Signatures and digests are for
    `chronodp verify`.

    **Examples**

    `chronodp schema`

    `chronodp schema chain > chain.schema.json`
    """
    from chronodp.schemas import json_schema, schema_names

    if name is not None:
        print_json(json_schema(name), indent=1)
        return
    width = max(map(len, schema_names()))
    for one in schema_names():
        print(f"{one:{width}}  {json_schema(one)['description']}")

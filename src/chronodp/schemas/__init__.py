"""JSON Schemas (2020-12) of the documents that are written, for programs that are not ours to check them by.

They are made from the kinds of documents as these are declared, when they are asked for. A schema says which fields
there are and what kind of value each holds; what numbers mean is for `load`.
"""

from chronodp.schemas.documents import json_schema, schema_names

__all__ = ["json_schema", "schema_names"]

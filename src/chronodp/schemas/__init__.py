"""JSON Schemas (2020-12) of the documents that are written, for programs that are not ours to check them by.

They stand beside this file, and ``python -m chronodp.schemas`` writes them anew from the kinds of documents as they are
declared. A schema says which fields there are and what kind of value each holds; what numbers mean is for `load`.
"""

from chronodp.schemas.stored import read_schema, schema_names

__all__ = ["read_schema", "schema_names"]

"""The schemas are those that the registered kinds have, and a schema of JSON Schema itself."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import chronodp
from chronodp.errors import InvalidArgument
from chronodp.schemas import read_schema, schema_names
from chronodp.schemas.documents import schema_texts
from chronodp.schemas.stored import ENDING
from tests.schemas.found import golden_documents, is_released, kinds_within


def test_schemas_are_up_to_date() -> None:
    made = schema_texts()
    assert list(made) == list(schema_names())
    for name, text in made.items():
        stored = files("chronodp.schemas").joinpath(f"{name}{ENDING}").read_text(encoding="utf-8")
        assert stored == text, f"{name}{ENDING} is not up to date: run `python -m chronodp.schemas`"


@pytest.mark.slow
@pytest.mark.parametrize("name", schema_names())
def test_a_schema_is_one_by_the_standard_and_names_no_address_of_ours(name: str) -> None:
    schema = read_schema(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    assert schema["$id"] == f"{name}.schema.json"
    assert schema["title"]
    assert schema["description"]


def test_every_registered_kind_has_its_schema_and_an_example() -> None:
    source = (path.read_text(encoding="utf-8") for path in Path(chronodp.__path__[0]).rglob("*.py"))
    kinds = {name for text in source for name in re.findall(r'^@document\("(\w+)"\)', text, flags=re.MULTILINE)}
    assert len(kinds) > 140
    assert kinds <= read_schema("document")["$defs"].keys()
    found = {one["kind"] for text in golden_documents() for one in kinds_within(text) if not is_released(one)}
    assert kinds <= found, "a new kind needs an example in tests/golden/documents/kinds.json"


def test_a_schema_that_is_not_there_is_refused_with_the_names_of_all() -> None:
    with pytest.raises(InvalidArgument, match="name must be one of answers, budget"):
        read_schema("../../secret")

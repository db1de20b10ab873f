"""Every document that is written holds to its schema; a changed one is refused where reading it refuses it."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import chronodp as cdp
from chronodp.errors import ChronodpError, InvalidArgument, UnknownDocument
from chronodp.privacy import dump, load
from chronodp.schemas import json_schema, schema_names
from tests.schemas.found import (
    GOLDEN,
    golden_documents,
    is_released,
    kinds_within,
    registered_kinds,
    schema_for,
    validator,
)

DOCUMENTS = golden_documents()
KINDS = {json.dumps(one, sort_keys=True): one for text in DOCUMENTS for one in kinds_within(text)}
OTHERS: tuple[Any, ...] = (None, True, 7, 0.5, "other", [], [[]], {}, {"kind": "pure", "epsilon": 1.0})


@pytest.mark.slow
def test_golden_documents_hold_to_their_schemas() -> None:
    assert DOCUMENTS
    assert not [one for one in DOCUMENTS if not validator(*schema_for(one)).is_valid(one)]


def test_golden_kinds_are_read_and_written_as_they_stand() -> None:
    for text in (GOLDEN / "documents/kinds.json").read_text(encoding="utf-8").splitlines()[1:-1]:
        assert dump(load(text.removesuffix(","), object)) == text.removesuffix(",")


def test_a_chain_and_a_saved_release_hold_to_their_schemas(tmp_path: Path) -> None:
    totals = cdp.Aggregate([310.0, 290.0], change=1.0, unit=cdp.Event(), every="1D", start="2026-01-05")
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("door", unit=cdp.Event(), epsilon=2.0)
        made = totals.plan(epsilon=1.0).release(ledger, dataset="door", request="monday")
        chain = ledger.export("door")
    saved = json.loads(made.save(tmp_path / "monday.json").read_bytes())
    for name, document in (
        ("chain", chain),
        *(("link", json.loads(one["body"])) for one in chain["links"]),
        ("release_file", saved),
        ("release", json.loads(saved["release"])),
        ("link", json.loads(saved["link"]["body"])),
    ):
        assert validator(name).is_valid(document), name
        assert not validator(name).is_valid({**document, "unknown": 1}), name


@pytest.mark.slow
def test_each_schema_is_one_by_the_standard_and_names_no_address_of_ours() -> None:
    for name in schema_names():
        schema = json_schema(name)
        Draft202012Validator.check_schema(schema)
        assert schema["$schema"] == Draft202012Validator.META_SCHEMA["$id"], name
        assert schema["$id"] == f"{name}.schema.json"
        assert schema["title"], name
        assert schema["description"], name


def test_every_registered_kind_has_its_schema_and_an_example() -> None:
    source = (path.read_text(encoding="utf-8") for path in Path(cdp.__path__[0]).rglob("*.py"))
    kinds = {name for text in source for name in re.findall(r'^@document\("(\w+)"\)', text, flags=re.MULTILINE)}
    assert len(kinds) > 100
    assert kinds <= set(registered_kinds())
    assert kinds <= {one["kind"] for one in KINDS.values()}, "a new kind needs an example in documents/kinds.json"


def changed(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a document with one thing wrong, for each of its own fields: missing, of another type, and one too many."""
    for key in document:
        yield {name: value for name, value in document.items() if name != key}
        for other in OTHERS:
            yield {**document, key: copy.deepcopy(other)}
    yield {**document, "unknown": 1}
    yield {**document, "kind": "unknown"}


def refusal(document: dict[str, Any]) -> str:
    """Return how reading refuses a document: by its shape, for its value, or not at all."""
    try:
        load(document, object)
    except UnknownDocument:
        return "shape"
    except InvalidArgument as error:
        return "shape" if "in a document of kind" in str(error) else "value"
    except ChronodpError:
        return "value"
    return ""


@pytest.mark.slow
def test_schema_and_reading_refuse_the_same_shapes() -> None:
    differing = []
    for kind in registered_kinds():
        examples = [one for one in KINDS.values() if one["kind"] == kind and not is_released(one)]
        check, seen = validator("document", kind), set()
        for one in changed(max(examples, key=len)):
            refused = refusal(one)
            seen.add(refused)
            if refused != "value" and check.is_valid(one) != (refused == ""):
                differing.append(one)
        assert "shape" in seen, kind
    assert not differing


def test_a_wrong_text_of_a_release_is_refused() -> None:
    kinds = {one["kind"]: one for one in DOCUMENTS if is_released(one)}
    assert {"release", "together", "choice"} <= kinds.keys()
    for text in kinds.values():
        for key in text:
            assert not validator("release").is_valid({name: part for name, part in text.items() if name != key})
            assert not validator("release").is_valid({**text, key: 0.5})
        assert not validator("release").is_valid({**text, "unknown": 1})

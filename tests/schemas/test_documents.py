"""Every document that was ever written holds to its schema; a changed one is refused where reading it refuses it."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from chronodp.errors import ChronodpError, InvalidArgument, UnknownDocument
from chronodp.privacy import dump, load
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
    assert len(DOCUMENTS) > 200
    for one in DOCUMENTS:
        assert validator(*schema_for(one)).is_valid(one), one["kind"]


def test_golden_kinds_are_read_and_written_as_they_stand() -> None:
    for text in (GOLDEN / "documents/kinds.json").read_text(encoding="utf-8").splitlines()[1:-1]:
        assert dump(load(text.removesuffix(","), object)) == text.removesuffix(",")


@pytest.mark.parametrize("path", ["ledger/0.1.0/chain.json"])
def test_golden_chains_hold_to_their_schema(path: str) -> None:
    chain = json.loads((GOLDEN / path).read_text(encoding="utf-8"))
    assert validator("chain").is_valid(chain)
    assert all(validator("link").is_valid(json.loads(one["body"])) for one in chain["links"])


@pytest.mark.parametrize("path", ["selection/0.1.0/exponential.json", "selection/0.1.0/flip.json"])
def test_golden_files_of_releases_hold_to_their_schema(path: str) -> None:
    saved = json.loads((GOLDEN / path).read_text(encoding="utf-8"))
    assert validator("release_file").is_valid(saved)
    assert validator("release").is_valid(json.loads(saved["release"]))
    assert validator("link").is_valid(json.loads(saved["link"]["body"]))


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


@pytest.mark.parametrize("kind", registered_kinds())
def test_schema_and_reading_refuse_the_same_shapes(kind: str) -> None:
    examples = [one for one in KINDS.values() if one["kind"] == kind and not is_released(one)]
    check, seen = validator("document", kind), set()
    for one in changed(max(examples, key=len)):
        refused = refusal(one)
        seen.add(refused)
        if refused != "value":
            assert check.is_valid(one) == (refused == ""), one
    assert "shape" in seen


def test_a_wrong_text_of_a_release_is_refused() -> None:
    kinds = {one["kind"]: one for one in DOCUMENTS if is_released(one)}
    assert {"release", "together", "choice"} <= kinds.keys()
    for text in kinds.values():
        for key in text:
            assert not validator("release").is_valid({name: part for name, part in text.items() if name != key})
            assert not validator("release").is_valid({**text, key: 0.5})
        assert not validator("release").is_valid({**text, "unknown": 1})

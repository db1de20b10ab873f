"""Every document of our own in a dossier holds to its schema, of every kind of release; a changed one does not."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import chronodp as cdp
from chronodp.dossier import write_dossier
from chronodp.privacy import dump
from tests.dossier.everything import KINDS
from tests.schemas.found import validator

pytestmark = pytest.mark.slow

FILES = {"manifest.json": "dossier", "chain.json": "chain", "answers.json": "answers"}
TEXTS = {"release": "release", "plan": "plan", "body": "link"}
"""Fields that hold a document as text, and its schema."""


def documents(folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield every document in a dossier's own format with the name of its schema."""
    for file, name in FILES.items():
        yield name, json.loads((folder / file).read_bytes())
    for path in sorted(folder.glob("releases/*.json")):
        yield "release_file", json.loads(path.read_bytes())
    for path in sorted(folder.glob("streams/*.json")):
        yield "released_stream", json.loads(path.read_bytes())


def texts_within(content: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(content, dict | list):
        for key, one in content.items() if isinstance(content, dict) else enumerate(content):
            if key in TEXTS and isinstance(one, str):
                yield TEXTS[key], json.loads(one)
            else:
                yield from texts_within(one)


def test_every_document_of_a_dossier_holds_to_its_schema(folder: Path) -> None:
    found = list(documents(folder))
    assert sum(name == "release_file" for name, _ in found) == len(KINDS)
    assert {name for name, _ in found} == {*FILES.values(), "release_file", "released_stream"}
    for name, content in found:
        assert validator(name).is_valid(content), name
        for inner, text in texts_within(content):
            assert validator(inner).is_valid(text), (inner, text)


def test_a_changed_document_of_a_dossier_is_refused(folder: Path) -> None:
    for name, content in dict(documents(folder)).items():
        for key in content:
            assert not validator(name).is_valid({part: one for part, one in content.items() if part != key}), key
            assert not validator(name).is_valid({**content, key: 0.5}), key
        assert not validator(name).is_valid({**content, "unknown": 1})
        for key in (key for key, one in content.items() if isinstance(one, list) and one and isinstance(one[0], dict)):
            changed = copy.deepcopy(content)
            changed[key][0]["unknown"] = 1
            assert not validator(name).is_valid(changed)


def test_documents_of_every_dataset_hold_to_their_schemas(tmp_path: Path, everything: cdp.Ledger) -> None:
    for dataset in ("watch", "renewed", "building"):
        held = write_dossier(everything, dataset, tmp_path / dataset)
        for name, content in documents(held):
            assert validator(name).is_valid(content), name
            assert all(validator(inner).is_valid(text) for inner, text in texts_within(content))
    for _, _, budget in everything.budgets():
        assert validator("budget").is_valid(json.loads(dump(budget)))

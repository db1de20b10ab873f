"""Every public mechanism has a claim, an argument that exists, and an auditor's subject."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import pytest

import chronodp
from chronodp.audit.claims import claims_page
from chronodp.audit.registry import Entry, entries

ROOT = Path(__file__).parents[2]
NO_MECHANISMS = {"accounting", "audit", "cli", "engines", "errors", "ledger", "privacy", "randomness", "report"}
"""Rooms that make no promise of their own: they count, store, read or draw."""

_ENTRIES = entries()


def draws(public: object) -> bool:
    """Whether a class or function takes entropy, by itself or in a public method."""
    parts = [public]
    if inspect.isclass(public):
        named = {name: part for name, part in vars(public).items() if not name.startswith("_") or name == "__init__"}
        parts = [getattr(part, "__func__", part) for part in named.values()]
    return any(inspect.isfunction(part) and "entropy" in inspect.signature(part).parameters for part in parts)


def mechanisms() -> list[object]:
    found: list[object] = []
    rooms = sorted(path.parent for path in (ROOT / "src/chronodp").glob("*/__init__.py"))
    for room in rooms:
        if room.name in NO_MECHANISMS:
            continue
        names = [room.name, *(f"{room.name}.{inner.parent.name}" for inner in sorted(room.glob("*/__init__.py")))]
        for name in names:
            module = importlib.import_module(f"chronodp.{name}")
            found += [part for part in (getattr(module, public) for public in module.__all__) if draws(part)]
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("mechanism", mechanisms(), ids=lambda one: f"{one.__module__}.{one.__name__}")
def test_every_mechanism_is_covered(mechanism: object) -> None:
    covered = [one for entry in _ENTRIES for one in entry.covers]
    assert mechanism in covered, "add an Entry to chronodp.audit.subjects that covers it"


def test_the_search_for_mechanisms_finds_some() -> None:
    names = {getattr(one, "__name__", "") for one in mechanisms()}
    assert {"Stream", "Alert", "BlockShuffle", "choose", "Plan", "WindowedStream"} <= names
    assert chronodp.Alert in mechanisms()


@pytest.mark.parametrize("entry", _ENTRIES, ids=lambda entry: entry.name)
def test_every_claim_has_an_argument_and_a_check(entry: Entry) -> None:
    assert entry.precision
    assert entry.unclaimed or entry.subjects()
    for subject in entry.subjects():
        assert (ROOT / subject.claim.argument).is_file()
        assert subject.checks
        assert subject.neighbours


def test_the_page_of_claims_is_the_one_that_the_mechanisms_write() -> None:
    page = (ROOT / "docs/explanation/claims.md").read_text(encoding="utf-8")
    assert page == claims_page(), "run: python -m chronodp.audit.claims > docs/explanation/claims.md"

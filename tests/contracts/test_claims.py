"""Every public mechanism has a claim, an argument that exists, and an auditor's case."""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import sys
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import get_args

import pytest
from tests.audit.claims import claims_page
from tests.audit.registry import Entry, entries

import chronodp
from chronodp.local.longitudinal import Protocol
from chronodp.local.mechanism import LocalMechanism
from chronodp.randomness import seeded

ROOT = Path(__file__).parents[2]
_STORING = {"cli", "engines", "errors", "ledger", "live", "privacy", "report", "service"}
NO_MECHANISMS = {"accounting", "audit", "randomness", *_STORING}
"""Rooms that make no promise of their own: they count, store, read, draw, or hand on what others promise."""

_ENTRIES = entries()


def functions(public: object) -> list[FunctionType]:
    """The functions of a class or function that draw, or all of a class that leaves drawing to another."""
    if not inspect.isclass(public):
        return [public] if inspect.isfunction(public) else []
    found = [inspect.getattr_static(public, name) for name in dir(public)]
    plain = [getattr(part, "__func__", part) for part in found]
    parts = [part for part in plain if inspect.isfunction(part) and part.__module__.startswith("chronodp")]
    return [part for part in parts if takes_entropy(part)] or parts


def takes_entropy(function: FunctionType) -> bool:
    return "entropy" in inspect.signature(function).parameters


def draws(public: object) -> bool:
    """Whether a class or function takes entropy, by itself or in a public method; protocols only say what others do."""
    if getattr(public, "_is_protocol", False):
        return False
    parts = [part for part in functions(public) if not part.__name__.startswith("_") or part.__name__ == "__init__"]
    return any(map(takes_entropy, parts))


@functools.cache
def mechanisms() -> list[object]:
    """What rooms export and draws; what draws anywhere and states a guarantee; devices, which draw by themselves."""
    found: list[object] = [chronodp.local.Device, *get_args(LocalMechanism), *get_args(Protocol)]
    for room in sorted(path.parent for path in (ROOT / "src/chronodp").glob("*/__init__.py")):
        if room.name in NO_MECHANISMS:
            continue
        for path in sorted(room.rglob("*.py")):
            parts = path.relative_to(ROOT / "src").with_suffix("").parts
            module = importlib.import_module(".".join(parts).removesuffix(".__init__"))
            listed = [getattr(module, name) for name in module.__all__]
            exported = path.name == "__init__.py"
            found += [one for one in listed if draws(one) and (exported or "Guarantee:" in (one.__doc__ or ""))]
    return list(dict.fromkeys(found))


def test_every_mechanism_is_covered() -> None:
    covered = [one for entry in _ENTRIES for one in entry.covers]
    left = [f"{one.__module__}.{getattr(one, '__name__', one)}" for one in mechanisms() if one not in covered]
    assert not left, "add an Entry to tests.audit.cases that covers them"


@pytest.mark.slow
def test_the_search_for_mechanisms_finds_some() -> None:
    names = {getattr(one, "__name__", "") for one in mechanisms()}
    assert {"Stream", "Alert", "BlockShuffle", "choose", "Plan", "WindowedStream", "fit_privately"} <= names
    assert {"Fran", "PrivateFilter", "SpectrumPlan", "PlanTogether", "OneBit", "Memoised"} <= names
    assert chronodp.Alert in mechanisms()


def left_over(entry: Entry) -> list[object]:
    """What an entry covers and no case of it calls."""
    called: set[CodeType] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:  # noqa: ARG001
        called.add(frame.f_code)

    left = [one for one in entry.covers if one not in get_args(Protocol)]  # protocols are data that devices read
    for case in entry.cases():
        sys.setprofile(note)
        try:
            case.run(case.neighbours[0][0], seeded(1))
        finally:
            sys.setprofile(None)
        left = [one for one in left if not called & {part.__code__ for part in functions(one)}]
        if not left:
            break
    return left


@pytest.mark.slow
def test_whatever_is_covered_is_really_run() -> None:
    """A name in a list proves nothing: what an entry covers must be called when its cases are run."""
    left = {entry.name: left_over(entry) for entry in _ENTRIES if not entry.unclaimed}
    assert not {name: some for name, some in left.items() if some}


def test_every_claim_has_an_argument_and_a_check() -> None:
    for entry in _ENTRIES:
        assert entry.precision, entry.name
        cases = tuple(entry.cases())
        assert entry.unclaimed or cases, entry.name
        for case in cases:
            assert (ROOT / case.claim.argument).is_file(), case.name
            assert case.checks, case.name
            assert case.neighbours, case.name


@pytest.mark.slow
def test_the_page_of_claims_has_every_entry_and_links_that_lead_somewhere() -> None:
    page = claims_page()
    assert not [entry.name for entry in _ENTRIES if entry.name.casefold() not in page.casefold()]
    links = set(re.findall(r"\]\((\.\./[^)]+)\)", page))
    assert links
    assert not [link for link in links if not (ROOT / "docs/generated" / link).resolve().is_file()]

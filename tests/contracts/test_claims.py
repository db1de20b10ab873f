"""Every public mechanism has a claim, an argument that exists, and an auditor's case."""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import get_args

import pytest

import chronodp
from chronodp.audit.claims import claims_page
from chronodp.audit.registry import Entry, entries
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


@pytest.mark.parametrize("mechanism", mechanisms(), ids=lambda one: f"{one.__module__}.{one.__name__}")
def test_every_mechanism_is_covered(mechanism: object) -> None:
    covered = [one for entry in _ENTRIES for one in entry.covers]
    assert mechanism in covered, "add an Entry to chronodp.audit.cases that covers it"


@pytest.mark.slow
def test_the_search_for_mechanisms_finds_some() -> None:
    names = {getattr(one, "__name__", "") for one in mechanisms()}
    assert {"Stream", "Alert", "BlockShuffle", "choose", "Plan", "WindowedStream", "fit_privately"} <= names
    assert {"Fran", "PrivateFilter", "SpectrumPlan", "PlanTogether", "OneBit", "Memoised"} <= names
    assert chronodp.Alert in mechanisms()


@pytest.mark.slow
@pytest.mark.parametrize("entry", [entry for entry in _ENTRIES if not entry.unclaimed], ids=lambda entry: entry.name)
def test_whatever_is_covered_is_really_run(entry: Entry) -> None:
    """A name in a list proves nothing: what an entry covers must be called when its cases are run."""
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
    assert not left, f"no case of {entry.name!r} runs them"


@pytest.mark.parametrize("entry", _ENTRIES, ids=lambda entry: entry.name)
def test_every_claim_has_an_argument_and_a_check(entry: Entry) -> None:
    assert entry.precision
    cases = tuple(entry.cases())
    assert entry.unclaimed or cases
    for case in cases:
        assert (ROOT / case.claim.argument).is_file()
        assert case.checks
        assert case.neighbours


@pytest.mark.slow
def test_the_page_of_claims_is_the_one_that_the_mechanisms_write() -> None:
    page = (ROOT / "docs/explanation/claims.md").read_text(encoding="utf-8")
    assert page == claims_page(), "run: python -m chronodp.audit.claims > docs/explanation/claims.md"

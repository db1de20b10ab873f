"""One wrong argument, or two: refused by an error of ours that shows no private value, and nothing is spent.

No public call is without a fuzzer: each is given wrong arguments, parses odd bytes, or has its reason here.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import inspect
import pkgutil
import random
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, strategies as st

import chronodp as cdp
from chronodp.errors import ChronodpError
from chronodp.privacy import Swap
from tests.conftest import SCALE, Trials
from tests.fuzz.calls import FREE, MARK, ODD, Call, address_of, spending


def try_out(call: Call, wrong: dict[str, Any], paid: Callable[[], object] = int) -> str | None:
    """Return what is at fault with a call that has wrong arguments: nothing if it works, or is refused as it should."""
    told = f"({', '.join(f'{name}={value!r:.60}' for name, value in wrong.items())})"
    before = paid()
    try:
        call.door(**{**call.arguments, **wrong})
    except ChronodpError as error:
        if MARK in str(error):
            return f"{told} tells a private value"
        return f"{told} is refused and paid for" if paid() != before else None
    except Exception as error:
        return f"{told} fails with {type(error).__name__}: {error!s:.160}"
    return None


@pytest.mark.slow
@pytest.mark.parametrize("room", sorted({name.partition(".")[0] for name in FREE}))
def test_one_wrong_argument(room: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # where a path that was meant as something else leads to nothing
    faults = []
    for name, call in FREE.items():
        if name.partition(".")[0] == room:
            assert try_out(call, {}) is None, name
            step = 1 if SCALE >= 1 else 2  # half of the odd values for one argument, the others for the next
            for place, argument in enumerate(call.arguments):
                tried = (try_out(call, {argument: value}) for value in ODD[place % step :: step])
                faults += [f"{name}{fault}" for fault in tried if fault]
    assert not faults, "\n".join(faults)


@given(st.data())
def test_two_wrong_arguments(data: st.DataObject) -> None:
    call = FREE[data.draw(st.sampled_from(sorted(FREE)))]
    places = data.draw(st.lists(st.sampled_from(sorted(call.arguments)), min_size=1, max_size=2, unique=True))
    assert try_out(call, {place: data.draw(st.sampled_from(ODD)) for place in places}) is None


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as opened:
        opened.open("meters", unit=cdp.Event(), epsilon=100.0, delta=1e-3)
        opened.open("wards", unit=cdp.Window(2), epsilon=100.0)
        opened.open("times", unit=Swap(4), epsilon=100.0)
        opened.open("sequences", unit=cdp.Window(1, "replace"), epsilon=100.0)
        yield opened


@pytest.mark.slow
def test_one_wrong_argument_where_a_ledger_pays(
    ledger: cdp.Ledger, tmp_path: Path, trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where a dossier is written whose place is odd
    # What was debited is counted beside the ledger, which is many times faster than its status.
    with contextlib.closing(sqlite3.connect(tmp_path / "budget.db")) as beside:

        def paid() -> object:
            return beside.execute("SELECT count(*) FROM charges").fetchone()

        cases = [
            (name, argument, number)
            for name, call in spending(ledger).items()
            for argument in call.arguments
            for number in range(len(ODD))
        ]
        tried = random.Random(1).sample(cases, trials(len(cases), least=500))
        calls, faults = spending(ledger), []
        for name, argument, number in tried:
            call = calls[name]
            fresh = {key: f"{name} {argument} {number}" for key in ("name", "request") if key in call.arguments}
            fault = try_out(call, {**fresh, argument: ODD[number]}, paid)
            if fault:
                faults.append(f"{name}{fault}")
    assert not faults, "\n".join(faults)


_ROOMS = [f"chronodp.{info.name}" for info in pkgutil.iter_modules(cdp.__path__) if info.ispkg and info.name != "cli"]
_FOLDERS = ("federated.aggregation", "federated.models", "federated.training", "live.sinks", "live.sources")

EXCEPTIONS = {
    "read from bytes under the other fuzzer": """
        alerts.design.AlertDesign dataset.joint.release.ReleaseTogether spectrum.release.SpectrumRelease
        federated.aggregation.identity.Identity federated.training.people_file.read_people
        federated.training.plan.TrainingPlan correlated.model_file.read_model
        federated.training.plan.plan_training ledger.certificates. ledger.ledger.Ledger
        ledger.witness.FileWitness local.device. selection.choice.Choice series.release.Release
        series.windowed.design.WindowedDesign
    """,
    "a step that a fuzzed front door takes with what it has checked": """
        engines. spectrum.spectrum.SpectrumPlan federated.aggregation.terms.Phase
        federated.training.step.private_sum ledger.debits.Spend ledger.restoring.restore
        live.streams.open_streams series.windowed.advance. series.windowed.state.
    """,
    "a formula of numbers, or of functions, that its caller has": """
        accounting. audit.exact. postprocess.consistency. spectrum.comparison. state_space. series.smoothed.
        federated.models.loss_of federated.models.slope_of federated.training.evaluation.
        temporal.grids.resample
    """,
    "draws, writes or goes on for minutes, with what was made by a fuzzed call": """
        federated.training.people_file.make_trainer federated.training.trainer.Trainer live.runner.Live
        live.state.State live.structured_streaming. report. selection.arima.choose_order. temporal.pages.
        temporal.tables.release_times
    """,
}


def _public(module: ModuleType) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in module.__all__:
        thing = getattr(module, name)
        if inspect.ismodule(thing):
            found |= _public(thing)
        elif (inspect.isclass(thing) or inspect.isfunction(thing)) and thing.__module__.startswith("chronodp"):
            found[address_of(thing)] = thing
    return found


def _takes_nothing(thing: Any) -> bool:
    """Tell whether there is nothing to get wrong: protocols, errors, plain records, and what has no arguments."""
    if inspect.isclass(thing):
        if getattr(thing, "_is_protocol", False) or issubclass(thing, Exception):
            return True
        if dataclasses.is_dataclass(thing):
            return not any("__post_init__" in vars(kind) for kind in thing.__mro__) or not dataclasses.fields(thing)
    return not inspect.signature(thing).parameters


def _uncovered(folder: Path) -> list[str]:
    modules = (*_ROOMS, *(f"chronodp.{name}" for name in _FOLDERS), "chronodp.series.windowed")
    public = {name: thing for module in modules for name, thing in _public(importlib.import_module(module)).items()}
    with cdp.Ledger(folder / "budget.db") as ledger:
        covered = FREE.keys() | spending(ledger).keys()
    return sorted(name for name, thing in public.items() if name not in covered and not _takes_nothing(thing))


def test_every_public_call_is_fuzzed_or_says_why_not(tmp_path: Path) -> None:
    excepted = tuple(name for names in EXCEPTIONS.values() for name in names.split())
    uncovered = _uncovered(tmp_path)
    assert not [name for name in uncovered if not name.startswith(excepted)]
    idle = [known for known in excepted if not any(name.startswith(known) for name in uncovered)]
    assert not idle, f"exceptions without anything to except: {idle}"

"""No public call without a fuzzer: each is given wrong arguments, parses odd bytes, or has its reason here."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import chronodp as cdp
from tests.fuzz.calls import FREE, spending
from tests.fuzz.distant import DISTANT
from tests.fuzz.plain import PLAIN

_ROOMS = [f"chronodp.{info.name}" for info in pkgutil.iter_modules(cdp.__path__) if info.ispkg and info.name != "cli"]
_FOLDERS = ("federated.aggregation", "federated.models", "federated.training", "live.sinks", "live.sources")

EXCEPTIONS: dict[str, tuple[str, ...]] = {
    "read from bytes under the other fuzzer": (
        "alerts.design.AlertDesign",
        "dataset.joint.release.ReleaseTogether",
        "spectrum.release.SpectrumRelease",
        "federated.aggregation.identity.Identity",
        "federated.training.people_file.read_people",
        "federated.training.plan.TrainingPlan",
        "correlated.model_file.read_model",
        "federated.training.plan.plan_training",
        "ledger.certificates.",
        "ledger.ledger.Ledger",
        "ledger.witness.FileWitness",
        "local.device.",
        "selection.choice.Choice",
        "series.release.Release",
        "series.windowed.design.WindowedDesign",
    ),
    "a step that a fuzzed front door takes with what it has checked": (
        "engines.",
        "spectrum.spectrum.SpectrumPlan",
        "federated.aggregation.terms.Phase",
        "federated.training.step.private_sum",
        "ledger.debits.Spend",
        "ledger.restoring.restore",
        "live.streams.open_streams",
        "series.windowed.advance.",
        "series.windowed.state.",
    ),
    "a formula of numbers, or of functions, that its caller has": (
        "accounting.",
        "audit.exact.",
        "postprocess.consistency.",
        "spectrum.comparison.",
        "state_space.",
        "series.smoothed.",
        "federated.models.loss_of",
        "federated.models.slope_of",
        "federated.training.evaluation.",
        "temporal.grids.resample",
    ),
    "draws, writes or goes on for minutes, with what was made by a fuzzed call": (
        "federated.training.people_file.make_trainer",
        "federated.training.trainer.Trainer",
        "live.runner.Live",
        "live.state.State",
        "live.structured_streaming.",
        "report.",
        "selection.arima.choose_order.",
        "temporal.pages.",
        "temporal.tables.release_times",
    ),
}


def _address(door: Any) -> str:
    door = door.func if isinstance(door, partial) else door
    door = getattr(door, "__func__", door)
    return f"{door.__module__}.{door.__qualname__}".removeprefix("chronodp.")


def _public(module: ModuleType) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in module.__all__:
        thing = getattr(module, name)
        if inspect.ismodule(thing):
            found |= _public(thing)
        elif (inspect.isclass(thing) or inspect.isfunction(thing)) and thing.__module__.startswith("chronodp"):
            found[_address(thing)] = thing
    return found


def _takes_nothing(thing: Any) -> bool:
    """Tell whether there is nothing to get wrong: protocols, errors, plain records, and what has no arguments."""
    if inspect.isclass(thing):
        if getattr(thing, "_is_protocol", False) or issubclass(thing, Exception):
            return True
        if dataclasses.is_dataclass(thing):
            return not any("__post_init__" in vars(kind) for kind in thing.__mro__) or not dataclasses.fields(thing)
    return not inspect.signature(thing).parameters


def _covered(folder: Path) -> set[str]:
    with cdp.Ledger(folder / "budget.db") as ledger:
        return {_address(call.door) for call in {**FREE, **DISTANT, **PLAIN, **spending(ledger)}.values()}


def _uncovered(folder: Path) -> list[str]:
    modules = (*_ROOMS, *(f"chronodp.{name}" for name in _FOLDERS), "chronodp.series.windowed")
    public = {name: thing for module in modules for name, thing in _public(importlib.import_module(module)).items()}
    covered = _covered(folder)
    return sorted(name for name, thing in public.items() if name not in covered and not _takes_nothing(thing))


def test_every_public_call_is_fuzzed_or_says_why_not(tmp_path: Path) -> None:
    excepted = tuple(name for names in EXCEPTIONS.values() for name in names)
    uncovered = _uncovered(tmp_path)
    assert not [name for name in uncovered if not name.startswith(excepted)]
    idle = [known for known in excepted if not any(name.startswith(known) for name in uncovered)]
    assert not idle, f"exceptions without anything to except: {idle}"

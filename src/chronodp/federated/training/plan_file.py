"""A training plan in one TOML file: its numbers at the top, ``[model]``, ``[columns]``, and a table for each holder.

Everything in it is public, and the same at every holder; the tables of people that it names lie with their holders.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chronodp.errors import InvalidArgument
from chronodp.federated.aggregation.terms import check_name
from chronodp.federated.models import (
    Architecture,
    Column,
    Convolution,
    Forecast,
    Inputs,
    Linear,
    ModelDesign,
    Outcome,
    Recurrent,
    Risk,
)
from chronodp.federated.training.plan import TrainingPlan, plan_training
from chronodp.reading import check_path, closed_file, read_toml

__all__ = ["PlanFile", "read_plan"]

_TOP = ("name", "budget", "person", "time", "label", "model", "columns", "holders", "held_out")
_NEEDED = ("epsilon", "delta", "batch", "rounds", "local_steps")
_PLAN = (
    *_NEEDED,
    "clip",
    "learning_rate",
    "momentum",
    "update_clip",
    "holders_per_person",
    "accept_large_delta",
)
_KINDS: dict[str, type[Architecture]] = {"linear": Linear, "recurrent": Recurrent, "convolution": Convolution}


@dataclass(frozen=True, slots=True)
class PlanFile:
    """What a file says.

    Attributes:
        name: of the run.
        plan: what all holders share.
        people: the declared number of people of each holder.
        tables: where the people of each holder are, seen from where the file lies.
        held_out: the same for people nobody trains on, if there are any.
        public: whether what is measured on them may be shown to anyone.
        person: the column that tells people apart.
        time: the column that orders their rows.
        label: the column with the outcome of a risk.
        budget: epsilon of each holder's budget; what the plan needs if not given.
        accept_large_delta: whether a delta above 1 / people was asked for.
    """

    name: str
    plan: TrainingPlan
    people: dict[str, int]
    tables: dict[str, Path]
    held_out: Path | None
    public: bool
    person: str
    time: str
    label: str
    budget: float | None
    accept_large_delta: bool


@closed_file()
def read_plan(path: str | Path) -> PlanFile:
    """Return what a TOML file says, its noise found anew; no data is read."""
    place = check_path("plan", path)
    said = read_toml("plan", place)
    if unknown := sorted(said.keys() - {*_TOP, *_PLAN}):
        raise InvalidArgument("plan", unknown[0], f"one of {', '.join((*_TOP, *_PLAN))}")
    holders = _table(said, "holders")
    model = _model(_table(said, "model"), _table(said, "columns"))
    people = {check_name("holders", name): _people(name, holder) for name, holder in holders.items()}
    if not people:
        raise InvalidArgument("holders", None, "at least one table [holders.NAME] with data and people")
    for needed in _NEEDED:
        if needed not in said:
            raise InvalidArgument(needed, None, "given in the plan's file")
    held = _table(said, "held_out") if "held_out" in said else {}
    return PlanFile(
        name=check_name("name", said.get("name", place.stem)),
        plan=plan_training(model, people=min(people.values()), **{name: said[name] for name in _PLAN if name in said}),
        people=people,
        tables={name: place.parent / str(holder.get("data", "")) for name, holder in holders.items()},
        held_out=place.parent / str(held.get("data", "")) if held else None,
        public=bool(held.get("public", False)),
        person=str(said.get("person", "person")),
        time=str(said.get("time", "time")),
        label=str(said.get("label", "label")),
        budget=said.get("budget"),
        accept_large_delta=bool(said.get("accept_large_delta", False)),
    )


def _table(said: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = said.get(name)
    if not isinstance(found, dict):
        raise InvalidArgument(name, found, f"a table [{name}] in the plan's file")
    return found


def _people(name: str, holder: object) -> int:
    if not isinstance(holder, dict) or not isinstance(holder.get("people"), int) or holder["people"] < 1:
        raise InvalidArgument(f"holders.{name}", None, "a table with data and the declared number of people")
    return int(holder["people"])


def _model(said: Mapping[str, Any], columns: Mapping[str, Any]) -> ModelDesign:
    options = dict(said)
    kind, length = options.pop("architecture", "convolution"), options.pop("length", None)
    outcome_kind, horizon = options.pop("outcome", "risk"), options.pop("horizon", None)
    prevalence, target = options.pop("prevalence", 0.5), options.pop("column", None)
    start = options.pop("start", 0)
    if kind not in _KINDS:
        raise InvalidArgument("architecture", kind, f"one of {', '.join(_KINDS)}")
    known = {name: _column(name, bounds) for name, bounds in columns.items()}
    try:
        architecture = _KINDS[kind](**options)
    except TypeError:
        raise InvalidArgument("model", ", ".join(options), f"options that a {kind} model has") from None
    outcome: Outcome = Risk(prevalence)
    if outcome_kind == "forecast":
        if target not in known:
            raise InvalidArgument("column", target, f"the column to forecast, one of {', '.join(known)}")
        outcome = Forecast(known[target], horizon)
    elif outcome_kind != "risk":
        raise InvalidArgument("outcome", outcome_kind, "risk or forecast")
    return ModelDesign(Inputs(tuple(known.values()), length), outcome, architecture, start)


def _column(name: str, bounds: object) -> Column:
    if not isinstance(bounds, list) or len(bounds) != 2:
        raise InvalidArgument(f"columns.{name}", str(bounds), "two public bounds, such as [40, 160]")
    return Column(name, *bounds)

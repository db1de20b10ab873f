"""A training plan in one TOML file: its numbers at the top, ``[model]``, ``[columns]``, and a table for each holder.

Everything in it is public, and the same at every holder; the tables of people that it names lie with their holders.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

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
from chronodp.reading import closed_file
from chronodp.settings import Place, Section, Setting, Settings, anything, each, load_settings, table, text, truth

__all__ = ["PlanFile", "read_plan"]

_NEEDED = ("epsilon", "delta", "batch", "rounds", "local_steps")
_USUAL = ("clip", "learning_rate", "momentum", "update_clip", "holders_per_person")
_KINDS: dict[str, type[Architecture]] = {"linear": Linear, "recurrent": Recurrent, "convolution": Convolution}


def _people(value: Any, place: Place) -> int:
    if not isinstance(value, int) or value < 1:
        raise place.wrong(value, "the declared number of people, at least 1")
    return int(value)


def _bounds(value: Any, place: Place) -> list[Any]:
    if not isinstance(value, list) or len(value) != 2:
        raise place.wrong(value, "two public bounds, such as [40, 160]")
    return value


def _options_of(model: Section) -> Settings:
    """Return what a model of this architecture and outcome may hold."""
    kind = model.get("architecture", "convolution")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise model.wrong("architecture", f"one of {', '.join(_KINDS)}")
    forecasts = model.get("outcome") == "forecast"
    return {
        "architecture": text(default="convolution"),
        "length": anything(needed=True),
        "outcome": anything(default="risk"),
        "prevalence": anything(default=0.5),
        "column": anything(needed=forecasts),
        "horizon": anything(needed=forecasts),
        "start": anything(default=0),
        **{one.name: anything() for one in fields(_KINDS[kind])},
    }


_PLAN: Settings = {
    "name": anything(),
    **{name: anything(needed=True) for name in _NEEDED},
    **{name: anything() for name in _USUAL},
    "accept_large_delta": truth(default=False),
    "budget": anything(),
    "person": text(default="person"),
    "time": text(default="time"),
    "label": text(default="label"),
    "model": table(_options_of, needed=True),
    "columns": each(Setting(_bounds), needed="a table [columns] with the bounds of each"),
    "holders": each(
        table({"data": text(default=""), "people": Setting(_people, missing="")}),
        needed="at least one table [holders.NAME] with data and people",
    ),
    "held_out": table({"data": text(), "public": truth()}),
}


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
    said = load_settings("plan", path, _PLAN)
    place = Path(path)
    holders, held = said["holders"], said.get("held_out", {})
    people = {check_name("holders", name): holder["people"] for name, holder in holders.items()}
    numbers = {name: said[name] for name in (*_NEEDED, *_USUAL, "accept_large_delta") if name in said}
    with said.pointing():
        return PlanFile(
            name=check_name("name", said.get("name", place.stem)),
            plan=plan_training(_model(said["model"], said["columns"]), people=min(people.values()), **numbers),
            people=people,
            tables={name: place.parent / holder["data"] for name, holder in holders.items()},
            held_out=place.parent / held.get("data", "") if held else None,
            public=held.get("public", False),
            person=said["person"],
            time=said["time"],
            label=said["label"],
            budget=said.get("budget"),
            accept_large_delta=said["accept_large_delta"],
        )


def _model(said: Section, columns: Section) -> ModelDesign:
    kind = _KINDS[said["architecture"]]
    architecture = kind(**{one.name: said[one.name] for one in fields(kind) if one.name in said})
    known = {name: Column(name, *bounds) for name, bounds in columns.items()}
    outcome: Outcome = Risk(said["prevalence"])
    if said["outcome"] == "forecast":
        if not isinstance(said["column"], str) or said["column"] not in known:
            raise said.wrong("column", f"the column to forecast, one of {', '.join(known)}")
        outcome = Forecast(known[said["column"]], said["horizon"])
    elif said["outcome"] != "risk":
        raise said.wrong("outcome", "risk or forecast")
    return ModelDesign(Inputs(tuple(known.values()), said["length"]), outcome, architecture, said["start"])

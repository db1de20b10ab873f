"""A run of training in one TOML file: the plan at its top, ``[model]``, ``[columns]``, and a table for each holder."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chronodp.cli.clinics import COLUMNS, HOURS, make_patients
from chronodp.errors import InvalidArgument

if TYPE_CHECKING:
    from chronodp.federated.holder import Task
    from chronodp.federated.models import Architecture, Inputs, ModelDesign, Outcome
    from chronodp.federated.training import Trainer, TrainingPlan

__all__ = ["Part", "Run", "demo_run", "make_trainer", "read_run"]

_TOP = ("name", "budget", "person", "time", "label", "model", "columns", "holders", "held_out")
_PLAN = (
    "epsilon",
    "delta",
    "batch",
    "rounds",
    "local_steps",
    "clip",
    "learning_rate",
    "momentum",
    "update_clip",
    "holders_per_person",
    "accept_large_delta",
)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The people of one holder, and their declared number."""

    name: str
    values: NDArray[np.float64]
    targets: NDArray[np.float64]
    people: int


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """What is simulated.

    Attributes:
        name: of the run.
        plan: what all holders share.
        people: declared, of all holders together.
        holders: who trains.
        held_out: people nobody trains on, if there are any.
        public: whether what is measured on them may be shown to anyone.
        budget: epsilon of each holder's budget; what the plan needs if not given.
        accept_large_delta: whether a delta above 1 / people was asked for.
    """

    name: str
    plan: TrainingPlan
    people: int
    holders: tuple[Part, ...]
    held_out: Part | None
    public: bool
    budget: float | None
    accept_large_delta: bool


def demo_run(*, epsilon: float, delta: float) -> Run:
    """Return a run of three made-up clinics."""
    from chronodp.federated.models import Column, Convolution, Inputs, ModelDesign, Risk
    from chronodp.federated.training import plan_training

    inputs = Inputs(tuple(Column(name, *bounds) for name, bounds in COLUMNS.items()), HOURS)
    model = ModelDesign(inputs, Risk(0.2), Convolution(6, 2, 3))
    plan = plan_training(
        model, epsilon=epsilon, delta=delta, people=1200, batch=60, rounds=10, local_steps=4, learning_rate=1.0
    )
    parts = [Part(name, *make_patients(1200, seed), 1200) for seed, name in enumerate(("north", "east", "west"))]
    return Run("demo", plan, 3600, tuple(parts), Part("held out", *make_patients(2000, 9), 2000), True, None, False)


def make_trainer(*, name: str, task: Task, run: str, ledger: str) -> Trainer:
    """Return the holder of this name in a run's file, for training with holders elsewhere; only its data is read.

    Args:
        name: of the holder, a table ``[holders.NAME]`` in the file.
        task: what everybody trains; another model or plan is refused.
        run: the TOML file that all holders have alike.
        ledger: this holder's ledger, with a budget of its name by the Rényi rule.
    """
    from chronodp.federated.training import Trainer
    from chronodp.ledger import Ledger

    wanted = read_run(Path(run), only=name)
    if wanted.plan.task() != task:
        raise InvalidArgument("task", task.model[:16], f"that of {run}, {wanted.plan.task().model[:16]}: plans differ")
    (part,) = wanted.holders
    return Trainer(
        wanted.plan,
        part.values,
        part.targets,
        people=part.people,
        all_people=wanted.people,
        ledger=Ledger(ledger),
        dataset=name,
        name=name,
        run=wanted.name,
        accept_large_delta=wanted.accept_large_delta,
    )


def read_run(path: Path, *, only: str | None = None) -> Run:
    """Return the run that a TOML file describes, with the data it names; paths are relative to the file.

    With ``only`` the data of that holder alone is read, and none is held out.
    """
    from chronodp.federated.aggregation.terms import check_name
    from chronodp.federated.training import plan_training

    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidArgument("run", str(path), f"a TOML file that can be read ({error})") from error
    if unknown := sorted(said.keys() - {*_TOP, *_PLAN}):
        raise InvalidArgument("run", unknown[0], f"one of {', '.join((*_TOP, *_PLAN))}")
    tables = {name: _table(said, name) for name in ("model", "columns", "holders")}
    model = _model(tables["model"], tables["columns"])
    people = [_people(name, holder) for name, holder in tables["holders"].items()]
    if not people:
        raise InvalidArgument("holders", None, "at least one table [holders.NAME] with data and people")
    for needed in ("epsilon", "delta", "batch", "rounds", "local_steps"):
        if needed not in said:
            raise InvalidArgument(needed, None, "given in the run's file")
    if only is not None and only not in tables["holders"]:
        raise InvalidArgument("name", only, f"one of {', '.join(tables['holders'])}")
    plan = plan_training(model, people=min(people), **{name: said[name] for name in _PLAN if name in said})
    reader = _Reader(path.parent, model, said)
    held = said.get("held_out") if only is None else None
    return Run(
        name=check_name("name", said.get("name", path.stem)),
        plan=plan,
        people=sum(people),
        holders=tuple(reader.part(name, holder) for name, holder in tables["holders"].items() if only in {None, name}),
        held_out=None if held is None else reader.part("held out", {"people": 1} | held),
        public=bool((held or {}).get("public", False)),
        budget=said.get("budget"),
        accept_large_delta=bool(said.get("accept_large_delta", False)),
    )


def _table(said: dict[str, Any], name: str) -> dict[str, Any]:
    found = said.get(name)
    if not isinstance(found, dict):
        raise InvalidArgument(name, found, f"a table [{name}] in the run's file")
    return found


def _people(name: str, holder: object) -> int:
    from chronodp.federated.aggregation.terms import check_name

    check_name("holders", name)
    if not isinstance(holder, dict) or not isinstance(holder.get("people"), int) or holder["people"] < 1:
        raise InvalidArgument(f"holders.{name}", None, "a table with data and the declared number of people")
    return int(holder["people"])


def _model(said: dict[str, Any], columns: dict[str, Any]) -> ModelDesign:
    from chronodp.federated.models import Column, Convolution, Forecast, Inputs, Linear, ModelDesign, Recurrent, Risk

    kinds: dict[str, type[Architecture]] = {"linear": Linear, "recurrent": Recurrent, "convolution": Convolution}
    options = dict(said)
    kind, length, start = (
        options.pop("architecture", "convolution"),
        options.pop("length", None),
        options.pop("start", 0),
    )
    outcome_kind, horizon = options.pop("outcome", "risk"), options.pop("horizon", None)
    prevalence, target = options.pop("prevalence", 0.5), options.pop("column", None)
    if kind not in kinds:
        raise InvalidArgument("architecture", kind, f"one of {', '.join(kinds)}")
    known = {name: Column(name, *bounds) for name, bounds in columns.items() if _is_pair(name, bounds)}
    inputs: Inputs = Inputs(tuple(known.values()), length)
    try:
        architecture = kinds[kind](**options)
    except TypeError:
        raise InvalidArgument("model", ", ".join(options), f"options that a {kind} model has") from None
    outcome: Outcome = Risk(prevalence)
    if outcome_kind == "forecast":
        if target not in known:
            raise InvalidArgument("column", target, f"the column to forecast, one of {', '.join(known)}")
        outcome = Forecast(known[target], horizon)
    elif outcome_kind != "risk":
        raise InvalidArgument("outcome", outcome_kind, "risk or forecast")
    return ModelDesign(inputs, outcome, architecture, start)


def _is_pair(name: str, bounds: object) -> bool:
    if not isinstance(bounds, list) or len(bounds) != 2:
        raise InvalidArgument(f"columns.{name}", str(bounds), "two public bounds, such as [40, 160]")
    return True


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one row a person and period into arrays."""

    folder: Path
    model: ModelDesign
    said: dict[str, Any]

    def part(self, name: str, table: dict[str, Any]) -> Part:
        import pandas as pd

        from chronodp.federated.models import Forecast

        where = self.folder / str(table.get("data", ""))
        try:
            rows = pd.read_parquet(where) if where.suffix == ".parquet" else pd.read_csv(where)
        except (OSError, ValueError, UnicodeDecodeError) as error:
            raise InvalidArgument(f"data of {name!r}", str(where), "a CSV or Parquet file that can be read") from error
        outcome = self.model.outcome
        columns = [column.name for column in self.model.inputs.columns]
        person, time, label = (str(self.said.get(key, key)) for key in ("person", "time", "label"))
        needed = [person, time, *columns, *([] if isinstance(outcome, Forecast) else [label])]
        if missing := [column for column in needed if column not in rows.columns]:
            raise InvalidArgument(
                f"data of {name!r}", ", ".join(map(str, rows.columns)), f"a table with {missing[0]!r}"
            )
        values: list[NDArray[np.float64]] = []
        targets: list[NDArray[np.float64] | float] = []
        length = self.model.inputs.length
        numbers = rows[[person, time]].join(rows[needed[2:]].apply(pd.to_numeric, errors="coerce"))
        for _, one in numbers.sort_values([person, time], kind="stable").groupby(person, sort=True):
            series = one[columns].to_numpy(dtype=np.float64)
            if isinstance(outcome, Forecast):
                place = columns.index(outcome.column.name)
                targets.append(_last(series[:, place], outcome.horizon))
                series = series[: -outcome.horizon]
            else:
                told = one[label].to_numpy(dtype=np.float64)
                targets.append(float(np.nanmax(told)) if not np.isnan(told).all() else np.nan)
            values.append(_last(series, length))
        shape = (len(values), length, len(columns))
        return Part(name, np.array(values).reshape(shape), np.array(targets), int(table["people"]))


def _last(series: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return the last so many periods, those that are lacking in front as missing."""
    kept = series[-count:]
    lacking = np.full((count - len(kept), *series.shape[1:]), np.nan)
    return np.concatenate([lacking, kept])

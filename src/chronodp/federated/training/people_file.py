"""The people of a plan's file: a table with one row a person and period, read into one example a person."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chronodp.engines import find_source, read_rows
from chronodp.errors import InvalidArgument, SourceError, UnknownColumn
from chronodp.federated.holder import Task
from chronodp.federated.models import Forecast
from chronodp.federated.training.plan_file import PlanFile, read_plan
from chronodp.federated.training.trainer import Trainer
from chronodp.ledger import Ledger
from chronodp.randomness import seeded

__all__ = ["People", "make_trainer", "read_people"]


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """Everybody's series (people, periods, columns) and outcomes."""

    values: NDArray[np.float64]
    targets: NDArray[np.float64]


def make_trainer(
    *,
    name: str,
    task: Task,
    plan: str,
    ledger: str,
    group_sizes: str = "one",
    device: str = "cpu",
    seed: int | None = None,
) -> Trainer:
    """Return the holder of this name in a plan's file, for training with holders elsewhere; only its data is read.

    Args:
        name: of the holder, a table ``[holders.NAME]`` in the file.
        task: what everybody trains; another model or plan is refused.
        plan: the TOML file that all holders have alike.
        ledger: this holder's ledger, with a budget of its name by the Rényi rule.
        group_sizes: ``one``, so that the time of a round hardly tells how many people were sampled; or ``several``.
        device: where gradients are computed, ``cpu`` or ``cuda``.
        seed: for tests, makes samples and noise repeatable; such a run protects nobody, and its certificate says so.
    """
    file = read_plan(plan)
    if name not in file.people:
        raise InvalidArgument("name", name, f"one of {', '.join(file.people)}")
    if file.plan.task() != task:
        raise InvalidArgument("task", task.model[:16], f"that of {plan}, {file.plan.task().model[:16]}: plans differ")
    found = read_people(file, file.tables[name])
    return Trainer(
        file.plan,
        found.values,
        found.targets,
        people=file.people[name],
        all_people=sum(file.people.values()),
        ledger=Ledger(ledger),
        dataset=name,
        name=name,
        run=file.name,
        entropy=None if seed is None else seeded(f"{seed} {name}"),
        accept_large_delta=file.accept_large_delta,
        group_sizes=group_sizes,
        device=device,
    )


def read_people(file: PlanFile, table: Path) -> People:
    """Return the people of a table, a CSV or Parquet file: the last periods of each, and what came of it."""
    outcome, length = file.plan.model.outcome, file.plan.model.inputs.length
    columns = [column.name for column in file.plan.model.inputs.columns]
    labelled = not isinstance(outcome, Forecast)
    values: list[NDArray[np.float64]] = []
    targets: list[NDArray[np.float64] | float] = []
    for rows in _read_rows(table, file, [*columns, *([file.label] if labelled else [])]):
        series = rows[:, : len(columns)]
        if isinstance(outcome, Forecast):
            place = columns.index(outcome.column.name)
            targets.append(_last(series[:, place], outcome.horizon))
            series = series[: -outcome.horizon]
        else:
            labels = rows[:, -1]
            targets.append(float(np.nanmax(labels)) if not np.isnan(labels).all() else np.nan)
        values.append(_last(series, length))
    shape = (len(values), length, len(columns))
    return People(np.array(values).reshape(shape), np.array(targets))


def _read_rows(table: Path, file: PlanFile, values: list[str]) -> list[NDArray[np.float64]]:
    """Return each person's rows; every cell by itself, so that no row decides how others are read."""
    try:
        return read_rows(find_source(table), time=file.time, user=file.person, values=values)
    except UnknownColumn as error:
        raise InvalidArgument("data", str(table), f"a table with the columns of the plan; {error}") from None
    except SourceError:
        raise InvalidArgument("data", str(table), "a CSV or Parquet file that can be read") from None


def _last(series: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return the last so many periods, those that are lacking in front as missing."""
    kept = series[-count:]
    lacking = np.full((count - len(kept), *series.shape[1:]), np.nan)
    return np.concatenate([lacking, kept])

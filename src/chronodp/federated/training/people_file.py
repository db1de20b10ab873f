"""The people of a plan's file: a table with one row a person and period, read into one example a person."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chronodp.engines.csv_files import csv_query
from chronodp.errors import InvalidArgument, UnreadableSource
from chronodp.federated.holder import Task
from chronodp.federated.models import Forecast
from chronodp.federated.training.plan_file import PlanFile, read_plan
from chronodp.federated.training.trainer import Trainer
from chronodp.ledger import Ledger
from chronodp.randomness import seeded

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["People", "make_trainer", "read_people"]

_MOMENT = "\0moment"  # a column of our own


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """Everybody's series (people, periods, columns) and outcomes."""

    values: NDArray[np.float64]
    targets: NDArray[np.float64]


def make_trainer(*, name: str, task: Task, plan: str, ledger: str, seed: int | None = None) -> Trainer:
    """Return the holder of this name in a plan's file, for training with holders elsewhere; only its data is read.

    Args:
        name: of the holder, a table ``[holders.NAME]`` in the file.
        task: what everybody trains; another model or plan is refused.
        plan: the TOML file that all holders have alike.
        ledger: this holder's ledger, with a budget of its name by the Rényi rule.
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
    )


def read_people(file: PlanFile, table: Path) -> People:
    """Return the people of a table, a CSV or Parquet file: the last periods of each, and what came of it."""
    outcome, length = file.plan.model.outcome, file.plan.model.inputs.length
    columns = [column.name for column in file.plan.model.inputs.columns]
    needed = [file.person, file.time, *columns, *([] if isinstance(outcome, Forecast) else [file.label])]
    rows = _read_rows(table, needed)
    if missing := [column for column in needed if column not in rows.columns]:
        # Which columns there are instead is not told: in a file without a header they are somebody's values.
        raise InvalidArgument("data", str(table), f"a table with a column {missing[0]!r}")
    values: list[NDArray[np.float64]] = []
    targets: list[NDArray[np.float64] | float] = []
    numbers = rows[needed[:2]].join(rows[needed[2:]].apply(_to_numbers))
    # Times may be numbers or dates: numbers in their order come first, then dates in theirs.
    numbers = numbers.assign(**{_MOMENT: _to_numbers(numbers[file.time])})
    for _, one in numbers.sort_values([file.person, _MOMENT, file.time], kind="stable").groupby(file.person, sort=True):
        series = one[columns].to_numpy(dtype=np.float64)
        if isinstance(outcome, Forecast):
            place = columns.index(outcome.column.name)
            targets.append(_last(series[:, place], outcome.horizon))
            series = series[: -outcome.horizon]
        else:
            told = one[file.label].to_numpy(dtype=np.float64)
            targets.append(float(np.nanmax(told)) if not np.isnan(told).all() else np.nan)
        values.append(_last(series, length))
    shape = (len(values), length, len(columns))
    return People(np.array(values).reshape(shape), np.array(targets))


def _read_rows(table: Path, needed: list[str]) -> pd.DataFrame:
    """Return a table's rows; those of a CSV file as texts, so that no row decides how others are read."""
    import duckdb
    import pandas as pd
    import pyarrow

    try:
        if table.suffix == ".parquet":
            return pd.read_parquet(table)
        with duckdb.connect() as connection:
            return connection.execute(csv_query([str(table)], needed)).df()
    except (OSError, ValueError, duckdb.Error, pyarrow.ArrowException, UnreadableSource):
        raise InvalidArgument("data", str(table), "a CSV or Parquet file that can be read") from None


def _to_numbers(column: pd.Series[Any]) -> pd.Series[float]:
    """Return cells as numbers; what is none, or beyond all floats, is missing."""
    import pandas as pd

    try:
        return pd.to_numeric(column, errors="coerce")
    except OverflowError:
        return column.map(_to_number)


def _to_number(cell: object) -> float:
    try:
        return float(str(cell))
    except ValueError:
        return np.nan


def _last(series: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return the last so many periods, those that are lacking in front as missing."""
    kept = series[-count:]
    lacking = np.full((count - len(kept), *series.shape[1:]), np.nan)
    return np.concatenate([lacking, kept])

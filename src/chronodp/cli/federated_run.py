"""What is rehearsed by ``chronodp federate simulate``: a plan's file with everybody's data, or made-up clinics."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from chronodp.cli.clinics import COLUMNS, HOURS, make_patients

if TYPE_CHECKING:
    from chronodp.federated.training import People, TrainingPlan

__all__ = ["Run", "demo_run", "load_run"]


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A run with all its data.

    Attributes:
        name: of the run.
        plan: what all holders share.
        holders: who trains, on whom.
        people: the declared number of people of each holder.
        held_out: people nobody trains on, if there are any.
        public: whether what is measured on them may be shown to anyone.
        budget: epsilon of each holder's budget; what the plan needs if not given.
        accept_large_delta: whether a delta above 1 / people was asked for.
    """

    name: str
    plan: TrainingPlan
    holders: dict[str, People]
    people: dict[str, int]
    held_out: People | None
    public: bool
    budget: float | None
    accept_large_delta: bool


def demo_run(*, epsilon: float, delta: float) -> Run:
    """Return a run of three made-up clinics."""
    from chronodp.federated.models import Column, Convolution, Inputs, ModelDesign, Risk
    from chronodp.federated.training import People, plan_training

    inputs = Inputs(tuple(Column(name, *bounds) for name, bounds in COLUMNS.items()), HOURS)
    plan = plan_training(
        ModelDesign(inputs, Risk(0.2), Convolution(6, 2, 3)),
        epsilon=epsilon,
        delta=delta,
        people=1200,
        batch=60,
        rounds=10,
        local_steps=4,
        learning_rate=1.0,
    )
    holders = {name: People(*make_patients(1200, seed)) for seed, name in enumerate(("north", "east", "west"))}
    held_out = People(*make_patients(2000, 9))
    return Run("demo", plan, holders, dict.fromkeys(holders, 1200), held_out, True, None, False)


def load_run(path: Path) -> Run:
    """Return the run of a plan's file with the data that it names."""
    from chronodp.federated.training import read_people, read_plan

    file = read_plan(path)
    return Run(
        name=file.name,
        plan=file.plan,
        holders={name: read_people(file, table) for name, table in file.tables.items()},
        people=file.people,
        held_out=None if file.held_out is None else read_people(file, file.held_out),
        public=file.public,
        budget=file.budget,
        accept_large_delta=file.accept_large_delta,
    )

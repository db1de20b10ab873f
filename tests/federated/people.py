"""Made-up people, small models and a ledger for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import chronodp as cdp
from chronodp.federated.models import Architecture, Column, Forecast, Inputs, Linear, ModelDesign, Risk
from chronodp.federated.training import StepDesign, Trainer, TrainingPlan

People = tuple[NDArray[np.float64], NDArray[np.float64]]
PULSE = Column("pulse", 40.0, 160.0)
INPUTS = Inputs((PULSE, Column("temperature", 34.0, 42.0)), length=6)


def make_people(count: int, seed: int = 0) -> People:
    """Return series of six periods, and whether a pulse that rises went high."""
    chance = np.random.default_rng(seed)
    ill = chance.random(count) < 0.5
    pulse = 80 + chance.normal(0, 12, (count, 6)) + ill[:, None] * np.linspace(0, 35, 6)
    values = np.stack([pulse, 37 + chance.normal(0, 0.8, (count, 6))], axis=2)
    values[chance.random(values.shape) < 0.1] = np.nan
    return values, ill.astype(np.float64)


def design(architecture: Architecture | None = None, *, horizon: int = 0) -> ModelDesign:
    outcome = Forecast(PULSE, horizon) if horizon else Risk()
    return ModelDesign(INPUTS, outcome, Linear() if architecture is None else architecture, start=3)


def make_plan(model: ModelDesign | None = None, **changes: object) -> TrainingPlan:
    """Return a plan whose noise is given, which takes no time to calibrate."""
    options = {
        "model": design() if model is None else model,
        "step": StepDesign(clip=1.0, sigma=1.0, rate=0.2),
        "rounds": 3,
        "local_steps": 2,
        "learning_rate": 1.0,
        "momentum": 0.0,
        "update_clip": 4.0,
        "people": 50,
        "holders_per_person": 1,
        "delta": 1e-3,
    }
    return TrainingPlan(**(options | changes))  # type: ignore[arg-type]


def open_ledger(folder: Path, plan: TrainingPlan, *names: str) -> cdp.Ledger:
    ledger = cdp.Ledger(folder / "budget.db")
    for name in names:
        ledger.open(name, unit=cdp.User(), epsilon=plan.ledger_epsilon, delta=plan.delta, rule="renyi")
    return ledger


def make_trainer(
    plan: TrainingPlan, ledger: cdp.Ledger, name: str = "north", *, people: People | None = None, **options: Any
) -> Trainer:
    """Return a holder of people of its own, or of those given."""
    values, targets = make_people(60, seed=sum(map(ord, name))) if people is None else people
    usual: dict[str, Any] = {
        "people": 60,
        "all_people": 120,
        "ledger": ledger,
        "dataset": name,
        "name": name,
        "run": "trial",
    }
    return Trainer(plan, values, targets, **(usual | options))

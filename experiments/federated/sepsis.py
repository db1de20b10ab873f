"""Sepsis-like risk in four hospitals: accuracy against epsilon, with and without noise and secure addition."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from chronodp.federated.models import Architecture, Linear, ModelDesign, Risk
from chronodp.federated.training import TrainingPlan, area_under_curve, plan_training, predict
from experiments.federated.patients import VITALS, Patients, split
from experiments.federated.running import train

HOLDERS = 4
PREVALENCE = 0.05
RATE_BATCH = 0.06


@dataclass(frozen=True, slots=True)
class Areas:
    """Areas under the curve over seeds, on patients nobody trained on."""

    epsilon: float | None
    secure: bool
    areas: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Their mean."""
        return float(np.mean(self.areas))

    @property
    def half(self) -> float:
        """Half the width of a 95 % interval for the mean over seeds."""
        count = len(self.areas)
        return (
            float(student.ppf(0.975, count - 1) * np.std(self.areas, ddof=1) / math.sqrt(count)) if count > 1 else 0.0
        )

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.half:.3f}"


def plan_for(people: int, *, epsilon: float, rounds: int, architecture: Architecture, start: int = 0) -> TrainingPlan:
    """Return the plan; clip and rate were set on made-up patients, the rest as the README says."""
    return plan_training(
        ModelDesign(VITALS, Risk(PREVALENCE), architecture, start),
        epsilon=epsilon,
        delta=1e-5,
        people=people,
        batch=max(1, round(RATE_BATCH * people)),
        rounds=rounds,
        local_steps=5,
        clip=1.0,
        learning_rate=3.0,
    )


def measure(
    patients: Patients,
    *,
    epsilon: float | None,
    seeds: int,
    rounds: int,
    secure: bool = False,
    architecture: Architecture | None = None,
) -> Areas:
    """Return areas over seeds; each seed splits the patients anew and starts the model anew.

    Secure aggregation is in a ring of 32 bits, plain aggregation in one of 64.
    """
    found = []
    for seed in range(1, seeds + 1):
        parts, held = split(patients, HOLDERS, seed)
        plan = plan_for(
            len(parts[0]),
            epsilon=8.0 if epsilon is None else epsilon,
            rounds=rounds,
            architecture=Linear() if architecture is None else architecture,
            start=seed,
        )
        parameters = train(
            plan,
            [(part.values, part.septic) for part in parts],
            seed=seed,
            noise=epsilon is not None,
            aggregation="secure" if secure else "plain",
            bits=32 if secure else 64,
        )
        found.append(area_under_curve(predict(plan.model, parameters, held.values), held.septic))
    return Areas(epsilon, secure, tuple(found))

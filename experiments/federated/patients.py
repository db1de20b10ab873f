"""Patients of four hospitals: the last twelve hours of each record, and whether it is one of sepsis.

A demonstration of what privacy costs, not of a predictor: records of sepsis end some hours after its onset.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chronodp.federated.models import Column, Inputs

HOURS = 12
VITALS = Inputs(
    (
        Column("HR", 40.0, 160.0),
        Column("O2Sat", 80.0, 100.0),
        Column("Temp", 34.0, 41.0),
        Column("SBP", 60.0, 200.0),
        Column("MAP", 40.0, 140.0),
        Column("DBP", 30.0, 120.0),
        Column("Resp", 5.0, 45.0),
        Column("Age", 15.0, 100.0),
        Column("Gender", 0.0, 1.0),
    ),
    length=HOURS,
)
"""Bounds are what a clinician would write down, not what the data shows."""


@dataclass(frozen=True, slots=True, eq=False)
class Patients:
    """Vital signs (patients, hours, columns) and whether the stay was one of sepsis."""

    values: NDArray[np.float64]
    septic: NDArray[np.float64]

    def taken(self, places: NDArray[np.intp]) -> Patients:
        """Return some of them."""
        return Patients(self.values[places], self.septic[places])

    def __len__(self) -> int:
        return len(self.septic)


def read_patients(path: str) -> Patients:
    """Read a table of patients, hours (ICULOS), vital signs and SepsisLabel: one example a patient."""
    import pandas as pd

    table = pd.read_csv(path)
    names = [column.name for column in VITALS.columns]
    values, septic = [], []
    for _, stay in table.groupby("patient", sort=True):
        last = stay[names].to_numpy(dtype=np.float64)[-HOURS:]
        values.append(np.concatenate([np.full((HOURS - len(last), len(names)), np.nan), last]))
        septic.append(float(stay["SepsisLabel"].any()))
    return Patients(np.array(values), np.array(septic))


def generate_patients(count: int, seed: int = 1) -> Patients:
    """Make up patients: vital signs that wander, and drift together in those who are septic."""
    chance = np.random.default_rng(seed)
    middle = np.array([84.0, 97.0, 36.9, 126.0, 86.0, 66.0, 18.7, 61.0, 0.5])
    spread = np.array([16.0, 2.5, 0.7, 21.0, 15.0, 13.0, 5.0, 16.0, 0.5])
    toward = np.array([0.5, -0.2, 0.35, -0.3, -0.35, -0.3, 0.5, 0.15, 0.0])  # in spreads, when ill
    severity = chance.normal(0.0, 1.0, count)
    septic = (chance.random(count) < 1 / (1 + np.exp(3.8 - 1.2 * severity))).astype(np.float64)
    walk = np.cumsum(chance.normal(0.0, 0.2, (count, HOURS, 9)), axis=1) + chance.normal(0.0, 0.8, (count, 1, 9))
    ramp = np.linspace(0.4, 1.2, HOURS)[None, :, None]
    values = middle + spread * (walk + severity[:, None, None] * ramp * toward)
    values[:, :, 7:] = values[:, :1, 7:]
    values[:, :, 8] = values[:, :, 8] > 0.5
    lost = chance.random((count, HOURS, 9)) < np.array([0.1, 0.13, 0.66, 0.15, 0.12, 0.31, 0.15, 0.0, 0.0])
    values[lost] = np.nan
    return Patients(values, septic)


def split(patients: Patients, holders: int, seed: int) -> tuple[list[Patients], Patients]:
    """Return the patients of each hospital, as many in each, and a quarter that nobody trains on."""
    order = np.random.default_rng(seed).permutation(len(patients))
    held = len(patients) // 4
    rest = order[held:]
    each = len(rest) // holders
    parts = [patients.taken(rest[place * each : (place + 1) * each]) for place in range(holders)]
    return parts, patients.taken(order[:held])

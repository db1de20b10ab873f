"""Made-up clinics as files: a table each, and the plan that they train by."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from chronodp.cli.clinics import make_patients

TOP = """
epsilon = 1.0
delta = 1e-3
batch = 20
rounds = 2
local_steps = 2
learning_rate = 0.5
person = "patient"
time = "hour"
"""
MODEL = """
[model]
architecture = "linear"
length = 12
prevalence = 0.2
[columns]
pulse = [40, 160]
temperature = [34, 41]
"""


def write_clinic(folder: Path, name: str, count: int, seed: int) -> str:
    """Write a clinic's table, its rows in no order, and return the plan's lines about it."""
    values, ill = make_patients(count, seed)
    table = pd.DataFrame(
        [(f"p{person}", hour, *values[person, hour, :2], ill[person]) for person in range(count) for hour in range(12)],
        columns=["patient", "hour", "pulse", "temperature", "label"],
    )
    table.sample(frac=1.0, random_state=1).to_csv(folder / f"{name}.csv", index=False)
    return f'[holders.{name}]\ndata = "{name}.csv"\npeople = {count}\n'

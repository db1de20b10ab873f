"""Run with ``python -m experiments.temporal_perturbation``."""

from __future__ import annotations

from pathlib import Path

from experiments.temporal_perturbation import applications, costs, scenarios, theorems
from experiments.temporal_perturbation.data import option
from experiments.verdicts import Verdict, show


def measure() -> list[Verdict]:
    return [
        *theorems.check(),
        *costs.check(),
        *applications.check(option("prices"), option("vitals")),
        *scenarios.check(),
    ]


if __name__ == "__main__":
    show("Beyond value perturbation: the temporal setting", measure, Path(__file__).with_name("README.md"))

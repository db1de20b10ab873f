"""Run with ``python -m experiments.devices``."""

from __future__ import annotations

from pathlib import Path

from experiments.devices import one_report, over_time
from experiments.verdicts import Verdict, show


def measure() -> list[Verdict]:
    return [*one_report.check(), *over_time.check()]


if __name__ == "__main__":
    show("Reports from devices", measure, Path(__file__).with_name("README.md"))

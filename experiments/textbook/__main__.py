"""Run with ``python -m experiments.textbook``."""

from __future__ import annotations

from pathlib import Path

from experiments.textbook import composition, interpretation, mechanisms, sensitivity
from experiments.verdicts import Verdict, show


def measure() -> list[Verdict]:
    return [*sensitivity.check(), *composition.check(), *interpretation.check(), *mechanisms.check()]


if __name__ == "__main__":
    show("The textbook chapter", measure, Path(__file__).with_name("README.md"))

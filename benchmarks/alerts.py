"""Alerts: steps a second beside a plain loop, and power at equal false alarms beside the textbook's noise."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.harness import TURNS, Topic, duel, show
from chronodp.alerts import Alert, AlertDesign, Exponential, Laplace, Noise, design_alert
from chronodp.ledger import Ledger
from chronodp.privacy import User

BATCH, FEW, FEWEST, SINGLE = 10**6, 10_000, 100, 20_000


def measure() -> Topic:
    topic = Topic(
        "Alerts: quiet steps with secure noise and an open ledger, one core",
        "python -m benchmarks.alerts",
        ("what", "million steps a second", "ratio to a plain loop"),
    )
    design = _design(Exponential())
    values = np.random.default_rng(1).normal(100.0, 20.0, BATCH)
    single = values[:SINGLE].tolist()
    with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "budget.db") as ledger:
        ledger.open("meters", unit=User(), epsilon=10.0)
        alarm = Alert.open(design, ledger=ledger, dataset="meters", name="alarm")

        def one_by_one() -> None:
            for value in single:
                alarm.step(value)

        def loop() -> None:
            _plain_loop(single, 1e6, 12.0)

        loops = []
        for name, work, size in (
            ("1,000,000 steps at once", lambda: alarm.steps(values), BATCH),
            ("10,000 steps at once", lambda: alarm.steps(values[:FEW]), FEW),
            ("100 steps at once", lambda: alarm.steps(values[:FEWEST]), FEWEST),
            ("step by step", one_by_one, SINGLE),
        ):
            found, plain, ratio = duel(work, loop, size, SINGLE)
            loops.append(plain)
            topic.rows.append((name, found / 1e6, ratio))
    topic.rows.append(("a plain loop, numpy's noise in floats, not durable", max(loops) / 1e6, 1.0))
    topic.notes = [TURNS]
    return topic


def measure_power() -> Topic:
    topic = Topic(
        "Alerts: power at 1 % false alarms a step, ε = 1, by shift in units of the change",
        "python -m benchmarks.alerts --power",
        ("alerts", "shift", "exponential noise", "Laplace noise (textbook)"),
        everywhere=True,
    )
    for alerts, shift in ((1, 10.0), (1, 20.0), (5, 50.0), (5, 100.0), (20, 100.0), (20, 200.0)):
        topic.rows.append((alerts, shift, *(_power(noise, alerts, shift) for noise in (Exponential(), Laplace()))))
    topic.notes = ["computed from closed forms, not simulated; both at the same price, with the best split"]
    return topic


def _power(noise: Noise, alerts: int, shift: float) -> float:
    probabilities = _design(noise, alerts).probabilities
    return probabilities.chance(probabilities.gap_for(0.01) - shift)


def _design(noise: Noise, alerts: int = 5) -> AlertDesign:
    return design_alert(above=1e6, change=1.0, unit=User(), max_alerts=alerts, epsilon=1.0, noise=noise)


def _plain_loop(values: list[float], threshold: float, scale: float) -> list[int]:
    """The textbook's loop as one would write it."""
    generator = np.random.default_rng()
    return [place for place, value in enumerate(values) if value + generator.laplace(0.0, scale) >= threshold]


if __name__ == "__main__":
    show(measure_power if "--power" in sys.argv[1:] else measure)

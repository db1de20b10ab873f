"""One alert a day at most, on air: how often it is needless, how often it comes and how late, against the budget."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from chronodp.alerts import AlertDesign, Exponential, Laplace, Noise, advance, design_alert, start
from chronodp.privacy import User
from chronodp.randomness import seeded
from experiments.alerts.air import Days

BUDGETS = (0.3, 1.0, 3.0, 10.0)
CHANGE = 30.0  # ppm that one person is taken to add to a room
BAD = 1000.0  # ppm from which the room should be aired
FINE = 800.0  # ppm below which an alert is needless
EVERY = 15  # minutes from one question to the next
ALERTS = 5
NEEDLESS = 0.05  # alarms wanted at most in a day of fine air


@dataclass(frozen=True, slots=True)
class Detection:
    """What a budget gave.

    Attributes:
        epsilon: of five alerts.
        noise: its kind.
        threshold: where the alert fires.
        needless: share of watched days on which it fired in fine air.
        detected: share of watched days with bad air on which it fired, and not in fine air.
        delay: mean minutes from bad air to those alerts; negative if they came before.
    """

    epsilon: float
    noise: str
    threshold: float
    needless: float
    detected: float
    delay: float


def measure_detection(days: Days, *, runs: int = 100) -> list[Detection]:
    """Return a row for each budget and noise."""
    kinds: tuple[Noise, ...] = (Exponential(), Laplace())
    return [_detect(days, epsilon, noise, runs) for epsilon in BUDGETS for noise in kinds]


def _detect(days: Days, epsilon: float, noise: Noise, runs: int) -> Detection:
    first = _design(BAD, epsilon, noise)
    # As low as needless alarms allow, but never below what is bad; from public figures only.
    design = _design(max(BAD, FINE + first.probabilities.gap_for(NEEDLESS, steps=1440 // EVERY)), epsilon, noise)
    # At most one alert a day: after it the rest of the day is not asked.
    after = [replace(design, max_alerts=told + 1) for told in range(ALERTS)]
    entropy = seeded(f"{epsilon} {noise}")
    watched, loud, wrong = 0, 0, 0
    delays: list[int] = []
    for _ in range(runs):
        state = start(design, entropy)
        for day in days:
            if state.alerts == ALERTS:
                break
            state, alarms = advance(after[state.alerts], replace(state, period=0), day[::EVERY], entropy)
            fired = EVERY * int(alarms.periods[0]) if len(alarms.periods) else None
            bad = np.flatnonzero(day >= BAD)
            needless = fired is not None and bool(day[fired] < FINE)
            watched, wrong, loud = watched + 1, wrong + needless, loud + bool(len(bad))
            if fired is not None and not needless and len(bad):
                delays.append(fired - int(bad[0]))
    return Detection(
        epsilon=epsilon,
        noise=str(noise),
        threshold=design.threshold,
        needless=wrong / watched,
        detected=len(delays) / max(loud, 1),
        delay=float(np.mean(delays)) if delays else math.nan,
    )


def _design(above: float, epsilon: float, noise: Noise) -> AlertDesign:
    return design_alert(above=above, change=CHANGE, unit=User(), max_alerts=ALERTS, epsilon=epsilon, noise=noise)

"""The paper's three examples, run: biosensors, mobility and a smart home."""

from __future__ import annotations

from functools import cache

import numpy as np

from chronodp.randomness import seeded
from experiments.claims import Claim, below, computation
from experiments.temporal_perturbation.costs import KINDS
from experiments.temporal_perturbation.data import Floats
from experiments.temporal_perturbation.rows import row

__all__ = ["rows"]

WINDOW = 10
EPSILON = 5.0
PEOPLE = 100
MINUTES = 24 * 60


def rows() -> list[Claim]:
    """Return the row of the three examples."""

    def changes(kind: str) -> list[float]:
        return [*pulse_change(kind), moving_change(kind), alarm_change(kind)]

    return [
        row(
            id="L50",
            place="I, examples I to III",
            says="blurred times hardly change statistics over windows, or only delay them",
            rule=below,
            stated=0.05,
            readings={
                "Threshold: shares by which largest and mean pulses, ways of moving and alarms change": lambda: changes(
                    "Threshold"
                ),
                "blocks that are the windows": lambda: changes("block shuffle"),
            },
            tokens=("just a delay",),
            parameters="not stated: hardly is taken as less than 5 % of what is true; k = 10, ε = 5",
            data="made-up: a day of 100 people's pulses and speeds, and of one home, by minutes",
        )
    ]


@computation()
def pulse_change(kind: str) -> list[float]:
    """Return by what share the largest and the mean pulse of ten minutes change on average."""
    return list(_pulse_change(kind))


@computation()
def moving_change(kind: str) -> float:
    """Return the share of a day's minutes that are counted to another way of moving."""
    return _moving_change(kind)


@computation(all_changed=lambda function: lambda kind: 1 + function(kind))
def alarm_change(kind: str) -> float:
    """Return by what share the minutes change in which a home is warm and nobody there; both channels move together."""
    return _alarm_change(kind)


@cache
def _pulse_change(kind: str) -> tuple[float, ...]:
    rng = np.random.default_rng(1)
    pulse = 70 + 15 * np.sin(np.arange(MINUTES) / 200) + rng.normal(0, 6, (PEOPLE, MINUTES))
    shape, inside = (PEOPLE, -1, WINDOW), slice(2 * WINDOW, -2 * WINDOW)
    before, after = (rows[:, inside].reshape(shape) for rows in (pulse, _released(kind, pulse)))
    gaps = (before.max(2) - np.nanmax(after, 2), before.mean(2) - np.nanmean(after, 2))
    wholes = (before.max(2), before.mean(2))
    return tuple(float(np.nanmean(np.abs(gap)) / whole.mean()) for gap, whole in zip(gaps, wholes, strict=True))


@cache
def _moving_change(kind: str) -> float:
    rng = np.random.default_rng(2)
    speeds = np.repeat(rng.choice([0.0, 5.0, 10.0, 50.0], (PEOPLE, MINUTES // 20)), 20, axis=1)
    speeds += rng.uniform(0, 2, speeds.shape)
    edges = [-1, 3, 8, 20, 200]
    before, after = (
        np.array([np.histogram(day[np.isfinite(day)], edges)[0] for day in rows])
        for rows in (speeds, _released(kind, speeds))
    )
    return float(np.abs(before - after).sum() / before.sum() / 2)


@cache
def _alarm_change(kind: str) -> float:
    rng = np.random.default_rng(3)
    there = np.repeat(rng.integers(0, 2, 30 * MINUTES // 6), 6).astype(np.float64)
    home = np.stack([20 + 3 * there + rng.normal(0, 1, len(there)), there], axis=1)
    released = _released(kind, home[None])[0]
    before, after = (int(np.sum((rows[:, 0] > 21.5) & (rows[:, 1] == 0))) for rows in (home, released))
    return abs(after - before) / before


def _released(kind: str, people: Floats) -> Floats:
    moved = KINDS[kind](WINDOW, EPSILON).perturb_panel(people, entropy=seeded(f"scenario {kind}")).values
    return np.asarray(moved.filled(np.nan), dtype=np.float64)

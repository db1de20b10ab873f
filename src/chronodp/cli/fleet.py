"""A made-up fleet: how many devices' owners came to work, day by day, reported from the devices."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from chronodp.local import LocalPlan

__all__ = ["MODES", "histories", "shares", "write_reports"]

MODES = ("car", "train", "bus", "bicycle", "on foot", "at home")
_CHUNK = 5_000


def shares(days: int) -> NDArray[np.float64]:
    """Return the share of each mode on each day: a week's rhythm, and bicycles that win over cars as days go by."""
    day = np.arange(days)[:, None]
    base = np.array([[0.38, 0.22, 0.12, 0.10, 0.06, 0.12]])
    drift = np.array([[-0.10, 0.0, -0.02, 0.10, 0.01, 0.01]]) * day / max(days - 1, 1)
    weekend = np.array([[-0.14, -0.12, -0.06, 0.0, 0.04, 0.28]]) * (day % 7 >= 5)
    made: NDArray[np.float64] = base + drift + weekend
    return made


def histories(devices: int, days: int, chance: np.random.Generator) -> NDArray[np.int64]:
    """Return the mode of each device on each day. Habits last: a device's place among all others never changes."""
    habit = chance.random((devices, 1, 1))
    wobble = chance.normal(0.0, 0.05, (devices, days, 1))
    place = (habit + wobble) % 1.0
    made: NDArray[np.int64] = (place > np.cumsum(shares(days), axis=1)[None, :, :-1]).sum(axis=2)
    return made


def write_reports(
    path: Path, plan: LocalPlan, *, devices: int, days: int, progress: Callable[[float], None] = lambda _: None
) -> int:
    """Write the reports of a fleet as records, and return how many there are."""
    from chronodp.local import simulate

    chance = np.random.default_rng(20260101)  # the made-up truth only; answers come from secure entropy
    count = 0
    with path.open("wb") as file:
        for first in range(0, devices, _CHUNK):
            size = min(_CHUNK, devices - first)
            records = simulate(plan, histories(size, days, chance))
            file.write(records.tobytes())
            count += len(records)
            progress((first + size) / devices)
    return count

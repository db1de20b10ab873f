"""Small tables and releases of them, with noise that is silent or forbidden."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import chronodp as cdp
from chronodp.randomness import KeystreamEntropy, SeededKeystream, Shape, seeded
from chronodp.series import Plan, View

BERLIN = "Europe/Berlin"
EDGES = (0.0, 1.0, 2.0, 4.0)


class Silent(KeystreamEntropy):
    """No noise at all, so that what went in can be read off."""

    def __init__(self) -> None:
        super().__init__(SeededKeystream(0))

    def laplace(self, scale: float, size: Shape) -> NDArray[np.int64]:  # noqa: ARG002
        return np.zeros(size, dtype=np.int64)

    gaussian = laplace


class Forbidden(Silent):
    """Entropy that nobody may touch."""

    def laplace(self, scale: float, size: Shape) -> NDArray[np.int64]:  # noqa: ARG002
        raise AssertionError("noise was drawn")

    gaussian = laplace


def readings() -> pd.DataFrame:
    """A few rows on the night that clocks go back: half past two comes twice."""
    rows = [
        ("ann", "2026-10-25T00:30+02:00", 1.0, "north"),
        ("ann", "2026-10-25T00:45+02:00", 2.5, "north"),
        ("bo", "2026-10-25T00:10+02:00", 9.0, "south"),
        ("bo", "2026-10-25T02:30+02:00", 2.0, "south"),
        ("cy", "2026-10-25T02:30+01:00", 1.5, "north"),
        ("cy", "2026-10-25T23:59+01:00", 0.5, "west"),
        ("cy", "2026-10-26T00:00+01:00", 3.0, "north"),  # after the end
    ]
    table = pd.DataFrame(rows, columns=["who", "at", "kwh", "region"])
    return table.assign(at=pd.to_datetime(table["at"], utc=True))


def night(data: object = None, **changes: Any) -> cdp.TimeSeries:
    options: dict[str, Any] = {
        "time": "at", "user": "who", "every": "1h", "start": "2026-10-25", "end": "2026-10-26", "timezone": BERLIN,
        "unit": cdp.User(), "max_periods": 25,
    }  # fmt: skip
    return cdp.TimeSeries(readings() if data is None else data, **(options | changes))


def over(data: object, end: str, *, every: str = "1D", start: str = "2026-01-01", **more: Any) -> cdp.TimeSeries:
    """Ask of people's rows, days from the first of January on where nothing else is said."""
    options: dict[str, Any] = {"time": "at", "user": "who", "unit": cdp.User(), **more}
    return cdp.TimeSeries(data, every=every, start=start, end=end, **options)


def crowd(periods: int = 73, people: int = 30) -> pd.DataFrame:
    """Somebody's reading for most hours, over three days of which one has 25 hours."""
    dice = np.random.default_rng(7)
    times = pd.date_range("2026-10-24", periods=periods, freq="h", tz=BERLIN)
    table = pd.DataFrame([(f"p{who}", time) for who in range(people) for time in times], columns=["who", "at"])
    table["kwh"] = dice.uniform(0.0, 4.0, len(table))
    table["region"] = dice.choice(["north", "south"], len(table))
    return table[dice.random(len(table)) < 0.7]


def three_days(**changes: Any) -> cdp.TimeSeries:
    return night(crowd(), **({"start": "2026-10-24", "end": "2026-10-27", "max_periods": 73} | changes))


def made(plan: Plan, ledger: cdp.Ledger, request: str = "one", **more: Any) -> cdp.Release:
    options: dict[str, Any] = {"dataset": "meters", "progress": lambda _: None, "entropy": seeded(request)}
    return plan.release(ledger, request=request, **(options | more))


def values(view: View | cdp.Release, places: int = 1) -> NDArray[np.float64]:
    found: NDArray[np.float64] = view.to_pandas()["value"].to_numpy(dtype=np.float64).reshape(-1, places)
    return found


def hours(**known: float) -> list[float]:
    """Values of the 25 hours of the night: h0=..., h24=...; nothing elsewhere."""
    return [known.get(f"h{hour}", 0.0) for hour in range(25)]

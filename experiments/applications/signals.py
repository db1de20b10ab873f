"""Moving averages and spectra."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import chronodp as cdp
from chronodp import spectrum as sp
from chronodp.privacy.touched import Touched
from chronodp.randomness import seeded
from experiments.applications.moving_averages import NoiseOnAverages, average_error
from experiments.claims import Claim, Given, Pair, Tolerance, bound, computation, equal, number

__all__ = ["read_occupancy", "signal_claims"]

PLACE = "Applications, Signal Processing and Analysis"
WINDOW, SENSOR = 24, 0.1
EPSILON = 2.0
_HARMONICS = ((14, 336), (1, 24), (5, 97))


def read_occupancy(path: Path) -> NDArray[np.float64]:
    """Return the share of each hour in which a room was in use, from a CSV file with date and Occupancy."""
    table = pd.read_csv(path, usecols=["date", "Occupancy"], parse_dates=["date"])
    hours = table.set_index("date")["Occupancy"].sort_index().resample("1h").mean().fillna(0.0)
    first = hours.index[0].ceil("D")
    kept = hours[first:].to_numpy(dtype=np.float64)
    whole: NDArray[np.float64] = kept[: len(kept) // 24 * 24]
    return whole


def make_occupancy(days: int = 14, *, seed: int = 1) -> NDArray[np.float64]:
    """Return made-up working days: in use from about nine to about six, with gaps; empty at the weekend."""
    chance = np.random.default_rng(seed)
    hour, day = np.arange(24 * days) % 24, np.arange(24 * days) // 24
    used = (hour >= 9) & (hour < 18) & (day % 7 < 5)
    return np.where(used, np.clip(chance.normal(0.8, 0.2, 24 * days), 0.0, 1.0), 0.0)


@computation()
def planned_error() -> float:
    """Return the computed mean square error of one private average, of readings that change by at most 1."""
    return average_error(NoiseOnAverages(), window=WINDOW, sensor_deviation=SENSOR, change=1.0, epsilon=1.0).total


@computation()
def simulated_error(runs: int = 400_000) -> float:
    """Return it simulated: an average of noisy readings, with Laplace noise of scale 1/(W ε)."""
    chance = np.random.default_rng(1)
    average = chance.normal(0.0, SENSOR, (runs // 4, WINDOW)).mean(axis=1)
    noise = chance.laplace(0.0, 1.0 / WINDOW, (4, runs // 4))
    return float(np.mean((average + noise) ** 2))


@computation()
def largest_coefficient_change(harmonic: int, length: int) -> float:
    """Return the most that one sample moved by 1 moves a coefficient of the transform, over all samples."""
    return float(np.abs(np.fft.fft(np.eye(length), axis=1)[:, harmonic]).max())


@computation()
def library_coefficient_change(harmonic: int, length: int) -> float:
    """Return the library's sensitivity of a coefficient, rounded up."""
    return sp.spectral_sensitivity((harmonic,), length, Touched(1, together=True)).l2


@computation()
def strongest_over_daily(path: Path | None) -> float:
    """Return the strongest harmonic that a private release of occupancy tells, as a multiple of the daily one."""
    occupancy = read_occupancy(path) if path else make_occupancy()
    days = len(occupancy) // 24
    room = sp.Spectrum(occupancy, change=1.0, unit=cdp.Event())
    with tempfile.TemporaryDirectory() as folder, cdp.Ledger(Path(folder) / "budget.db") as ledger:
        ledger.open("room", unit=cdp.Event(), epsilon=EPSILON)
        plan = room.plan(sp.Strongest(1, among=4 * days), epsilon=EPSILON)
        made = plan.release(ledger, dataset="room", request="beat", entropy=seeded(1), progress=lambda _: None)
    return made.harmonics[1] / days


def signal_claims(given: Given) -> list[Claim]:
    """Return the claims on averages and spectra."""
    claim = partial(Claim, source="applications", place=PLACE)
    return [
        claim(
            id="A08",
            says="The error of a private moving average is the sensor's variance over the window plus the privacy "
            "noise.",
            rule=equal,
            stated="s²/W + 2 Δ²/(W ε)²",
            tolerance=Tolerance(relative=0.02),
            readings={
                "one window": lambda: [
                    Pair(planned_error(), SENSOR**2 / WINDOW + 2 / WINDOW**2, "planned"),
                    Pair(simulated_error(), SENSOR**2 / WINDOW + 2 / WINDOW**2, "simulated"),
                ]
            },
            tokens=("cleanly decomposes into two parts",),
            parameters="ours: s = 0.1, W = 24, ε = 1, Δ = 1",
            note="Of windows one after the other; with a window at every reading each is in W windows, and the privacy "
            "noise is W² times as large.",
        ),
        claim(
            id="A09",
            says="One coefficient of a Fourier transform moves by 1 in l2 when one sample in [0, 1] changes.",
            rule=equal,
            stated="Δ₂ = 1",
            tolerance=Tolerance(absolute=1e-9),
            readings={
                "over all samples": lambda: [
                    Pair(largest_coefficient_change(k, n), 1.0, f"harmonic {k} of {n}") for k, n in _HARMONICS
                ]
            },
            tokens=("is 1",),
            note="Without normalisation; 1/√T or 1/T with it.",
        ),
        claim(
            id="N19",
            place="beside A09",
            says="The library's sensitivity of a coefficient covers the true one and is above it by rounding alone.",
            rule=bound,
            stated="at least the change of every sample, and near",
            tolerance=Tolerance(absolute=1e-12),
            readings={
                "over all samples": lambda: [
                    pair
                    for k, n in _HARMONICS
                    for pair in (
                        Pair(
                            largest_coefficient_change(k, n), library_coefficient_change(k, n), f"harmonic {k} of {n}"
                        ),
                        Pair(library_coefficient_change(k, n), 1 + 1e-8, f"harmonic {k} of {n}, from above"),
                    )
                ]
            },
            origin="ours",
        ),
        claim(
            id="N20",
            place="beside A09",
            says="The beat of a room's occupancy is found privately: at ε = 2, one hour protected, the strongest "
            "harmonic told is the daily one.",
            rule=number,
            stated=1,
            readings={"strongest / daily": lambda: strongest_over_daily(given.path("occupancy"))},
            origin="ours",
            data=given.mark("occupancy", "two weeks of working hours"),
            files=("occupancy",),
        ),
    ]

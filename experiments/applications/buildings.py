"""Buildings: the heat behind a thermometer, the beat of a room's occupancy, averages of a sensor."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import chronodp as cdp
from chronodp import spectrum as sp, state_space as ss
from chronodp.audit.exact import examine
from chronodp.audit.mutants import MUTANTS
from chronodp.postprocess import NoiseOnAverages, average_error
from chronodp.privacy.touched import Touched
from chronodp.randomness import seeded
from experiments.verdicts import Verdict

EPSILON, DELTA = 2.0, 1e-6
CHANGE = 0.2
_MUTANT = "noise on the surprises of a filter that sees exact measurements"

BUILDING = ss.StateSpace(
    transition=[[0.62, 0.38], [0.04, 0.95]],
    observation=[[1.0, 0.0]],
    process_noise=[[0.0025, 0.0], [0.0, 0.0001]],
    measurement_noise=[[0.01]],
    cause=[[0.4], [0.01]],
)
"""Air and walls of a room, a quarter of an hour on; a cause is a kilowatt of heat."""


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


def check_heat() -> list[Verdict]:
    """Return verdicts on filtering the heat of a building."""
    design = ss.design_filter(BUILDING, change=CHANGE, unit=cdp.Event(), epsilon=EPSILON, delta=DELTA)
    tried = ss.rehearse_filter(design, steps=50_000, entropy=seeded(1))
    row = ss.errors_by_epsilon(BUILDING, [EPSILON], change=CHANGE, unit=cdp.Event(), delta=DELTA).iloc[0]
    guest = ss.design_filter(
        BUILDING, change=ss.CausedChange(0.1), unit=cdp.Window(16), horizon=2880, epsilon=EPSILON, delta=DELTA
    )
    times = guest.noise.sensitivity / design.noise.sensitivity
    return [
        Verdict(
            "the steady Riccati equation tells the error of a private filter",
            "a direct function of the variance of the noise",
            f"simulated {tried.optimism:+.1%} from it over 50,000 steps",
            "holds" if abs(tried.optimism) < 0.05 else "false",
        ),
        Verdict(
            "private noise is additional measurement noise to the filter",
            "indistinguishable",
            f"if the gain is made for both: error of the air {row['rmse']:.3f}; with the old gain "
            f"{row['rmse_old_gain']:.3f}; without measurements {row['rmse_blind']:.3f}",
            "holds, not tight" if row["rmse"] < row["rmse_old_gain"] else "holds",
        ),
        _innovations(),
        Verdict(
            "noise for one measurement hides occupancy that shows in the heat",
            "related to occupancy patterns",
            f"a guest of 0.1 kW for four hours moves all measurements together by {times:.1f} times what it pays for",
            "false" if times > 1 else "holds",
        ),
    ]


def check_signals(occupancy: NDArray[np.float64]) -> list[Verdict]:
    """Return verdicts on spectra and moving averages."""
    days = len(occupancy) // 24
    room = sp.Spectrum(occupancy, change=1.0, unit=cdp.Event())
    single = sp.spectral_sensitivity((days,), len(occupancy), Touched(1, together=True)).l2
    with tempfile.TemporaryDirectory() as folder, cdp.Ledger(Path(folder) / "budget.db") as ledger:
        ledger.open("room", unit=cdp.Event(), epsilon=EPSILON)
        plan = room.plan(sp.Strongest(1, among=4 * days), epsilon=EPSILON)
        made = plan.release(ledger, dataset="room", request="beat", entropy=seeded(1), progress=lambda _: None)
    apart, every = (
        average_error(placement, window=24, sensor_deviation=0.1, change=CHANGE, epsilon=1.0)
        for placement in (NoiseOnAverages(), NoiseOnAverages(stride=1))
    )
    return [
        Verdict(
            "one coefficient of a spectrum, one sample in [0, 1] changed: l2 sensitivity",
            "1",
            f"{single:.6f}",
            "holds" if math.isclose(single, 1.0, rel_tol=1e-6) else "false",
        ),
        Verdict(
            f"the beat of a room's occupancy over {days} days, ε = {EPSILON:g}, one hour protected",
            "private exploration of frequency content",
            f"the strongest harmonic told is {made.harmonics[1]}, the daily one {days}",
            "holds" if made.harmonics[1] == days else "false",
        ),
        Verdict(
            "a moving average over 24 readings: its error is sensor noise and privacy noise",
            "cleanly decomposes",
            f"{apart.sensor:.2g} + {apart.privacy:.2g}; with a window at every reading, each reading is in 24 of them: "
            f"{every.sensor:.2g} + {every.privacy:.2g}",
            "holds",
        ),
    ]


def _innovations() -> Verdict:
    mutant = next(mutant for mutant in MUTANTS if mutant.name == _MUTANT)
    found = examine(mutant.broken, mutant.neighbours)
    return Verdict(
        "noise on the innovations of a filter is private at the price of one measurement",
        f"ε = {mutant.epsilon:g}",
        f"if predictions come from exact measurements, at least {found.epsilon:.3g} at δ = 0",
        "false" if found.refutes(mutant.epsilon, mutant.delta) else "holds",
    )

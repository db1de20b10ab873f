"""# Ward vitals for two readers

A hospital records the pulse of its patients every minute. Two people ask for it. The head nurse publishes, for every
hour of the day, how high the pulse usually is: each patient must be hidden in everything. A researcher tests an alarm
and needs true values in a row, under contract: there the values are exact, and only *when* each occurred is blurred.
"""

# %%
import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import chronodp as cdp

options = argparse.ArgumentParser(description="Share vital signs of a ward with two readers.")
options.add_argument("--data", help="CSV with patient, minute, pulse, all minutes from 0 to 1439; made up unless given")
options.add_argument("--folder", type=Path, help="where ledger and pages go; a new one unless given")
chosen = options.parse_args()
folder = chosen.folder or Path(tempfile.mkdtemp(prefix="ward-vitals-"))
folder.mkdir(parents=True, exist_ok=True)

# %% [markdown]
# ## A day of vital signs
#
# 300 made-up patients: slower at night, each with a level of their own, and some with a racing heart for a while.


# %%
def make_up(patients: int = 300) -> pd.DataFrame:
    """Return a row a patient and minute, the same ones each time."""
    chance = np.random.default_rng(2)
    minute = np.arange(1440)
    pulse = 78 + chance.normal(0, 8, (patients, 1)) + 9 * np.cos((minute - 900) / 1440 * 2 * np.pi)
    pulse = pulse + chance.normal(0, 4, pulse.shape)
    begin = chance.integers(0, 1400, patients)[:, None]
    racing = (minute >= begin) & (minute < begin + 25) & (chance.random((patients, 1)) < 0.3)
    pulse = np.clip(np.rint(pulse + 50 * racing), 30, 220)
    who = np.repeat([f"patient {number:03}" for number in range(patients)], len(minute))
    return pd.DataFrame({"patient": who, "minute": np.tile(minute, patients), "pulse": pulse.ravel()})


vitals = make_up() if chosen.data is None else pd.read_csv(chosen.data)
ledger = cdp.Ledger(folder / "budget.db")

# %% [markdown]
# ## For everybody: the usual pulse, hour by hour
#
# The unit is a patient with everything there is about them. What an hour needs of each is one number, their mean, and
# it is cut to 40 … 140. Who asks for an hourly mean should not pay for minutes.

# %%
day = pd.Timestamp("2026-03-02", tz="UTC")
hourly = vitals.groupby(["patient", vitals["minute"] // 60])["pulse"].mean().reset_index()
hourly["at"] = day + pd.to_timedelta(hourly["minute"], unit="h")
ward = cdp.TimeSeries(
    hourly,
    time="at",
    user="patient",
    every="1h",
    start="2026-03-02",
    end="2026-03-03",
    unit=cdp.User(),
    max_periods=24,
)
plan = ward.mean("pulse", clip=(40.0, 140.0), of="people").plan(epsilon=2.0, delta=1e-6)
ledger.open("ward", unit=cdp.User(), epsilon=2.0, delta=1e-6)
usual = plan.release(ledger, dataset="ward", request="usual pulse, 2 March")
print(usual.to_pandas().iloc[::4].to_string(index=False, float_format="{:.0f}".format))

# %% [markdown]
# Shifts follow from hours for nothing, and are known better. The page can go to the notice board. Only the hospital can
# compare with the truth.

# %%
shifts = usual.resample("8h").to_pandas()
truth = hourly.groupby(hourly["minute"] // 8)["pulse"].mean().to_numpy()
for name, shift, true in zip(("night", "early", "late"), shifts.itertuples(), truth, strict=True):
    print(f"{name:6} {shift.value:.1f}, between {shift.lower:.1f} and {shift.upper:.1f}; in truth {true:.1f}")
page = usual.report(folder / "usual-pulse.html", title="The usual pulse of the ward, by the hour")

# %% [markdown]
# ## For the researcher: true values, blurred times
#
# Time is cut into blocks of 15 minutes, and each block is released in a random order that leans towards the true one.
# What is protected is which of two values of a block came first; whose values they are is not, so this goes to someone
# under contract. What to expect is known before any data is read.

# %%
mechanism = cdp.temporal.BlockShuffle(block=15, epsilon=4.0)
print(f"{mechanism.kept:.0%} of values stay, one moves by {mechanism.expected.displacement:.1f} minutes on average.")
ledger.open("ward, order of minutes", unit=cdp.privacy.Swap(15), epsilon=4.0)
blurred = cdp.temporal.release_times(
    vitals,
    mechanism,
    time="minute",
    user="patient",
    values=["pulse"],
    start=0,
    end=1440,
    ledger=ledger,
    dataset="ward, order of minutes",
    request="2 March",
)
print(blurred.promise)

# %% [markdown]
# ## What does the researcher lose?
#
# A mean over a block is untouched, and so is every alarm that looks at whole blocks. An alarm that wants five high
# minutes in a row sees some of them torn apart.


# %%
def alarms(table: pd.DataFrame) -> tuple[int, int]:
    """Count blocks with a mean above 110, and stretches of five minutes above 110."""
    pulse = table.sort_values(["patient", "minute"])["pulse"].to_numpy(dtype=float).reshape(-1, 1440)
    high = np.lib.stride_tricks.sliding_window_view(pulse > 110, 5, axis=1).all(axis=2)
    begins = np.diff(high.astype(int), axis=1, prepend=0) == 1
    return int((pulse.reshape(-1, 15).mean(axis=1) > 110).sum()), int(begins.sum())


compared = pd.DataFrame(
    {"true times": alarms(vitals), "blurred times": alarms(blurred.frame)},
    index=["blocks with a mean above 110", "five minutes in a row above 110"],
)
print(compared.to_string())
assert compared.loc["blocks with a mean above 110"].nunique() == 1

# %% [markdown]
# The last page shows one patient before and after. It is for the hospital only: it holds true times.

# %%
owner_page = cdp.temporal.report_times(blurred, folder / "owner-only.html", title="One patient, before and after")
for dataset in ("ward", "ward, order of minutes"):
    print(f"The budget of {dataset!r} has paid for {[entry.purpose for entry in ledger.history(dataset)]}.")
ledger.close_connection()
print(f"To publish: {page}. For the owner only: {owner_page}.")

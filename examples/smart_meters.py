"""# The load of a town, hour by hour

A utility publishes what its households used in each hour of a month, with days and the running total beside it. Nobody
may learn from it what one household did in a day. Whoever downloads the file can check what was promised.
"""

# %%
import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import chronodp as cdp

options = argparse.ArgumentParser(description="Publish a month of hourly electricity, privately.")
options.add_argument("--data", help="Parquet or CSV with meter_id, read_at, kwh; made up unless given")
options.add_argument("--start", default="2026-01-01", help="the first day")
options.add_argument("--end", default="2026-02-01", help="the day after the last")
options.add_argument("--folder", type=Path, help="where ledger, release and page go; a new one unless given")
chosen = options.parse_args()
folder = chosen.folder or Path(tempfile.mkdtemp(prefix="smart-meters-"))
folder.mkdir(parents=True, exist_ok=True)

# %% [markdown]
# ## The readings
#
# One row is one reading. The made-up town has 2,000 households that cook in the evening, and use more in a cold spell.


# %%
def make_up(path: Path, hours: pd.DatetimeIndex, households: int = 2_000) -> Path:
    """Write a table of readings, the same one each time."""
    chance = np.random.default_rng(1)
    evening = 0.3 + 0.7 * np.exp(-((hours.hour.to_numpy() - 19) ** 2) / 12)
    cold = 1 + 0.5 * np.exp(-(((np.arange(len(hours)) / 24 - 18) / 4) ** 2))
    size = chance.lognormal(0.0, 0.5, (households, 1))
    kwh = size * evening * cold * chance.gamma(4.0, 0.25, (households, len(hours)))
    who = np.repeat([f"m{number:04}" for number in range(households)], len(hours))
    table = pd.DataFrame({"meter_id": who, "read_at": np.tile(hours, households), "kwh": kwh.ravel()})
    table.to_parquet(path)
    return path


hours = pd.date_range(chosen.start, chosen.end, freq="1h", inclusive="left", tz="UTC")
data = chosen.data or make_up(folder / "readings.parquet", hours)

# %% [markdown]
# ## Who is protected, and at what price?
#
# A household in everything it did all month, or in each day by itself? Planning reads nothing and costs nothing, so
# both can be looked at before either is chosen. A household counts with at most 4 kWh an hour: a choice from general
# knowledge, never from this table.


# %%
def load(unit: cdp.User | cdp.UserPeriod, max_periods: int | None) -> cdp.Plan:
    """Plan the load of each hour for a unit of protection."""
    meters = cdp.TimeSeries(
        data,
        time="read_at",
        user="meter_id",
        every="1h",
        start=chosen.start,
        end=chosen.end,
        unit=unit,
        max_periods=max_periods,
    )
    return meters.sum("kwh", clip=(0.0, 4.0)).plan(epsilon=1.0, delta=1e-6)


plans = {"all month": load(cdp.User(), len(hours)), "each day": load(cdp.UserPeriod("1D"), None)}
prices = pd.DataFrame(
    {"protected": name, "an hour is off by up to (kWh)": plan.alternatives["half_width"].min()}
    for name, plan in plans.items()
)
print(prices.to_string(index=False, float_format="{:,.0f}".format))

# %% [markdown]
# An hour of this town is some 1,000 kWh. With all month protected, noise would be as large as that; with 100,000
# households it would be 2 % of an hour, and the stronger promise the right one. This utility protects each day by
# itself, and says what that leaves open: habits that repeat from day to day.

# %%
plan = plans["each day"]
print(plan)

# %% [markdown]
# ## Pay, then look
#
# The ledger is debited before any noise exists. The same request again returns the same numbers: nobody can average the
# noise away by asking often.

# %%
ledger = cdp.Ledger(folder / "budget.db")
ledger.open("meters", unit=cdp.UserPeriod("1D"), epsilon=2.0, delta=1e-5)
release = plan.release(ledger, dataset="meters", request=f"load from {chosen.start}")
again = plan.release(ledger, dataset="meters", request=f"load from {chosen.start}")
print(f"Asked twice, the same numbers: {again.text == release.text}. {ledger.status('meters').share:.0%} is spent.")

# %% [markdown]
# ## More from it for nothing
#
# Days, a rolling mean and the running total follow from the release. Their intervals know how the noise of hours adds
# up: a day is known far better than 24 times an hour.

# %%
days = release.resample("1D")
total = release.running_total().to_pandas().iloc[-1]
print(days.to_pandas().head(7).to_string(index=False, float_format="{:,.0f}".format))
print(f"In all {total['value']:,.0f} kWh, between {total['lower']:,.0f} and {total['upper']:,.0f}.")

# %% [markdown]
# ## Would it have held?
#
# Only the owner can compare with the truth. For made-up data we may: how many days lie in their intervals?

# %%
if not chosen.data:
    truth = pd.read_parquet(data).assign(kwh=lambda rows: rows["kwh"].clip(0.0, 4.0)).groupby("read_at")["kwh"].sum()
    by_day = truth.resample("1D").sum().to_numpy()
    held = days.to_pandas().assign(truth=by_day).query("lower <= truth <= upper")
    print(f"{len(held)} of {len(by_day)} days lie in their 95 % intervals.")

# %% [markdown]
# ## Publish, and let others check
#
# The page opens anywhere with the network off. The file carries the signed certificate: a stranger with the public key
# sees what was promised, and that no number was changed since.

# %%
page = release.report(folder / "load.html", title=f"Electricity by the hour from {chosen.start}")
file = release.save(folder / "load.json")
public_key = ledger.public_key
ledger.close_connection()

read_back = cdp.Release.load(file)
link = cdp.ledger.verify(read_back.signed, public_key, release=read_back.text)
print(f"Genuine: {link.certificate.guarantee}.")
try:
    cdp.ledger.verify(read_back.signed, public_key, release=read_back.text.replace("1", "2", 1))
except cdp.errors.ChronodpError as refused:
    print(f"With one digit changed: {refused}.")
print(f"Look at {page}; the numbers are in {file}.")

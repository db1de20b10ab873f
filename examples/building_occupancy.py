"""# How full is the building?

A company wants to know how many people are in each zone of its building, hour by hour, how crowded each day became and
how long lunch takes. Badges at the doors know all that about everybody. What is published must not tell of anybody
whether they were in on a day, nor where.
"""

# %%
import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import chronodp as cdp

options = argparse.ArgumentParser(description="Publish how full a building is, from badge data.")
options.add_argument("--data", help="CSV or Parquet with badge, at, zone, minutes; made up unless given")
options.add_argument("--start", default="2026-03-02", help="the first day")
options.add_argument("--end", default="2026-03-16", help="the day after the last")
options.add_argument("--zones", nargs="+", default=["offices", "canteen", "labs"], help="the zones there are")
options.add_argument("--meals", default="canteen", help="the zone where people eat")
options.add_argument("--folder", type=Path, help="where ledger and page go; a new one unless given")
chosen = options.parse_args()
folder = chosen.folder or Path(tempfile.mkdtemp(prefix="building-occupancy-"))
folder.mkdir(parents=True, exist_ok=True)

# %% [markdown]
# ## The badges
#
# One row is one hour of a person in a zone, with the minutes they stayed. 1,500 made-up people come on three working
# days of five, stay in the offices or labs from nine to five, and meet in the canteen at noon.


# %%
def make_up(path: Path, people: int = 1_500) -> Path:
    """Write a table of badges, the same one each time."""
    chance = np.random.default_rng(3)
    days = pd.bdate_range(chosen.start, chosen.end, inclusive="left", tz="UTC")
    who, day, hour = (part.ravel() for part in np.meshgrid(np.arange(people), np.arange(len(days)), np.arange(8, 19)))
    comes = chance.random((people, len(days)))[who, day] < 0.6
    inside = comes & (chance.random(len(who)) < np.where((hour >= 9) & (hour < 17), 0.9, 0.2))
    who, day, hour = who[inside], day[inside], hour[inside]
    desk = np.array(["offices", "labs"])[(who % 5 < 2).astype(int)]
    zone = np.where((hour == 12) & (chance.random(len(who)) < 0.7), "canteen", desk)
    minutes = np.where(zone == "canteen", chance.normal(32, 8, len(who)), chance.normal(52, 10, len(who))).clip(1, 60)
    at = days[day] + pd.to_timedelta(hour, unit="h")
    pd.DataFrame({"badge": who, "at": at, "zone": zone, "minutes": minutes}).to_parquet(path)
    return path


data = chosen.data or make_up(folder / "badges.parquet")

# %% [markdown]
# ## Three questions, one price
#
# The unit is a person with everything they do in a day: who is in on a given day stays hidden, and so do their ways
# through the building. Within an hour a person counts in one zone. The three questions share one price, each with the
# part that makes the error of all least.


# %%
def badges(every: str) -> cdp.TimeSeries:
    """Return the table on a grid of hours or days."""
    return cdp.TimeSeries(
        data, time="at", user="badge", every=every, start=chosen.start, end=chosen.end, unit=cdp.UserPeriod("1D")
    )


present = badges("1h").count().by(zone=chosen.zones)
plan = cdp.plan_together(
    {
        "present": present,
        "peak": present.peak(every="1D"),
        "lunch": badges("1D").histogram("minutes", edges=[0, 10, 20, 30, 40, 50, 60]).by(zone=[chosen.meals]),
    },
    epsilon=1.0,
    delta=1e-6,
)
print(plan)

# %% [markdown]
# ## Release
#
# One call, one debit, one certificate.

# %%
ledger = cdp.Ledger(folder / "budget.db")
ledger.open("building", unit=cdp.UserPeriod("1D"), epsilon=1.0, delta=1e-6)
release = plan.release(ledger, dataset="building", request=f"from {chosen.start}")
print(release.certificate.guarantee)

# %% [markdown]
# ## How many are in?
#
# Nights are empty, and noise around zero shows numbers below it. That people are whole and never fewer than none is
# surely true, and using it is free.

# %%
counts, crowded, meals = release["present"], release["peak"], release["lunch"]
assert isinstance(counts, cdp.Release)
assert isinstance(meals, cdp.Release)
counted = cdp.series.smooth_view(counts.each_period(), method=cdp.postprocess.NonNegative(whole=True))
table = counted.to_pandas()
noon = table[table["time"].dt.hour == 12].pivot(index="time", columns="zone", values="value")[chosen.zones]
print("At noon:")
print(noon.rename(index="{:%a %d %B}".format).to_string(float_format="{:,.0f}".format))

# %% [markdown]
# ## How crowded did it get, and how long is lunch?
#
# The peak was asked for itself: the largest of noisy hours would be too high, since noise lifts the largest. The median
# is read from the histogram, and so would be any other quantile.

# %%
peaks = crowded.to_pandas().pivot(index="time", columns="zone", values="value")[chosen.zones]
peaks.columns = pd.Index([f"most in {zone}" for zone in chosen.zones])
lunch = meals.quantile(0.5).to_pandas().set_index("time")[["value", "lower", "upper"]]
lunch.columns = pd.Index(["median lunch (min)", "from", "to"])
days = peaks.join(lunch)[peaks.index.day_of_week < 5]
print(days.rename(index="{:%a %d %B}".format).to_string(float_format="{:,.0f}".format))

# %% [markdown]
# ## Right?
#
# The made-up badges are ours to look at: how many of all hours and zones lie in their intervals?

# %%
if not chosen.data:
    rows = pd.read_parquet(data)
    true = rows.groupby(["at", "zone"])["badge"].nunique().rename("true").reset_index()
    both = counts.to_pandas().merge(true, how="left", left_on=["time", "zone"], right_on=["at", "zone"])
    held = both["true"].fillna(0).between(both["lower"], both["upper"])
    print(f"{held.mean():.1%} of {len(held):,} counts lie in their 95 % intervals.")
    off = {"as released": both["value"], "whole and not below none": table["value"]}
    for name, values in off.items():
        print(f"Off by {(values - both['true'].fillna(0)).abs().mean():.1f} people on average, {name}.")

page = counts.report(folder / "present.html", title="People in the building, by zone and hour")
ledger.close_connection()
print(f"Look at {page}.")

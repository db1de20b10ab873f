"""# The load of households that were asked to save, against those that were not

Follows a data product about load shapes of groups of meters: how much less the asked group used, hour by hour.

**What they did.** Mean loads of groups of meters are published by the hour, with noise for each group.

**Unit and price.** A household in everything it ever used: epsilon 1, delta 1e-6, for the bound that is found and all
hours of both groups together.

**What is different here.** Nobody knows how much a household uses at most, so the bound is found privately. Sums of the
two groups and their public sizes give the ratio of means, with an interval; a ratio of two means would be wider.
"""

from typing import Any

import chronodp as cdp
from examples.deployments import made_up

SPAN: Any = {"start": "2026-07-06", "end": "2026-07-08"}
UNIT = cdp.User(called="household")
read = made_up.meters("2026-07-06", days=2)
folder, table = made_up.written(read, "smart-meter-shapes")
grid = cdp.TimeSeries(table, time="at", user="meter", every="1h", **SPAN, unit=UNIT, max_periods=48)
plan = grid.sum("kwh", clip=(0.0, cdp.Find())).by(group=["event", "control"]).plan(epsilon=1.0, delta=1e-6)
print(plan)
with cdp.Ledger(folder / "budget.db") as ledger:
    ledger.open("meters", unit=UNIT, epsilon=1.0, delta=1e-6)
    release = plan.release(ledger, dataset="meters", request="event against control")
ratio = release.at(group="event").ratio(release.at(group="control"), within=(0, 10))  # groups of equal, public size
print(ratio.to_pandas().tail(8).to_string(index=False, float_format="{:.3f}".format))
load = read.assign(time=read["at"].dt.tz_localize("UTC")).pivot_table("kwh", "time", "group", "sum")
wrong = made_up.error(ratio.to_pandas(), (load["event"] / load["control"]).rename("truth"))
print(f"Error of a ratio: {wrong:.3f}.")

"""# How much people move, against February, and how many stay put

Follows the movement range maps of 2020 ("Protecting privacy in Facebook mobility data during the COVID-19 response",
https://research.fb.com/blog/2020/06/protecting-privacy-in-facebook-mobility-data-during-the-covid-19-response/): the
change of movement against a baseline, and the share of people who stay put.

**What they did.** Both are published by region and day with noise for each region.

**Unit and price.** Everything one person did in one day: epsilon 1, delta 1e-6 for both numbers together.

**What is different here.** Both are ratios of noisy numbers, and have intervals that are right for ratios: a share of
few people has a wide one, or none that ends.
"""

from typing import Any

import chronodp as cdp
from examples.deployments import made_up

DAYS: Any = {"start": "2026-02-01", "end": "2026-03-29"}
UNIT = cdp.UserPeriod("1D")
visits = made_up.visits("2026-02-01", days=56, shut="2026-03-12")
folder, table = made_up.written(visits, "movement-range")
people = cdp.TimeSeries(table, time="at", user="person", every="1D", **DAYS, unit=UNIT)
everyone = people.count().by(region=made_up.REGIONS)
plan = cdp.plan_together({"all": everyone, "moved": everyone.where("moved")}, epsilon=1.0, delta=1e-6)
with cdp.Ledger(folder / "budget.db") as ledger:
    ledger.open("visits", unit=UNIT, epsilon=1.0, delta=1e-6)
    release = plan.release(ledger, dataset="visits", request="movement")
change = release.view("moved").change(baseline=("2026-02-01", "2026-02-28"), match="weekday", scale="percent")
print(change.to_pandas().tail(4).to_string(index=False, float_format="{:,.1f}".format))
moved = release.view("moved").ratio(release.view("all"), within=(0, 1))
print(moved.to_pandas().tail(4).to_string(index=False, float_format="{:,.3f}".format))
there, went = (made_up.people(rows, "person", "region") for rows in (visits, visits[visits["moved"]]))
wrong = made_up.error(change.to_pandas(), made_up.change_of(went, ("2026-02-01", "2026-02-28")))
print(f"Error of a change: {wrong:.1f} points; of a share: {made_up.error(moved.to_pandas(), went / there):.3f}.")

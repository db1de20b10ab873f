"""# Searches about vaccination, as an index of their first weeks

Follows the vaccination search insights of 2021 ("Google COVID-19 Vaccination Search Insights: anonymization process
description", https://arxiv.org/abs/2107.01179).

**What they did.** Searches in three categories are counted with noise by place and week, and scaled. They state epsilon
2.19 and delta 1e-5 for what one person searched for in a day.

**Unit and price.** Everything one person searched for in one day: epsilon 1, delta 1e-6 for all categories and places.

**What is different here.** The index has an interval that covers the noise of its reference too; in the reference weeks
themselves the two go together, and the interval knows.
"""

from typing import Any

import chronodp as cdp
from examples.deployments import made_up

DAYS: Any = {"start": "2026-01-05", "end": "2026-03-02"}
UNIT = cdp.UserPeriod("1D")
asked_for = made_up.searches("2026-01-05", days=56)
folder, table = made_up.written(asked_for, "vaccine-searches")
people = cdp.TimeSeries(table, time="at", user="person", every="1D", **DAYS, unit=UNIT)
places = cdp.Places(made_up.GEOGRAPHY, "country", "state", "county")
plan = people.count().by(places, symptom=made_up.SYMPTOMS, max_groups=3).plan(epsilon=1.0, delta=1e-6)
with cdp.Ledger(folder / "budget.db") as ledger:
    ledger.open("searches", unit=UNIT, epsilon=1.0, delta=1e-6)
    release = plan.release(ledger, dataset="searches", request="index by the week")
index = release.resample("1W").change(baseline=("2026-01-05", "2026-01-18"), scale="index")
shown = index.publish(relative=0.5).to_pandas()
print(shown.dropna(subset="value").tail(6).to_string(index=False, float_format="{:,.1f}".format))
truth = made_up.people(asked_for, "person", "county", "symptom")
print(f"Error of a county's day: {made_up.error(release.to_pandas(), truth):.1f} people.")

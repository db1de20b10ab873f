"""# How visits changed against the weeks before, by place and kind of place

Follows the community mobility reports of 2020 ("Google COVID-19 Community Mobility Reports: anonymization process
description", https://arxiv.org/abs/2004.04145).

**What they did.** Visits of a day are counted by county and kind of place with Laplace noise, compared with the median
of the same weekday in five earlier weeks, and withheld where the change is not reliable.

**Unit and price.** Everything one person did in one day: epsilon 1, delta 1e-6, all counties, states and the country
together. Days add up: a person who is there all year is not protected as a whole.

**What is different here.** Counties add up to states to the last digit. The change has an interval that also covers
the noise of the baseline, and those that are withheld are withheld by a stated rule whose effect on the others is
corrected for. Withholding hides nothing: noise does.
"""

from typing import Any

import chronodp as cdp
from examples.deployments import made_up

DAYS: Any = {"start": "2026-01-02", "end": "2026-02-27"}
UNIT = cdp.UserPeriod("1D")
visits = made_up.visits("2026-01-02", days=56, shut="2026-02-12")
folder, table = made_up.written(visits, "community-mobility")
people = cdp.TimeSeries(table, time="at", user="person", every="1D", **DAYS, unit=UNIT)
places = cdp.Places(made_up.GEOGRAPHY, "country", "state", "county")
plan = people.count().by(places, category=made_up.CATEGORIES, max_groups=4).plan(epsilon=1.0, delta=1e-6)
print(plan)
with cdp.Ledger(folder / "budget.db") as ledger:
    ledger.open("visits", unit=UNIT, epsilon=1.0, delta=1e-6)
    release = plan.release(ledger, dataset="visits", request="changes")
change = release.change(baseline=("2026-01-02", "2026-02-05"), match="weekday", statistic="median", scale="percent")
shown = change.publish(points=10, chance=0.05).to_pandas()
print(shown.dropna(subset="value").tail(6).to_string(index=False, float_format="{:,.1f}".format))
truth = made_up.people(visits, "person", "county", "category")
wrong = made_up.error(shown, made_up.change_of(truth, ("2026-01-02", "2026-02-05"), "median"))
print(f"Error of a county's change: {wrong:.1f} points; shown are {shown['value'].notna().mean():.0%} of all.")

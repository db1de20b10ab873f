"""# Searches for symptoms as a share of all searches, by the week

Follows the search trends of symptoms of 2020 ("Google COVID-19 Search Trends symptoms dataset: anonymization process
description", https://arxiv.org/abs/2009.01265).

**What they did.** People who searched for a symptom in a region are counted with noise and divided by all who searched
there; what is not reliable is withheld, and weeks are published where days are too noisy. They state epsilon 1.68 for
what one person searched for in a day.

**Unit and price.** Everything one person searched for in one day: epsilon 1, delta 1e-6, all symptoms and all places
together with the denominators.

**What is different here.** Weeks are made of days for nothing, before the share is taken. The interval of the share
covers the noise of both counts.
"""

from typing import Any

import chronodp as cdp
from examples.deployments import made_up

DAYS: Any = {"start": "2026-01-05", "end": "2026-03-02"}
UNIT = cdp.UserPeriod("1D")
asked_for = made_up.searches("2026-01-05", days=56)
folder, table = made_up.written(asked_for, "symptom-trends")
people = cdp.TimeSeries(table, time="at", user="person", every="1D", **DAYS, unit=UNIT)
places = cdp.Places(made_up.GEOGRAPHY, "country", "state", "county")
asked = {symptom: people.count().where(f"symptom = '{symptom}'").by(places) for symptom in made_up.SYMPTOMS}
plan = cdp.plan_together({**asked, "all": people.count().by(places)}, epsilon=1.0, delta=1e-6)
with cdp.Ledger(folder / "budget.db") as ledger:
    ledger.open("searches", unit=UNIT, epsilon=1.0, delta=1e-6)
    release = plan.release(ledger, dataset="searches", request="symptoms by the week")
fever = release.view("fever").resample("1W").ratio(release.view("all").resample("1W"), within=(0, 1))
shown = fever.publish(relative=0.5).to_pandas()
print(shown.dropna(subset="value").tail(6).to_string(index=False, float_format="{:,.3f}".format))
of_fever = asked_for[asked_for["symptom"] == "fever"]
ill, everyone = (made_up.weeks(made_up.people(rows, "person", "county")) for rows in (of_fever, asked_for))
print(f"Error of a county's share: {made_up.error(shown, ill / everyone):.4f}.")

"""# How many people edit a wiki, by country and month

Follows the counts of editors that the Wikimedia Foundation publishes by country (https://meta.wikimedia.org/wiki/Differential_privacy).

**What they did.** Editors of a month are counted by country and by how much they edited, and noise is added to each
count.

**Unit and price.** What one editor did in one calendar month: epsilon 1 for each month, pure. Someone who edits all
year is protected in each month and not in the year: twelve months tell up to epsilon 12 of them.

**What is different here.** Every band is an interval at 95 %, no cell is hidden, and sums over countries carry their
own interval.
"""

import chronodp as cdp
from examples.deployments import made_up

UNIT = cdp.UserPeriod("1mo", called="editor")
edits = made_up.edits("2026-01-01", months=6)
folder, table = made_up.written(edits, "editors")
wiki = cdp.TimeSeries(table, time="at", user="editor", every="1mo", start="2026-01-01", end="2026-07-01", unit=UNIT)
plan = wiki.count().by(country=made_up.COUNTRIES, band=made_up.BANDS).plan(epsilon=1.0)
print(plan)
with cdp.Ledger(folder / "budget.db") as ledger:
    ledger.open("wiki", unit=UNIT, epsilon=1.0)
    release = plan.release(ledger, dataset="wiki", request="editors of the first half year")
print(release.over("country").to_pandas().head(3).to_string(index=False, float_format="{:,.0f}".format))
truth = made_up.people(edits, "editor", "country", "band", every="M")
print(f"Error of a cell: {made_up.error(release.to_pandas(), truth):.1f} editors, of {truth.mean():,.0f}.")

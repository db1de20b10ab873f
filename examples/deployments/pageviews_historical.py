"""# Views of a wiki's pages in earlier years, from totals that somebody else added up

Follows what the Wikimedia Foundation publishes for the years before 2023, when nobody had counted which device saw what
(https://analytics.wikimedia.org/published/datasets/country_project_page_historical_pre_2017/00_README.html).

**What they did.** Only totals by page and day are kept, so a number of views is protected instead of a person: of the
oldest years they state epsilon 1 with Laplace noise of scale 300, and show pages above 3,500 views.

**Unit and price.** Up to 30 views of one person in a day, on at most 10 pages, 3 of each: epsilon 1. Who viewed more is
protected less. That bound is the publisher's word: totals cannot show whether it is true.

**What is different here.** The bound is part of the certificate, the list of pages is public, and every number has its
interval. What is not reliable is withheld by a rule that reads only noisy numbers.
"""

import numpy as np

import chronodp as cdp
from examples.deployments import made_up

UNIT = cdp.UserPeriod("1D")
PAGES = [f"Article {number}" for number in range(1, 201)]
totals = np.random.default_rng(1).poisson(40_000 * made_up.shares(200), size=(28, 200))
views = cdp.Aggregate(totals, by={"page": PAGES}, max_groups=10, change=3.0, unit=UNIT, every="1D", start="2016-05-01")
plan = views.plan(epsilon=1.0)
print(plan)
folder = made_up.folder("pageviews-historical")
with cdp.Ledger(folder / "budget.db") as ledger:
    ledger.open("totals", unit=UNIT, epsilon=1.0)
    release = plan.release(ledger, dataset="totals", request="views of a month")
shown = release.each_period().publish(relative=0.5).to_pandas()
print(shown.dropna(subset="value").tail(5).to_string(index=False, float_format="{:,.0f}".format))
error = np.sqrt(np.mean((release.to_pandas()["value"].to_numpy().reshape(totals.shape) - totals) ** 2))
print(f"Error of a page's day: {error:.0f} views; shown are {shown['value'].notna().mean():.0%} of all.")

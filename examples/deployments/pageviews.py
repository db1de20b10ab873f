"""# Views of a wiki's pages by country, day by day

Follows what the Wikimedia Foundation publishes since 2023 ("Publishing Wikipedia usage data with strong privacy
guarantees", Adeleye et al., https://arxiv.org/abs/2308.16298, and the data's own README).

**What they did.** A device counts with its first ten different pages of a day. Countries come from a public list, pages
from the table itself: those with more than 150 views in the world that day, by their true count. All pairs of them get
Gaussian noise of scale 10 (rho 0.015), and pairs below 90 are not shown.

**Unit and price.** What one device saw in one day: epsilon 1, delta 1e-6, for pages that are found and their counts.

**What is different here.** Pages are found privately: that a page is in the file is covered by the same guarantee as
its counts, and needs no true count. They are found once for all days, so every page has its whole series. What is not
reliable is withheld by a rule that reads only noisy numbers, and what that does to the others is corrected for.
"""

from typing import Any

import chronodp as cdp
from examples.deployments import made_up

WEEK: Any = {"start": "2026-03-02", "end": "2026-03-09"}
UNIT = cdp.UserPeriod("1D", called="device")
seen = made_up.views("2026-03-02", days=7)
folder, table = made_up.written(seen, "pageviews")
wiki = cdp.TimeSeries(table, time="at", user="device", every="1D", **WEEK, unit=UNIT)
plan = wiki.count().by(country=made_up.COUNTRIES, page=cdp.Discover(), max_groups=10).plan(epsilon=1.0, delta=1e-6)
print(plan)
with cdp.Ledger(folder / "budget.db") as ledger:
    ledger.open("wiki", unit=UNIT, epsilon=1.0, delta=1e-6, reserve=4e-7)
    release = plan.release(ledger, dataset="wiki", request="views of a week")
release.save(folder / "release.json")
shown = release.each_period().publish(relative=0.5).to_pandas()
print(shown.nlargest(8, "value").to_string(index=False, float_format="{:,.0f}".format))
truth = made_up.people(seen, "device", "country", "page")
found = seen["page"].isin(list(release.keys or ())).mean()
print(f"{len(release.keys or ())} of {seen['page'].nunique():,} pages were found, with {found:.0%} of all views.")
print(f"Error of what is shown: {made_up.error(shown, truth):.1f} devices.")

"""# The articles that members engaged with most, month by month

Follows what a professional network gave to those who advertise on it ("LinkedIn's Audience Engagements API: a privacy
preserving data analytics system at scale", Rogers et al., https://arxiv.org/abs/2002.05839).

**What they did.** The k articles with the most members of an audience are picked out of an unknown domain. Members are
protected, and every analyst has a budget that begins anew each month: about (34.9, 7e-9) for one month.

**Unit and price.** A member in everything, all months together: two months at (1, 1e-6) each, from a budget of
(5, 1e-5) that holds twelve.

**What is different here.** The budget does not begin anew. The price does not depend on k, and the days of each article
come with it. The order is that of noisy totals: neighbours whose bands overlap may stand the other way round.
"""

from typing import Any

import pandas as pd

import chronodp as cdp
from examples.deployments import made_up

UNIT = cdp.User(called="member")
seen = made_up.engagements("2026-01-01", months=2)
folder, table = made_up.written(seen, "audience-engagement")
with cdp.Ledger(folder / "budget.db") as ledger:
    ledger.open("engagement", unit=UNIT, epsilon=5.0, delta=1e-5, reserve=5e-6)
    for start in pd.date_range("2026-01-01", periods=2, freq="MS"):
        days: Any = {"every": "1D", "start": str(start.date()), "end": str((start + pd.DateOffset(months=1)).date())}
        month = cdp.TimeSeries(table, time="at", user="member", **days, unit=UNIT, max_periods=8)
        plan = month.count().by(article=cdp.Discover(max_keys=10, most=20), max_groups=2).plan(epsilon=1.0, delta=1e-6)
        release = plan.release(ledger, dataset="engagement", request=f"largest of {start:%Y-%m}")
        release.save(folder / f"{start:%Y-%m}.json")
        whole = release.resample("1mo").to_pandas().nlargest(5, "value")
        print(f"The largest of {start:%B %Y}, days of members:")
        print(whole.to_string(index=False, float_format="{:,.0f}".format))
        wrong = made_up.error(release.to_pandas(), made_up.people(seen, "member", "article"))
        print(f"Error of an article's day: {wrong:.1f} members.")
    print(ledger.status("engagement"))

"""# Which employers hire most, and how that changed in a year

Follows reports on the labour market by a professional network ("A members first approach to enabling LinkedIn's labor
market insights at scale", Rogers et al., https://arxiv.org/abs/2010.13981).

**What they did.** The employers who hire most in a month are told by country and industry, out of millions that nobody
lists beforehand, with counts that are noisy.

**Unit and price.** One change of employer, that is one row: epsilon 1, delta 1e-6 for two years of months. A person
with three changes is protected in each of them.

**What is different here.** Employers are found privately, and the change has an interval for a ratio.
"""

import chronodp as cdp
from examples.deployments import made_up

UNIT = cdp.Event()
hires = made_up.hires("2024-01-01", months=24)
folder, table = made_up.written(hires, "hiring")
work = cdp.TimeSeries(table, time="at", user="person", every="1mo", start="2024-01-01", end="2025-12-01", unit=UNIT)
plan = work.count().by(employer=cdp.Discover(most=10)).plan(epsilon=1.0, delta=1e-6)
print(plan)
with cdp.Ledger(folder / "budget.db") as ledger:
    ledger.open("hires", unit=UNIT, epsilon=1.0, delta=1e-6, reserve=4e-7)
    release = plan.release(ledger, dataset="hires", request="largest employers")
release.save(folder / "release.json")
change = release.change(baseline=("2024-01-01", "2024-12-31"), scale="percent")
truth = made_up.people(hires, "person", "employer", every="M")
print(change.to_pandas().tail(10).to_string(index=False, float_format="{:,.1f}".format))
print(f"Error of a count: {made_up.error(release.to_pandas(), truth):.1f} hires.")

"""# A fleet that keeps its secrets

A maker of electric cars wants to know where people charge: at home, at work, in the street or on the motorway. Each car
knows, and no car tells: it answers through a noisy table, keeps its answers and its budget in a file of its own, and
refuses when the budget is used up. The maker never holds a true value, and still sees the trend.
"""

# %%
import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import chronodp as cdp
from chronodp import local

options = argparse.ArgumentParser(description="Collect where cars charge, without knowing it of any car.")
options.add_argument("--data", help="CSV, a row a car and a column a day (8 or more), 0 to 3; made up unless given")
options.add_argument("--folder", type=Path, help="where plan, devices and page go; a new one unless given")
chosen = options.parse_args()
folder = chosen.folder or Path(tempfile.mkdtemp(prefix="fleet-of-devices-"))
folder.mkdir(parents=True, exist_ok=True)

# %% [markdown]
# ## Four weeks of cars
#
# Most people charge where they always do. In the third week a city opens street chargers, and one in eight who charged
# at home goes there from then on.

# %%
PLACES = ("home", "work", "street", "motorway")


def make_up(cars: int = 30_000, days: int = 28) -> np.ndarray:
    """Return a row a car and a column a day, the same ones each time."""
    chance = np.random.default_rng(4)
    place = np.repeat(chance.choice(4, p=[0.55, 0.2, 0.15, 0.1], size=(cars, 1)), days, axis=1)
    moves = (place[:, 0] == 0) & (chance.random(cars) < 1 / 8)
    place[moves, 15:] = 2
    return place


truth = make_up() if chosen.data is None else pd.read_csv(chosen.data).to_numpy()
days = truth.shape[1]

# %% [markdown]
# ## What would a car give away?
#
# Before anyone takes part: the price of all reports of one car together. *Fresh* answers every day add up. *Slots*
# speak on three secret days of the month only. *Memoised* keeps one noisy answer for each place (here for two
# of them), and sends it every day behind fresh noise: cheap if the secret is where a car charges, dear if it
# is when that changed.

# %%
answers = local.RandomizedResponse(epsilon=1.0, choices=len(PLACES))
protocols: dict[str, local.Fresh | local.Slots | local.Memoised] = {
    "fresh": local.Fresh(horizon=days),
    "slots": local.Slots(horizon=days, reports=3),
    "memoised": local.Memoised(permanent_epsilon=2.0, horizon=days, max_values=2),
}
lifetimes = {name: local.LocalPlan("charging", answers, kind).lifetime for name, kind in protocols.items()}
prices = pd.DataFrame(
    {"ε, where": told.same_pattern, "ε, where and when": told.any_pattern, "linkable": told.linkable}
    for told in lifetimes.values()
)
print(prices.set_index(pd.Index(lifetimes)).to_string(float_format="{:.1f}".format))

# %% [markdown]
# This maker promises that *where* is secret, tells its customers that *when* is not, and has a report of each car every
# day. Who must protect both takes slots.
#
# ## In the car
#
# `chronodp/local/device.py` is one file without dependencies; the car has it and the plan. Here are three real ones.
# Every report is on disk with its charge before it leaves; a car that is switched off at any moment goes on where it
# was.

# %%
plan = local.LocalPlan("charging", answers, protocols["memoised"])
plan.save(folder / "plan.json")
sent = folder / "reports.jsonl"
for car in range(3):
    state = folder / f"car-{car}.json"
    if not state.exists():
        local.start(state, plan.compiled)
    for day in range(local.Device(state, plan.compiled).spent, days):
        device = local.Device(state, plan.compiled)  # each day from its file, as after a restart
        report = device.send(int(truth[car, day]), slot=day)
        assert report == device.send(int(truth[car, day]), slot=day)  # asked again: the same answer, paid once
        with sent.open("a", encoding="utf-8") as file:
            file.write(json.dumps(report) + "\n")
    try:
        local.Device(state, plan.compiled).send(0, slot=days)
    except local.Refused as refused:
        print(f"Car {car} has sent {days} reports, and refuses one more: {refused}.")

# %% [markdown]
# ## At the maker
#
# The other cars are drawn at once, by the same tables. Reports that come twice count once, and whatever is no report is
# dropped and counted.

# %%
collector = local.Collector(plan)
collector.add(local.simulate(plan, truth[3:]))
collector.read(sent)
collector.add_lines([*sent.read_text(encoding="utf-8").splitlines()[:10], "no report at all"])
dropped = collector.tally.dropped
print(f"{collector.tally.reports.sum():,} reports, {dropped.duplicate} twice, {dropped.malformed} malformed.")

estimates = local.estimate(plan, collector.tally, labels=PLACES)
shares = estimates.to_pandas()
last = shares[shares["slot"] == days - 1].set_index("label").drop(columns=["slot", "reports"])
true = pd.Series([(truth[:, -1] == place).mean() for place in range(4)], index=PLACES, name="in truth")
print(f"Shares on day {days}, their 95 % intervals:")
print(last.join(true).to_string(float_format="{:.1%}".format))

# %% [markdown]
# ## Did the street chargers change anything?
#
# The last week against a week in the first half. The noise of both is known, so we know what is a change and what is
# not.

# %%
change = estimates.smoothed(7).changes(lag=days // 2)
lower, upper = (ends[-4] for ends in change.interval())  # the last day with a whole week around it
for place, value, low, high in zip(PLACES, change.values[-4], lower, upper, strict=True):
    verdict = "changed" if low > 0 or high < 0 else "no change proven"
    print(f"{place:9} {value:+.1%} ({low:+.1%} to {high:+.1%}): {verdict}")

# %% [markdown]
# ## A page of it

# %%
drawn = []
for place in PLACES:
    part = shares[shares["label"] == place]
    value, low, high = (part[name].to_numpy() for name in ("value", "lower", "upper"))
    drawn.append(cdp.report.Line(place, part["slot"].to_list(), value, low, high))
figure = cdp.report.series_figure(drawn, title="Where cars charge, by the day", value_name="share of cars")
page = cdp.report.Page(
    title="Where cars charge",
    promise=f"No car told where it charges. What it sent gives away: {plan.lifetime}.",
    facts=(("Cars", f"{len(truth):,}"), ("Days", f"{days}"), ("Answers", str(plan.mechanism))),
    certificate=str(plan.certificate),
    columns=tuple(shares.columns),
    rows=list(shares.itertuples(index=False, name=None)),
    figure=figure,
)
print(f"Look at {cdp.report.write_page(page, folder / 'charging.html')}.")

"""# Ten years of monthly figures, at one price for ever

A utility publishes every month what its households used, by region, and means to go on for ever. A budget that renews
each month sounds careful and is not: what the same household loses adds up, month after month. Here a series is bought
once, for all issues there will ever be, and its board gets one page: what is promised to each household, what that
costs in accuracy, and what renewing would have promised instead.
"""

# %%
import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import chronodp as cdp

options = argparse.ArgumentParser(description="Publish monthly electricity by region for ever, at one price.")
options.add_argument("--data", help="Parquet or CSV with meter_id, month, region, kwh; made up unless given")
options.add_argument("--start", default="2016-01-01", help="the first month")
options.add_argument("--months", type=int, default=120, help="how many months are published")
options.add_argument("--regions", nargs="+", default=["north", "coast", "hills"], help="the regions there are")
options.add_argument("--folder", type=Path, help="where ledger, tally and page go; a new one unless given")
chosen = options.parse_args()
folder = chosen.folder or Path(tempfile.mkdtemp(prefix="published-for-ever-"))
folder.mkdir(parents=True, exist_ok=True)
months = pd.date_range(chosen.start, periods=chosen.months + 1, freq="MS")

# %% [markdown]
# ## The readings
#
# One row is what one household used in one month. The made-up utility has 20,000 homes. Each month one home in 120 gets
# another household, with a meter of its own; winters need more, and ever more homes heat with electricity.


# %%
def make_up(homes: int = 20_000) -> Iterator[pd.DataFrame]:
    """Return a table for each month, the same ones each time."""
    chance = np.random.default_rng(5)
    parts = np.arange(len(chosen.regions) + 1, 1, -1)
    region = chance.choice(chosen.regions, homes, p=parts / parts.sum())
    meter, size, heats = np.arange(homes), chance.lognormal(5.35, 0.4, homes), np.zeros(homes, dtype=bool)
    for number, month in enumerate(months[:-1]):
        moved = chance.random(homes) < 1 / 120
        meter[moved] = meter.max() + 1 + np.arange(moved.sum())
        size[moved] = chance.lognormal(5.35, 0.4, moved.sum())
        heats |= chance.random(homes) < 0.002
        cold = 0.5 + 0.5 * np.cos(2 * np.pi * (number % 12 - 0.5) / 12)
        kwh = size * (1 + 0.25 * cold + 0.8 * cold * heats) * chance.gamma(20.0, 0.05, homes)
        yield pd.DataFrame({"meter_id": meter, "month": month, "region": region, "kwh": kwh})


# %% [markdown]
# ## What would it cost?
#
# A household counts with at most 600 kWh a month and for 120 such months in its life: ten years. Both are
# chosen from general knowledge, before any table is there. The plan reads nothing, and says what the same price would
# come to if it were paid anew each month.

# %%
meters = cdp.TimeSeries(
    chosen.data,
    time="month",
    user="meter_id",
    every="1mo",
    start=months[0],
    end=months[1],
    unit=cdp.User(called="household"),
)
load = meters.sum("kwh", clip=(0.0, 600.0)).by(region=chosen.regions)
life = load.lifetime(epsilon=1.0, delta=1e-6, max_periods=120)
print(life)

# %% [markdown]
# ## Bought once
#
# Opening debits the budget, and nothing after it does. What each household has used of its life is kept in a sealed
# tally beside the ledger; nobody is told of it, this script included.

# %%
ledger = cdp.Ledger(folder / "budget.db")
ledger.open("meters", unit=cdp.User(called="household"), epsilon=1.0, delta=1e-6)
try:
    series = cdp.Lifetime.resume(ledger, "load", tally=folder / "load.tally")
except cdp.errors.UnknownStream:
    series = life.open(ledger, dataset="meters", name="load", tally=folder / "load.tally")
print(f"{ledger.status('meters').share:.0%} of the budget is spent, and {series.status.issues} issues are out.")

# %% [markdown]
# ## Issued every month
#
# Each month has a table, and each table becomes an issue. The same request again returns the same numbers, so that
# this loop may stop anywhere and run again.

# %%
issues, truth = [], []
tables = (chosen.data for _ in months[:-1]) if chosen.data else make_up()
for start, end, table in zip(months[:-1], months[1:], tables, strict=True):
    made = series.issue(table, start=start, end=end, request=f"{start:%Y-%m}", progress=lambda _: None)
    issues.append(made)
    if not chosen.data:
        truth.append(table["kwh"].clip(0.0, 600.0).groupby(table["region"]).sum().reindex(chosen.regions).to_numpy())
    if start.month == 12:
        series.compact()  # once a year: one file is quicker to read than many
released = pd.concat([made.to_pandas() for made in issues], ignore_index=True)
print(f"{len(issues)} issues, and still {ledger.status('meters').charges} charge.")

# %% [markdown]
# Only the owner can compare with the truth. For made-up data we may.

# %%
if not chosen.data:
    held = released["lower"].le(np.concatenate(truth)) & released["upper"].ge(np.concatenate(truth))
    print(f"{held.sum()} of {len(held)} numbers lie in their 95 % intervals.")

# %% [markdown]
# ## What would renewing have promised?
#
# Had each month been released at ε = 1 by itself, its noise would be eleven times smaller. What all months together
# tell of one household is not ε = 1, though: costs of the same household add up, and nobody takes them back. Gaussian
# noise adds up most slowly. A plan for one month alone would even take Laplace noise, which errs least once and adds up
# fastest.

# %%
once = [cdp.privacy.RepeatedCost(life.claim.cost, count + 1) for count in range(len(issues))]
renewed = np.array([cdp.accounting.gaussian.epsilon(cost, 1e-6) for cost in once])
guess, guess_renewed = ((1 + cdp.accounting.adversary.advantage(cost)) / 2 for cost in (once[0], once[-1]))
wide, narrow = life.half_width() / 1000, life.half_width() / 1000 / np.sqrt(120)
after = {years: renewed[12 * years - 1] for years in (1, 3, 5, 10) if 12 * years <= len(renewed)}
told = [f"{epsilon:#.3g} after {years} year{'s'[: years > 1]}" for years, epsilon in after.items()]
renewing = ", ".join(told) or f"{renewed[-1]:#.3g} by now"
print(f"Renewed every month, ε = 1 is truly ε = {renewing}: ± {narrow:,.1f} MWh instead of ± {wide:,.1f}.")

alone = load.plan(epsilon=1.0, delta=1e-6)
fast = cdp.accounting.pld.epsilon(cdp.privacy.RepeatedCost(alone.claim.cost, len(issues)), 1e-6)
print(f"By a plan for each month alone, ± {alone.half_width() / 1000:,.1f} MWh, it would be ε = {fast:#.3g} by now.")

# %% [markdown]
# ## One page for the board
#
# Above, what is published, in bands that noise alone explains. Below, what all of it together may tell of one
# household.

# %%
shown = released.assign(**{name: released[name] / 1000 for name in ("value", "lower", "upper")})
lines = [
    cdp.report.Line(str(region), *(rows[name].tolist() for name in ("time", "value", "lower", "upper")))
    for region, rows in shown.groupby("region", sort=False)
]
figure = cdp.report.series_figure(
    lines, title="What is published, and what it tells of one household", value_name="MWh"
)
losses = {
    "renewed every month": (renewed, "#cc79a7", "by now"),
    "bought once": (np.ones(len(renewed)), "#e69f00", "for ever"),
}
for name, (epsilon, colour, how_long) in losses.items():
    figure.add_scatter(x=months[:-1], y=epsilon, yaxis="y2", name=name, line={"color": colour}, showlegend=False)
    said = {"text": f"{name}: ε = {epsilon[-1]:.3g} {how_long}", "showarrow": False}
    figure.add_annotation(said, x=months[-2], y=epsilon[-1], yref="y2", xanchor="right", yshift=11)
figure.update_layout(
    yaxis_domain=[0.42, 1.0],
    yaxis2={
        "domain": [0.0, 0.3],
        "title": {"text": "true ε so far", "standoff": 12, "font": {"size": 13}},
        "range": [0, 1.25 * renewed[-1]],
        "gridcolor": "rgba(128, 128, 128, 0.25)",
        "automargin": True,
    },
    xaxis={"anchor": "y2", "rangeslider": {"visible": False}, "rangeselector": {"visible": False}},
)

# %%
mean = shown.groupby("region")["value"].mean()
year, whole_year = wide * np.sqrt(12 * len(mean)), 12 * mean.sum()
facts = {
    "What we promise": "(ε, δ) = (1, 0.000001) for everything about one household, in all issues past and future "
    "together. Paid once, when the series was opened; no issue costs anything further.",
    "What it costs in accuracy": f"A month of a region is right to ± {wide:,.0f} MWh in 95 of 100 cases, of "
    f"{mean.min():,.0f} to {mean.max():,.0f} MWh: {wide / mean.max():.1%} to {wide / mean.min():.1%}. A year of all "
    f"regions is right to ± {year:,.0f} of about {whole_year:,.0f} MWh: {year / whole_year:.1%}.",
    "What we would have promised otherwise": f"With the same price paid anew each month, ± {narrow:,.1f} MWh "
    f"({narrow / mean.max():.2%} to {narrow / mean.min():.2%}), and in truth ε = {renewing}. By now, who guesses would "
    f"be right in up to {100 * guess_renewed:.1f} of 100 cases, and ever more often.",
    "What the numbers are of": "Households in their first 120 counted months, each with at most 600 kWh a month. Bands "
    "tell of noise, not of what bounds leave out.",
    "When households stop counting": "Those with us since the first issue stop with issue 121. Nobody is told who has "
    "stopped or how many: that would tell about them. A longer life costs accuracy: with 100 years it is "
    f"± {life.alternatives['half_width'].max() / 1000:,.0f} MWh.",
    "What we assume": "One household has one meter id for as long as it is with us. The sealed tally of what each has "
    "used is kept like the ledger: without it the series ends.",
}
names = {"time": "month", "value": "MWh", "once": "ε as promised", "renewed": "ε if renewed"}
table = shown.assign(time=shown["time"].dt.strftime("%Y-%m"), once=1.0, renewed=np.repeat(renewed, len(mean)))
page = cdp.report.Page(
    title=f"Electricity of our households, {months[0]:%B %Y} to {months[-2]:%B %Y}",
    kind="To the board: a series published for ever",
    promise="What we promise to each household: that it is in these figures hardly shows, whatever anyone makes of all "
    "of them and of every later one. Who guesses whether its readings are in the data is right in at most "
    f"{100 * guess:.1f} of 100 cases, however long we publish; a coin is right in 50.",
    facts=tuple(facts.items()),
    certificate=str(issues[-1].certificate),
    details="Certificate of the newest issue",
    caption="Above: what is published, in bands of 95 %. Below: the true price of everything published so far, as we "
    "bought it and as it would be if we renewed it every month.",
    columns=tuple(table.rename(columns=names).columns),
    rows=list(table.itertuples(index=False, name=None)),
    figure=figure,
)
ledger.close_connection()
print(f"Give {cdp.report.write_page(page, folder / 'for-the-board.html')} to the board.")

"""# A stream with alerts

A museum shows on its door how many visitors it has had since the week began, hour by hour, and calls for more staff
when an hour is far too full. Both go on all week, through a power cut, and neither may tell whether any one visitor
was there. Only calls are paid for: quiet hours are free, however many.
"""

# %%
import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import chronodp as cdp

options = argparse.ArgumentParser(description="Release a stream step by step, with an alert beside it.")
options.add_argument("--data", help="CSV with start and visitors of every hour, where a person counts in at most five")
options.add_argument("--folder", type=Path, help="where ledger and page go; a new one unless given")
chosen = options.parse_args()
folder = chosen.folder or Path(tempfile.mkdtemp(prefix="stream-with-alerts-"))
folder.mkdir(parents=True, exist_ok=True)

# %% [markdown]
# ## A week at the door
#
# 168 hours. The museum is open from ten to six, weekends are busier, and three times a school comes unannounced.


# %%
def make_up() -> pd.DataFrame:
    """Return visitors of each hour, the same ones each time."""
    chance = np.random.default_rng(5)
    start = pd.date_range("2026-05-04", periods=168, freq="1h")
    usual = np.where((start.hour >= 10) & (start.hour < 18), np.where(start.day_of_week >= 5, 70, 40), 0)
    visitors = chance.poisson(usual)
    visitors[[35, 108, 135]] += 180
    return pd.DataFrame({"start": start, "visitors": visitors})


door = make_up() if chosen.data is None else pd.read_csv(chosen.data, parse_dates=["start"])

# %% [markdown]
# ## Before anything is spent
#
# An hour has up to 90 visitors when all is well, and 200 when staff is needed. The plan finds the least budget with
# which false alarms are rarer than one week in a hundred, and an hour that is too full is hardly ever missed.

# %%
visitor = cdp.User()
plan = cdp.Alert.plan(
    quiet=90.0,
    loud=200.0,
    change=1.0,
    unit=visitor,
    max_alerts=5,
    false_alarms=0.01,
    steps=len(door),
    power=0.95,
)
print(plan)

# %% [markdown]
# ## Open once, resume ever after
#
# Everything that must survive is in the ledger: the stream's state, sealed, and what the alert has told. So the program
# starts in the same way on the first day and after a power cut. Each is paid for when it opens, for all steps to come.


# %%
def take_up_stream(ledger: cdp.Ledger) -> cdp.Stream:
    """Return the stream where it stands."""
    try:
        return cdp.Stream.resume(ledger, "visitors so far")
    except cdp.errors.UnknownStream:
        return cdp.Stream(
            cdp.RunningTotal(),
            horizon=len(door),
            change=1.0,
            unit=visitor,
            max_periods=5,
            epsilon=1.0,
            delta=1e-7,
            ledger=ledger,
            dataset="door",
            name="visitors so far",
        )


def take_up_alert(ledger: cdp.Ledger) -> cdp.Alert:
    """Return the alert where it stands."""
    try:
        return cdp.Alert.resume(ledger, "too full")
    except cdp.errors.UnknownStream:
        return cdp.Alert.open(plan.design, ledger=ledger, dataset="door", name="too full")


# %% [markdown]
# ## Watch, until the power goes
#
# Every answer is on disk before it is published. What the loop prints is all that anybody sees. Quiet hours of the
# alert are not written; after a restart they are asked again, which is free.


# %%
def watch(hours: pd.DataFrame) -> None:
    """Go on from where stream and alert stand, to the end of what there is."""
    with cdp.Ledger(folder / "budget.db") as ledger:
        ledger.open("door", unit=visitor, epsilon=3.0, delta=1e-6, rule="renyi")
        stream, alarm = take_up_stream(ledger), take_up_alert(ledger)
        print(f"Goes on with hour {stream.period}.")
        for hour in range(min(stream.period, alarm.period), len(hours)):
            start, visitors = hours["start"].iloc[hour], float(hours["visitors"].iloc[hour])
            if hour >= alarm.period and not alarm.halted and alarm.step(visitors):
                print(f"{start:%a %H:%M}  too full: more staff!")
            if hour >= stream.period:
                so_far = stream.step(visitors)
                if start.hour == 18:
                    print(f"{start:%a %H:%M}  {so_far.value:,.0f} visitors so far ± {so_far.upper - so_far.value:.0f}")


watch(door.iloc[:60])

# %% [markdown]
# Here the power goes. The museum starts the program again, and on it goes: no hour is drawn twice, no hour is lost.

# %%
watch(door)

# %% [markdown]
# ## What was paid
#
# One entry each, made when stream and alert opened. Whoever asks for an old hour again, to average the noise away, is
# refused.

# %%
ledger = cdp.Ledger(folder / "budget.db")
stream, alarm = take_up_stream(ledger), take_up_alert(ledger)
for opened in (stream, alarm):
    print(f"Paid once: {opened.certificate.guarantee}.")
print(f"The ledger has {len(ledger.history('door'))} entries for {len(door)} hours.")
print(
    f"{len(door) - alarm.alerts} quiet hours cost nothing; {alarm.alerts} of {plan.design.max_alerts} alerts are used."
)
try:
    stream.step(0.0, period=10)
except cdp.errors.StreamConflict as refused:
    print(f"Refused: {refused}.")

# %% [markdown]
# ## Looking back
#
# All answers can be read back for nothing. The owner alone may compare with the true totals.

# %%
told = stream.released()
true = door["visitors"].cumsum().to_numpy()
held = np.mean((told.lower <= true) & (true <= told.upper))
print(f"{held:.0%} of hours lie in their 95 % intervals.")
line = cdp.report.Line("visitors so far", list(door["start"]), told.value, told.lower, told.upper)
figure = cdp.report.series_figure([line], title="Visitors so far, and calls for staff", value_name="visitors")
for alert in alarm.history:
    figure.add_vline(x=door["start"].iloc[alert.period].isoformat(), line_dash="dot", line_color="rgb(213, 94, 0)")
page = cdp.report.Page(
    title="Visitors so far",
    promise=f"All answers of the week together are {stream.certificate.guarantee}.",
    facts=(("Calls for staff", f"{alarm.alerts}"), ("Their promise", str(alarm.certificate.guarantee))),
    certificate=str(stream.certificate),
    columns=("start", "value", "lower", "upper"),
    rows=list(zip(door["start"], told.value, told.lower, told.upper, strict=True)),
    figure=figure,
    caption="The band reaches from the lower to the upper bound; dotted lines are calls for staff.",
)
print(f"Look at {cdp.report.write_page(page, folder / 'visitors.html')}.")
ledger.close_connection()

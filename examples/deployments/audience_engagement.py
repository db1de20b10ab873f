"""# The articles that members engaged with most, month by month

Follows what a professional network gave to those who advertise on it ("LinkedIn's Audience Engagements API: a privacy
preserving data analytics system at scale", Rogers et al., https://arxiv.org/abs/2002.05839): the k articles that most
members of an audience engaged with, and how many did.

**What they did.** Nobody lists all articles beforehand, so the k largest are picked out of an unknown domain, with
noise on each pick and a limit below which the list ends. Members are protected, and every analyst has a budget of picks
and calls that begins anew each month; they state about (34.9, 7e-9) for one month.

**What is different here.** One budget of a year pays for all months, and does not begin anew. A month's articles are
found in one step whose price does not depend on k: those that enough members hold, then the k with the largest noisy
weight. The series of each, day by day, comes with it at the same price. It is published once for everybody, so there is
no budget of each analyst. The order of the k is that of their noisy totals: neighbours whose bands overlap may stand
the other way round.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import chronodp as cdp


def make_up(path: Path, first: str, months: int, members: int = 10_000) -> Path:
    """Write a table of engagements, the same one each time: each month has articles of its own."""
    chance = np.random.default_rng(1)
    parts = []
    for start in pd.date_range(first, periods=months, freq="MS"):
        acts = 4 * members
        hours = chance.integers(24 * start.days_in_month, size=acts)
        table = {
            "member": chance.integers(members, size=acts),
            "at": start + pd.to_timedelta(hours, unit="h"),
            "article": [f"{start:%Y-%m}/{number}" for number in chance.zipf(1.4, size=acts)],
        }
        parts.append(pd.DataFrame(table))
    pd.concat(parts).to_parquet(path)
    return path


def largest(data: str | Path, start: pd.Timestamp, unit: cdp.User, k: int, ledger: cdp.Ledger) -> cdp.Release:
    """Return the k articles of a month with the days of each."""
    month = cdp.TimeSeries(
        data,
        time="at",
        user="member",
        every="1D",
        start=f"{start:%Y-%m-%d}",
        end=f"{start + pd.offsets.MonthBegin():%Y-%m-%d}",
        unit=unit,
        max_periods=8,  # the days of one member that count, and two articles of each: from general knowledge
    )
    asked = month.count().by(article=cdp.Discover(max_keys=10, most=k), max_groups=2)
    plan = asked.plan(epsilon=1.0, delta=1e-6)
    return plan.release(ledger, dataset="engagement", request=f"largest of {start:%Y-%m}")


def main() -> None:
    """Publish the k largest of each month, with their days."""
    options = argparse.ArgumentParser(description="Publish the articles that most members engaged with, by the month.")
    options.add_argument("--data", help="Parquet or CSV with member, at, article; made up unless given")
    options.add_argument("--first", default="2026-01-01", help="the first day of the first month")
    options.add_argument("--months", type=int, default=2, help="how many months")
    options.add_argument("--k", type=int, default=20, help="how many articles of each month")
    options.add_argument("--folder", type=Path, help="where ledger and releases go; a new one unless given")
    chosen = options.parse_args()
    folder = chosen.folder or Path(tempfile.mkdtemp(prefix="audience-engagement-"))
    folder.mkdir(parents=True, exist_ok=True)
    data = chosen.data or make_up(folder / "engagements.parquet", chosen.first, chosen.months)

    unit = cdp.User(called="member")
    with cdp.Ledger(folder / "budget.db") as ledger:
        ledger.open("engagement", unit=unit, epsilon=5.0, delta=1e-5, reserve=5e-6)  # enough for twelve months
        for start in pd.date_range(chosen.first, periods=chosen.months, freq="MS"):
            release = largest(data, start, unit, chosen.k, ledger)
            release.save(folder / f"{start:%Y-%m}.json")
            release.to_pandas().to_csv(folder / f"{start:%Y-%m}.csv", index=False)
            totals = release.running_total().to_pandas()
            totals = totals[totals["time"] == totals["time"].max()].drop(columns="time")
            print(f"The {len(release.keys or ())} largest of {start:%B %Y}, members' days with each:")
            ranked = totals.sort_values("value", ascending=False)
            print(ranked.head(5).to_string(index=False, float_format="{:,.0f}".format))
        print(ledger.status("engagement"))
    print(f"The days of each article are in {folder}, a file a month.")


if __name__ == "__main__":
    main()

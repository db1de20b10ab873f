"""# Views of a wiki's pages by country, day by day

Follows what the Wikimedia Foundation publishes since 2023 ("Publishing Wikipedia usage data with strong privacy
guarantees", Adeleye et al., https://arxiv.org/abs/2308.16298, and the data's own README): how often each page was seen
from each country on each day.

**What they did.** A device counts with its first ten different pages of a day, so what is protected is a device's day.
Countries come from a public list, pages from the table itself: those with more than 150 views in the world that day,
by their true count. All pairs of them get Gaussian noise of scale 10 (rho 0.015), and pairs below 90 are not shown.

**What is different here.** Pages are found privately: that a page is in the file is covered by the same guarantee as
its counts, and needs no true count. They are found once for all days, so every page has its whole series. A device
that saw more than ten pairs of page and country in a day counts with ten that a secret picks, and not with the first.
Nothing is hidden or rounded afterwards: numbers near 0 are shown with their bands.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import chronodp as cdp


def make_up(path: Path, start: str, end: str, countries: list[str], devices: int = 3_000) -> Path:
    """Write a table of views, the same one each time: popular pages, and some that one device alone has seen."""
    chance = np.random.default_rng(1)
    days = pd.date_range(start, end, freq="1D", inclusive="left")
    views = 5 * devices * len(days)
    device = chance.integers(devices, size=views)
    size = 1 / np.arange(1, len(countries) + 1)
    home = chance.choice(countries, size=devices, p=size / size.sum())
    table = {
        "device": device,
        "at": days[chance.integers(len(days), size=views)] + pd.to_timedelta(chance.integers(86_400, size=views), "s"),
        "country": home[device],
        "page": [f"Article {number}" for number in chance.zipf(1.4, size=views)],
    }
    seen = pd.DataFrame(table)
    own = seen.head(100).assign(page=lambda rows: "User:" + rows["device"].astype(str))
    pd.concat([seen, own]).to_parquet(path)
    return path


def main() -> None:
    """Publish one table of views by country, page and day."""
    options = argparse.ArgumentParser(description="Publish page views by country and day, pages found privately.")
    options.add_argument("--data", help="Parquet or CSV with device, at, country, page; made up unless given")
    options.add_argument("--start", default="2026-03-02", help="the first day")
    options.add_argument("--end", default="2026-03-09", help="the day after the last")
    options.add_argument("--countries", nargs="+", default=["US", "IN", "DE", "BR"], help="the public list")
    options.add_argument("--folder", type=Path, help="where ledger and release go; a new one unless given")
    chosen = options.parse_args()
    folder = chosen.folder or Path(tempfile.mkdtemp(prefix="pageviews-"))
    folder.mkdir(parents=True, exist_ok=True)
    data = chosen.data or make_up(folder / "views.parquet", chosen.start, chosen.end, chosen.countries)

    # A day of a device is protected, so no number of days must be bounded: only pairs of country and page in a day.
    unit = cdp.UserPeriod("1D", called="device")
    wiki = cdp.TimeSeries(data, time="at", user="device", every="1D", start=chosen.start, end=chosen.end, unit=unit)
    views = wiki.count().by(country=chosen.countries, page=cdp.Discover(), max_groups=10)
    plan = views.plan(epsilon=1.0, delta=1e-6)
    print(plan)

    with cdp.Ledger(folder / "budget.db") as ledger:
        ledger.open("wiki", unit=unit, epsilon=2.0, delta=1e-5, reserve=1e-6)
        release = plan.release(ledger, dataset="wiki", request=f"views from {chosen.start}")
    table = release.to_pandas()
    table.to_csv(folder / "views.csv", index=False)
    release.save(folder / "views.json")

    largest = table.sort_values("value", ascending=False).head(8)
    print(largest.to_string(index=False, float_format="{:,.0f}".format))
    print(f"{len(release.keys or ()):,} pages in {len(chosen.countries)} countries; rows of other pages are left out.")
    if not chosen.data:
        truth = pd.read_parquet(data)
        alone = truth.groupby("page")["device"].nunique() == 1
        print(f"The table has {len(alone):,} pages, {alone.sum():,} of them seen by one device alone.")
        print(f"{truth['page'].isin(list(release.keys or ())).mean():.0%} of all views are of pages that were found.")
    print(f"The numbers are in {folder / 'views.csv'}, with their certificate in {folder / 'views.json'}.")


if __name__ == "__main__":
    main()

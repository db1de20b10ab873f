"""# Trips of shared scooters between zones, day by day

Follows the data feeds that cities ask of operators of scooters and bicycles (the Mobility Data Specification,
https://github.com/openmobilityfoundation/mobility-data-specification), and the tables of origins and destinations that
cities publish from them.

**What they did.** Trips are counted by zone, time and kind of vehicle, and counts below a small number (ten in the
specification's metrics) are withheld. Whether a count is withheld depends on its true value, a rider with the same trip
every day is in all counts of a month, and what two tables tell together is not bounded. No noise is added.

**What is different here.** A rider is protected in everything they did all month. The pairs of zones are found
privately: one that a single rider went comes out with probability at most 4e-7, whatever else is known of them. Pairs,
and the counts of each day under them, are paid for once; weeks follow from the days for nothing, with their own bands.
Nothing is withheld or rounded afterwards: numbers near 0 are shown with their bands.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import chronodp as cdp


def make_up(path: Path, start: str, end: str, riders: int = 20_000, zones: int = 40) -> Path:
    """Write a table of trips, the same one each time: most riders go one way there and back, some elsewhere."""
    chance = np.random.default_rng(1)
    days = pd.date_range(start, end, freq="1D", inclusive="left")
    size = 1 / np.arange(1, zones + 1) ** 1.3
    home, work = chance.choice(zones, size=(2, riders), p=size / size.sum())
    trips = 6 * riders
    rider = chance.integers(riders, size=trips)
    back, usual = chance.random(trips) < 0.5, chance.random(trips) < 0.8
    there = np.where(usual, work[rider], chance.integers(zones, size=trips))
    started = days[chance.integers(len(days), size=trips)] + pd.to_timedelta(chance.integers(86_400, size=trips), "s")
    table = {
        "rider": rider,
        "started_at": started,
        "origin": [f"zone {number}" for number in np.where(back, there, home[rider])],
        "destination": [f"zone {number}" for number in np.where(back, home[rider], there)],
    }
    pd.DataFrame(table).to_parquet(path)
    return path


def main() -> None:
    """Publish one month of trips by pair of zones and day."""
    options = argparse.ArgumentParser(description="Publish trips between zones by the day, pairs found privately.")
    options.add_argument(
        "--data", help="Parquet or CSV with rider, started_at, origin, destination; made up if left out"
    )
    options.add_argument("--start", default="2026-06-01", help="the first day")
    options.add_argument("--end", default="2026-06-29", help="the day after the last")
    options.add_argument("--folder", type=Path, help="where ledger and release go; a new one unless given")
    chosen = options.parse_args()
    folder = chosen.folder or Path(tempfile.mkdtemp(prefix="shared-mobility-"))
    folder.mkdir(parents=True, exist_ok=True)
    data = chosen.data or make_up(folder / "trips.parquet", chosen.start, chosen.end)

    # From general knowledge, never from this table: few ride on more than 12 days of a month or between more than ten
    # pairs of zones, and two pairs of a day are there and back.
    unit = cdp.User(called="rider")
    scooters = cdp.TimeSeries(
        data,
        time="started_at",
        user="rider",
        every="1D",
        start=chosen.start,
        end=chosen.end,
        unit=unit,
        max_periods=12,
        columns={"trip": "origin || ' to ' || destination"},
    )
    plan = scooters.count().by(trip=cdp.Discover(max_keys=10), max_groups=2).plan(epsilon=1.0, delta=1e-6)
    print(plan)

    with cdp.Ledger(folder / "budget.db") as ledger:
        ledger.open("scooters", unit=unit, epsilon=12.0, delta=1e-5, reserve=5e-6)
        release = plan.release(ledger, dataset="scooters", request=f"trips from {chosen.start}")
    release.save(folder / "trips.json")
    release.to_pandas().to_csv(folder / "days.csv", index=False)
    weeks = release.resample("1W").to_pandas()
    weeks.to_csv(folder / "weeks.csv", index=False)

    print(weeks.sort_values("value", ascending=False).head(8).to_string(index=False, float_format="{:,.0f}".format))
    print(f"{len(release.keys or ()):,} pairs of zones; trips between others are left out.")
    if not chosen.data:
        truth = pd.read_parquet(data)
        went = truth["origin"] + " to " + truth["destination"]
        alone = truth.groupby(went)["rider"].nunique() == 1
        print(f"The table has {len(alone):,} pairs, {alone.sum():,} of them of one rider alone.")
        print(f"{went.isin(list(release.keys or ())).mean():.0%} of all trips are between pairs that were found.")
    print(f"Days and weeks are in {folder}, with their certificate in {folder / 'trips.json'}.")


if __name__ == "__main__":
    main()

"""Tables of the shapes that deployments publish from, the same ones each time.

Nobody is in them. Each function says what is like the real thing; what is not is how people really behave.
"""

import tempfile
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Whole = NDArray[np.int64]


def folder(name: str) -> Path:
    """Return a new folder for a ledger, a table and what is published."""
    return Path(tempfile.mkdtemp(prefix=f"{name}-"))


def written(rows: pd.DataFrame, name: str) -> tuple[Path, Path]:
    """Write a table as Parquet into a new folder, and return the folder and the table's path."""
    place = folder(name)
    rows.to_parquet(place / "table.parquet")
    return place, place / "table.parquet"


def people(rows: pd.DataFrame, who: str, *by: str, at: str = "at", every: str = "D") -> Any:
    """Return how many people there truly are by period and groups, which only an example knows."""
    starts = rows[at].dt.to_period(every).dt.start_time.dt.tz_localize("UTC").rename("time")
    return rows[who].groupby([starts, *(rows[column] for column in by)]).nunique().rename("truth")


def change_of(truth: Any, baseline: tuple[str, str], statistic: Literal["mean", "median"] = "mean") -> Any:
    """Return the true change in percent against the same weekday of a baseline."""
    times = pd.DatetimeIndex(truth.index.get_level_values("time"))
    groups = [times.day_of_week, *(truth.index.get_level_values(name) for name in truth.index.names[1:])]
    first, last = (pd.Timestamp(end, tz="UTC") for end in baseline)
    inside = truth.where((times >= first) & (times <= last))
    return (100 * (truth / inside.groupby(groups).transform(statistic) - 1)).rename("truth")


def weeks(truth: Any) -> Any:
    """Return the true sums of weeks from Monday on."""
    times = pd.DatetimeIndex(truth.index.get_level_values("time"))
    groups = [truth.index.get_level_values(name) for name in truth.index.names[1:]]
    return truth.groupby([(times - pd.to_timedelta(times.day_of_week, unit="D")).rename("time"), *groups]).sum()


def error(shown: pd.DataFrame, truth: Any) -> float:
    """Return the root of the mean squared error of what is shown; what the truth does not name is 0 there.

    Of places those are compared whose level is a column of the truth.
    """
    if "level" in shown:
        shown = shown[shown["level"].isin(truth.index.names)]
    names = [name if name in shown else "place" for name in truth.index.names]
    both = shown.dropna(subset="value").join(truth.rename("truth"), on=names)
    return float(np.sqrt(np.mean((both["value"] - both["truth"].fillna(0)) ** 2)))


def shares(choices: int, steepness: float = 1.1) -> NDArray[np.float64]:
    """Return how often each choice is made when few are popular and many are not (Zipf)."""
    weights: NDArray[np.float64] = 1 / np.arange(1, choices + 1) ** steepness
    weights /= weights.sum()
    return weights


def choices_of_devices(devices: int, choices: int, *, days: int = 1) -> Whole:
    """Return the choice of every device and day."""
    chance = np.random.default_rng(1)
    return chance.choice(choices, size=(devices, days), p=shares(choices))


def hours_of_devices(devices: int, days: int, most: float) -> NDArray[np.float64]:
    """Return how long an app was open on each device and day: habits that hardly change."""
    chance = np.random.default_rng(1)
    habit = chance.gamma(2.0, most / 10, size=(devices, 1))
    return np.clip(habit + chance.normal(0, most / 50, size=(devices, days)), 0, most)


COUNTRIES = ("US", "IN", "DE", "BR")
REGIONS = ("north", "east", "south", "west")
CATEGORIES = ("shops", "parks", "work")
SYMPTOMS = ("cough", "fever", "headache")
BANDS = ("1 to 4 edits", "5 to 99 edits", "100 or more")
GEOGRAPHY = pd.DataFrame(
    [("land", f"state {state}", f"county {state}.{county}") for state in range(4) for county in range(6)],
    columns=["country", "state", "county"],
)


def _rows(rows: int, start: str, days: int, seed: int = 1) -> tuple[np.random.Generator, pd.DatetimeIndex]:
    chance = np.random.default_rng(seed)
    return chance, pd.Timestamp(start) + pd.to_timedelta(chance.integers(days * 86_400, size=rows), unit="s")


def visits(start: str, days: int, *, shut: str, people: int = 20_000) -> pd.DataFrame:
    """Return visits of people who mostly stay in their county; from a day on, half of those to shops are not made."""
    chance, at = _rows(3 * people * days // 4, start, days)
    person = chance.integers(people, size=len(at))
    home = chance.choice(len(GEOGRAPHY), size=people, p=shares(len(GEOGRAPHY), 0.6))
    away = chance.random(len(at)) < 0.1
    county = np.where(away, chance.integers(len(GEOGRAPHY), size=len(at)), home[person])
    rows = pd.DataFrame(
        {
            "person": person,
            "at": at,
            "county": GEOGRAPHY["county"].to_numpy()[county],
            "region": np.array(REGIONS)[county % len(REGIONS)],
            "category": chance.choice(CATEGORIES, size=len(at), p=[0.5, 0.2, 0.3]),
            "moved": chance.random(len(at)) < 0.7,
        }
    )
    kept = (rows["at"] < pd.Timestamp(shut)) | (rows["category"] != "shops") | (chance.random(len(at)) < 0.5)
    return rows[kept]


def searches(start: str, days: int, people: int = 20_000) -> pd.DataFrame:
    """Return searches of people, one in six of them about a symptom; fever rises over time."""
    chance, at = _rows(people * days // 3, start, days)
    fever = 0.04 + 0.06 * (at - pd.Timestamp(start)).days.to_numpy() / days
    draw = chance.random(len(at))
    symptom = np.select([draw < 0.06, draw < 0.06 + fever, draw < 0.1 + fever], SYMPTOMS, default="none")
    county = GEOGRAPHY["county"].to_numpy()[chance.integers(len(GEOGRAPHY), size=people)]
    person = chance.integers(people, size=len(at))
    return pd.DataFrame({"person": person, "at": at, "county": county[person], "symptom": symptom})


def views(start: str, days: int, devices: int = 3_000) -> pd.DataFrame:
    """Return views of pages: popular ones, and some that one device alone has seen."""
    chance, at = _rows(5 * devices * days, start, days)
    device = chance.integers(devices, size=len(at))
    home = chance.choice(COUNTRIES, size=devices, p=shares(len(COUNTRIES), 1.0))
    page = [f"Article {number}" for number in chance.zipf(1.4, size=len(at))]
    seen = pd.DataFrame({"device": device, "at": at, "country": home[device], "page": page})
    own = seen.head(100).assign(page=lambda rows: "User:" + rows["device"].astype(str))
    return pd.concat([seen, own])


def edits(start: str, months: int, editors: int = 30_000) -> pd.DataFrame:
    """Return one row for each editor and month with how many edits there were, by band."""
    chance = np.random.default_rng(1)
    home = chance.choice(COUNTRIES, size=editors, p=shares(len(COUNTRIES), 1.0))
    parts = []
    for month in pd.date_range(start, periods=months, freq="MS"):
        there = np.flatnonzero(chance.random(editors) < 0.6)
        band = chance.choice(BANDS, size=len(there), p=[0.75, 0.22, 0.03])
        parts.append(pd.DataFrame({"editor": there, "at": month, "country": home[there], "band": band}))
    return pd.concat(parts)


def engagements(start: str, months: int, members: int = 10_000) -> pd.DataFrame:
    """Return which member engaged with which article; each month has articles of its own."""
    chance = np.random.default_rng(1)
    parts = []
    for month in pd.date_range(start, periods=months, freq="MS"):
        hours = chance.integers(24 * month.days_in_month, size=4 * members)
        article = [f"{month:%Y-%m}/{number}" for number in chance.zipf(1.4, size=4 * members)]
        rows = {"member": chance.integers(members, size=4 * members), "at": month + pd.to_timedelta(hours, unit="h")}
        parts.append(pd.DataFrame({**rows, "article": article}))
    return pd.concat(parts)


def hires(start: str, months: int, people: int = 60_000) -> pd.DataFrame:
    """Return who was hired by whom and when: few large employers and many small ones, fewer in the second year."""
    chance, at = _rows(people, start, 30 * months)
    late = at > pd.Timestamp(start) + pd.DateOffset(years=1)
    kept = ~late | (chance.random(people) < 0.7)
    employer = [f"employer {number}" for number in chance.zipf(1.5, size=people)]
    return pd.DataFrame({"person": np.arange(people), "at": at, "employer": employer})[kept]


def meters(start: str, days: int, households: int = 4_000) -> pd.DataFrame:
    """Return hourly readings of two groups of equal size; one uses a fifth less from 17 to 20 h."""
    chance = np.random.default_rng(1)
    hours = pd.date_range(start, periods=24 * days, freq="1h")
    shape = 0.4 + 0.6 * np.exp(-(((hours.hour.to_numpy() - 18) / 3) ** 2))
    size = chance.gamma(4.0, 0.25, size=(households, 1))
    event = np.arange(households) % 2 == 0
    peak = (hours.hour.to_numpy() >= 17) & (hours.hour.to_numpy() < 20)
    use = size * shape * chance.gamma(6.0, 1 / 6, size=(households, len(hours)))
    use[np.ix_(event, peak)] *= 0.8
    meter = np.repeat(np.arange(households), len(hours))
    group = np.where(event, "event", "control").repeat(len(hours))
    return pd.DataFrame({"meter": meter, "at": np.tile(hours, households), "group": group, "kwh": use.ravel()})


def trips(start: str, days: int, riders: int = 20_000, zones: int = 40) -> pd.DataFrame:
    """Return trips of riders: most go one way there and back, some elsewhere."""
    chance, started = _rows(6 * riders, start, days)
    home, work = chance.choice(zones, size=(2, riders), p=shares(zones, 1.3))
    rider = chance.integers(riders, size=len(started))
    back, usual = chance.random(len(started)) < 0.5, chance.random(len(started)) < 0.8
    there = np.where(usual, work[rider], chance.integers(zones, size=len(started)))
    return pd.DataFrame(
        {
            "rider": rider,
            "started_at": started,
            "origin": [f"zone {number}" for number in np.where(back, there, home[rider])],
            "destination": [f"zone {number}" for number in np.where(back, home[rider], there)],
        }
    )

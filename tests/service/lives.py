"""A curator whose dataset has a lifetime series: two years of monthly readings, long past."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pandas

from chronodp.service.curator import Curator
from chronodp.service.policy_file import read_policy
from tests.service.town import House

MONTHS = 24
LIFETIMES = """
[datasets.meters.lifetimes.load]
measure = "sum"
column = "kwh"
clip = [0.0, 3.0]
groups = { region = ["north", "south"] }
every = "1mo"
epsilon = 1.0
delta = 1e-6
max_periods = 12
tally = "load.tally"
analysts = ["ana"]
"""
POLICY = """
[service]
title = "Test"
floor = {floor}
quantum = {floor}
rate = 1000000
waiting = 1000000
lease = {lease}

[datasets.meters]
source = "months.csv"
time = "read_at"
user = "meter"
every = "1mo"
start = "2020-01-01"
end = "2022-01-01"
unit = "user"
max_periods = 24
epsilon = 4.0
delta = 1e-5
share = {share}
{more}

[datasets.meters.columns.kwh]
clip = [0.0, 5.0]

[datasets.meters.groups]
region = ["north", "south"]

[datasets.meters.analysts.ana]
epsilon = 1.0

[datasets.meters.analysts.ben]
epsilon = 1.0
{lifetimes}
"""


def write_months(folder: Path, *, people: int = 50, months: int = MONTHS, size: float = 1.0) -> None:
    """Write monthly readings of people, all of one size."""
    (folder / "months.csv").write_text(_csv(people, months, size), encoding="utf-8")


@functools.cache
def _csv(people: int, months: int, size: float) -> str:
    times = pandas.date_range("2020-01-01", periods=months, freq="MS") + pandas.Timedelta(days=3)
    everyone = np.arange(people)
    frame = pandas.DataFrame(
        {
            "read_at": np.tile(times, people),
            "meter": np.repeat([f"m{number}" for number in everyone], months),
            "region": np.repeat(np.where(everyone % 2 == 0, "north", "south"), months),
            "kwh": size,
        }
    )
    return str(frame.to_csv(index=False))


def write_life_policy(
    folder: Path,
    *,
    lifetimes: str = LIFETIMES,
    more: str = "",
    share: bool = True,
    floor: float = 0.05,
    lease: float = 2.0,
) -> Path:
    """Write a policy with lifetime series, and rows unless they are there."""
    if not (folder / "months.csv").exists():
        write_months(folder)
    path = folder / "policy.toml"
    text = POLICY.format(lifetimes=lifetimes, more=more, share=str(share).lower(), floor=floor, lease=lease)
    path.write_text(text, encoding="utf-8")
    return path


def month(number: int) -> dict[str, str]:
    """The start and the end of a month of the dataset, from 0."""
    ends = pandas.date_range("2020-01-01", periods=MONTHS + 1, freq="MS").strftime("%Y-%m-%d")
    return {"start": str(ends[number]), "end": str(ends[number + 1])}


def ask(house: House, who: str, number: int, *, request: str | None = None, **more: Any) -> Any:
    """Ask for the issue of a month."""
    content = {"request": request or f"month {number}", **month(number), **more}
    return house.post(who, "/datasets/meters/lifetimes/load/issues", content)


def issued(house: House, who: str, number: int, **more: Any) -> dict[str, Any]:
    """Ask for the issue of a month and wait for it."""
    answer = ask(house, who, number, **more)
    assert answer.status_code == 202, answer.text
    return house.finish(who, answer.json()["id"])


def started(policy: Path) -> Curator:
    """A curator as the service starts it."""
    curator = Curator(read_policy(policy), str(policy.with_name("budget.db")))
    curator.open_budgets()
    return curator


def charges(curator: Curator) -> list[str]:
    """What was charged, newest first."""
    return [entry.purpose for entry in curator.ledger.history("meters")]

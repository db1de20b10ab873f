"""How often each band that a reader is shown holds the number as if there were no limits: the worst of every setting.

By the front door alone: questions, plans, releases, tables as they are written. The tables are public ones of the
packages `lifetimes` (CDNOW: what customers of a shop bought, 18 months) and `pydataset` (rwm5yr: visits to doctors, 5
years; baseball: home runs, 20 years), and made ones.
"""

from __future__ import annotations

import itertools
import re
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import chronodp as cdp
from benchmarks.harness import ABSENT, Topic, show
from chronodp.randomness import seeded

RUNS = 6
LEVEL = 0.95
BANDS = ("noise", "_all", "_if_even", "mean with the figure")
Numbers = Any


@dataclass(frozen=True, eq=False)
class Rows:
    """A table of rows, with the bounds that somebody might declare who has not looked.

    Attributes:
        name: what it is called.
        every: how long a period is.
        start: when the first period begins.
        end: when the last one ends.
        few: a number of periods that limits many people.
        clip: the most of one person in a period that counts.
        frame: rows with ``at``, ``who``, ``number`` and ``group``.
    """

    name: str
    every: str
    start: str
    end: str
    few: int
    clip: float
    frame: pd.DataFrame = field(repr=False)

    @property
    def starts(self) -> pd.DatetimeIndex:
        """When each period begins."""
        length = {"1mo": "MS", "1Y": "YS", "1W": "W-MON"}.get(self.every, "D")
        return pd.date_range(self.start, self.end, freq=length, inclusive="left")

    @property
    def groups(self) -> list[str]:
        """The keys by which it is split."""
        return sorted(self.frame["group"].unique())


def _resource(package: str, path: str) -> Path | None:
    try:
        return Path(str(distribution(package).locate_file(path)))
    except PackageNotFoundError:
        return None


def _packed(name: str) -> pd.DataFrame | None:
    """Return a table of `pydataset`, which has them in an archive."""
    archive = _resource("pydataset", "pydataset/resources.tar.gz")
    if archive is None:
        return None
    with tarfile.open(archive) as packed:
        (member,) = [one for one in packed.getnames() if re.search(rf"/csv/.*/{name}\.csv$", one) and "/._" not in one]
        opened = packed.extractfile(member)
        return None if opened is None else pd.read_csv(opened)


def _frame(who: Any, at: Any, number: Any, group: Any) -> pd.DataFrame:
    columns = {"who": pd.Series(who).astype(str), "at": at, "number": pd.Series(number).astype(float)}
    return pd.DataFrame(columns | {"group": pd.Series(group).astype(str)})


@cache
def tables() -> tuple[tuple[Rows, ...], tuple[str, ...]]:
    """Return the tables that can be had, and the names of those that cannot."""
    found, absent = list(_made()), []
    path = _resource("lifetimes", "lifetimes/datasets/CDNOW_master.txt")
    if path is None:
        absent.append("CDNOW (lifetimes)")
    else:
        bought = pd.read_csv(path, sep=r"\s+", dtype={"date": str}).dropna()
        when = pd.to_datetime(bought["date"], format="%Y%m%d")
        size = np.where(bought["number_of_cds"] > 1, "several", "one")
        frame = _frame(bought["customer_id"], when, bought["dollar_value"], size)
        found.insert(0, Rows("CDNOW months", "1mo", "1997-01-01", "1998-07-01", 3, 100.0, frame))
    visits, runs = _packed("rwm5yr"), _packed("baseball")
    if visits is None or runs is None:
        absent.append("rwm5yr and baseball (pydataset)")
    else:
        years = pd.to_datetime(visits["year"].astype(str) + "-06-01")
        sex = np.where(visits["female"] == 1, "women", "men")
        found.append(
            Rows(
                "rwm5yr", "1Y", "1984-01-01", "1989-01-01", 2, 20.0, _frame(visits["id"], years, visits["docvis"], sex)
            )
        )
        runs = runs[(runs["year"] >= 1988) & runs["lg"].isin(["AL", "NL"])].reset_index(drop=True)
        years = pd.to_datetime(runs["year"].astype(str) + "-06-01")
        frame = _frame(runs["id"], years, runs["hr"].fillna(0), runs["lg"])
        found.append(Rows("baseball", "1Y", "1988-01-01", "2008-01-01", 5, 20.0, frame))
    return tuple(found), tuple(absent)


def _made() -> Iterator[Rows]:
    """Yield tables in which a limit bites unevenly: many come once at the beginning, some stay to the end."""
    for name, every, start, end in (
        ("made weeks", "1W", "2026-01-05", "2026-06-29"),
        ("made days", "1D", "2026-01-01", "2026-02-20"),
    ):
        chance = np.random.default_rng(len(name))
        table = Rows(name, every, start, end, 6, 3.0, pd.DataFrame())
        starts, people = table.starts, 3000
        last = np.where(chance.random(people) < 0.6, 2, len(starts))
        who, when = np.nonzero(np.arange(len(starts)) < last[:, None])
        group = np.array(["north", "south", "east"])[chance.choice(3, len(who), p=[0.7, 0.2, 0.1])]
        frame = _frame(who, starts[when], chance.lognormal(0, 0.7, len(who)), group)
        yield Rows(name, every, start, end, 6, 3.0, frame)


# What is asked, and what is true of it without any limit.

_Truth = Callable[[pd.DataFrame, list[str]], "pd.Series[Any]"]
_EDGES = (0.0, 5.0, 20.0, 1e6)
_FRACTIONS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def _mean_of(how: str) -> _Truth:
    def mean(rows: pd.DataFrame, by: list[str]) -> pd.Series[Any]:
        people = rows.groupby([*by, "who"])["number"]
        return rows.groupby(by)["number"].mean() if how == "rows" else getattr(people, how)().groupby(by).mean()

    return mean


def _histogram(rows: pd.DataFrame, by: list[str]) -> pd.Series[Any]:
    totals = rows.groupby([*by, "who"])["number"].sum().reset_index()
    bins = pd.cut(totals["number"], _EDGES, right=False, labels=False)
    return totals.groupby([*by, bins.rename("bin")])["number"].size()


MEASURES: dict[str, tuple[Callable[[Any, Any], Any], _Truth]] = {
    "count of people": (lambda series, _: series.count(), lambda rows, by: rows.groupby(by)["who"].nunique()),
    "count of rows": (
        lambda series, size: series.count(at_most=size(2)),
        lambda rows, by: rows.groupby(by)["who"].size(),
    ),
    "sum": (
        lambda series, size: series.sum("number", clip=(0, size(0))),
        lambda rows, by: rows.groupby(by)["number"].sum(),
    ),
    "mean of rows": (
        lambda series, size: series.mean("number", clip=(0, size(0)), of="rows", at_most=1),
        _mean_of("rows"),
    ),
    "mean of people": (lambda series, size: series.mean("number", clip=(0, size(0)), of="people"), _mean_of("mean")),
    "mean of totals": (lambda series, size: series.mean("number", clip=(0, size(0)), of="totals"), _mean_of("sum")),
    "variance": (
        lambda series, _: series.variance("number", clip=(0, 200)),
        lambda rows, by: rows.groupby(by)["number"].var(ddof=0),
    ),
    "histogram": (lambda series, _: series.histogram("number", edges=_EDGES), _histogram),
    "quantiles": (
        lambda series, _: series.quantiles("number", _FRACTIONS, edges=np.linspace(0, 200, 201)),
        lambda rows, by: rows.groupby(by)["number"].quantile(np.array(_FRACTIONS)),
    ),
}
_FIGURED = ("count of people", "count of rows", "sum")
_FIXED = ("variance", "histogram", "quantiles")  # whose sizes are never found


@dataclass(frozen=True)
class Setting:
    """One question: a table, a measure, a unit, whether it is split, and which limits."""

    table: Rows
    measure: str
    unit: Any
    split: bool
    limits: str  # "few" periods, "all" periods, or "found"

    @property
    def name(self) -> str:
        """The setting in words."""
        groups = "by group" if self.split else "in all"
        return f"{self.table.name}, {self.measure}, {self.unit}, {groups}, {self.limits}"

    def query(self) -> Any:
        """Return the question."""
        table, find = self.table, cdp.Find(0.05)
        limit: Any = {"few": table.few, "all": len(table.starts), "found": find}[self.limits]
        if not self.unit.whole_person or (self.limits == "found" and self.measure in _FIXED):
            limit = None if not self.unit.whole_person else len(table.starts)
        user = None if self.unit.of_rows else "who"
        series = cdp.TimeSeries(
            _file(table), time="at", user=user, every=table.every, start=table.start, end=table.end,
            unit=self.unit, max_periods=limit,
        )  # fmt: skip
        query = MEASURES[self.measure][0](series, lambda least: find if self.limits == "found" else least or table.clip)
        return query.by(max_groups=1, group=table.groups) if self.split else query

    def truth(self, shown: pd.DataFrame) -> np.ndarray[Any, Any]:
        """Return the numbers without limits, in the order of a table."""
        rows, starts = self.table.frame, self.table.starts
        rows = rows[(rows["at"] >= starts[0]) & (rows["at"] < self.table.end)]
        if self.unit.of_rows:  # nobody has a second row
            rows = rows.assign(who=np.arange(len(rows)))
        period = np.searchsorted(starts, rows["at"], side="right") - 1
        by = ["period", "group"] if self.split else ["period"]
        found = MEASURES[self.measure][1](rows.assign(period=period), by)
        axes: list[Any] = [range(len(starts)), *([self.table.groups] if self.split else [])]
        if self.measure == "histogram":
            axes.append(range(len(_EDGES) - 1))
        if self.measure == "quantiles":
            axes.append(_FRACTIONS)
        counts = self.measure in (*_FIGURED, "histogram")
        index = list(itertools.product(*axes))
        full = found.reindex(index if len(axes) > 1 else axes[0], fill_value=0.0 if counts else np.nan)
        assert len(full) == len(shown)
        return full.to_numpy(dtype=float)


def settings() -> Iterator[Setting]:
    """Yield every setting: all measures and units of the first table, counts and sums about people of the others."""
    for number, table in enumerate(tables()[0]):
        for measure, unit, split in itertools.product(MEASURES, UNITS, (False, True)):
            if number and (measure not in _FIGURED or not unit.whole_person):
                continue
            one = cdp.UserPeriod(table.every) if isinstance(unit, cdp.UserPeriod) else unit
            for limits in ("few", "all", "found") if one.whole_person else ("all", "found"):
                if limits == "found" and (measure in _FIXED or (measure == "count of people" and not one.whole_person)):
                    continue
                yield Setting(table, measure, one, split, limits)


UNITS: tuple[Any, ...] = (cdp.User(), cdp.UserPeriod("1D"), cdp.Window(2), cdp.Event())


@cache
def _file(table: Rows) -> str:
    """Return a file of a table: it is read many times."""
    folder = Path(tempfile.mkdtemp(prefix="bands-"))
    table.frame.to_parquet(folder / "rows.parquet", index=False)
    return str(folder / "rows.parquet")


def held(setting: Setting, runs: int) -> dict[str, float]:
    """Return what part of the cells each band holds that a reader is shown."""
    # With the assumption, so that all bands are shown; where limits can remove nothing it is none.
    missing = cdp.Missing(assume="even loss") if setting.measure in _FIGURED else None
    plan = setting.query().plan(epsilon=2.0, delta=1e-6, missing=missing)
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder, cdp.Ledger(Path(folder) / "budget.db") as ledger:
        ledger.open("rows", unit=setting.unit.on(None), epsilon=1e4, delta=0.5)
        for run in range(runs):
            made = plan.release(ledger, dataset="rows", request=str(run), entropy=seeded(f"{setting.name} {run}"))
            shown = made.to_pandas()
            truth = setting.truth(shown)
            for band, suffix in zip(BANDS, ("", "_all", "_if_even"), strict=False):
                if f"lower{suffix}" in shown:
                    found.setdefault(band, []).append(_share(shown, truth, suffix))
            if missing is not None and made.missing is not None and not made.missing.people_beyond:
                mean = made.rolling(len(setting.table.starts)).estimates
                spread = np.sqrt(
                    (((mean.upper - mean.lower) / 2) ** 2).sum() + (made.missing.upper - made.missing.value) ** 2
                )
                off = truth.sum() / len(setting.table.starts) - float(mean.value.sum()) - made.missing.value
                found.setdefault(BANDS[3], []).append(float(abs(off) <= spread + 1e-9))
    return {band: float(np.nanmean(shares)) for band, shares in found.items() if not np.all(np.isnan(shares))}


def _share(shown: pd.DataFrame, truth: np.ndarray[Any, Any], suffix: str) -> float:
    lower, upper = (shown[f"{name}{suffix}"].to_numpy(dtype=float) for name in ("lower", "upper"))
    there = ~np.isnan(lower) & ~np.isnan(truth)
    slack = 1e-9 * (1 + np.abs(truth))
    inside = (lower - slack <= truth) & (truth <= upper + slack)
    return float(inside[there].mean()) if there.any() else float("nan")


def measure() -> Topic:
    topic = Topic(
        f"Bands that hold the number as if there were no limits, at {LEVEL:.0%}: the worst setting",
        "python -m benchmarks.bands",
        ("table", "measure", "unit", *BANDS),
        everywhere=True,
    )
    worst: dict[str, tuple[float, str]] = {}
    least: dict[tuple[str, ...], dict[str, float]] = {}
    count = 0
    for setting in settings():
        count += 1
        row = least.setdefault((setting.table.name, setting.measure, str(setting.unit)), {})
        for band, share in held(setting, RUNS).items():
            row[band] = min(share, row.get(band, 1.0))
            worst[band] = min((share, setting.name), worst.get(band, (1.0, "")))
    for key, row in least.items():
        topic.rows.append((*key, *(f"{row[band]:.3f}" if band in row else "none" for band in BANDS)))
    topic.notes = [
        f"{count} settings, {RUNS} releases each at ε = 2, δ = 1e-6; of a row the least over few, all and found "
        "periods (or a clip that is found), with and without groups of which one counts",
        "noise: `lower` to `upper`, which promises noise only; _all: shown only where limits can remove nothing; "
        "_if_even: shown only where an even loss was said, and not even in these tables; mean with the figure: over "
        "all periods, what was kept and what is missing, where nobody reaches beyond",
        *(f"worst {band}: {share:.3f}, {name}" for band, (share, name) in worst.items()),
        *(f"{name}: {ABSENT}" for name in tables()[1]),
    ]
    return topic


if __name__ == "__main__":
    show(measure)

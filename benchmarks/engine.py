"""Bounded totals of a table of records: time and memory, beside plain SQL and what others do."""

from __future__ import annotations

import importlib
import sys
import tempfile
import time
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from benchmarks.harness import Topic, alone, peak, show
from benchmarks.records import HOUR, KEY, PERIODS, START, STEP, TOP, make_records

CASES = {"most over the limit": 24, "nobody over": PERIODS}
ROUNDS, ENOUGH = 3, 25.0

Work = Callable[[], float]
"""From the file to the sum of everything kept."""


class Run(NamedTuple):
    """What one process reports."""

    seconds: float
    peak: float
    kept: float


def measure_large() -> Topic:
    return measure(large=True)


def measure(*, large: bool = False, report: Callable[[str], None] = lambda _: None) -> Topic:
    topic = Topic(
        "Bounded totals of a table of records",
        "python -m benchmarks.engine --large" if large else "python -m benchmarks.engine",
        ("events", "case", "by", "seconds", "ratio to plain", "ratio to chronodp", "peak GiB"),
    )
    small_only = ("PipelineDP",)
    sizes = {10**6: list(CONTENDERS), 10**7: [name for name in CONTENDERS if name not in small_only]}
    if large:
        sizes[10**8] = ["chronodp", "plain DuckDB"]
    apart = 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "records.parquet")
        for events, names in sizes.items():
            report(f"Making {events:,} records...")
            alone(make_records, path, events)
            for case, limit in CASES.items():
                runs = _take_turns(path, limit, names, f"{events:,} events, {case}", report)
                best = {name: min(run.seconds for run in found) for name, found in runs.items() if found}
                for name, found in runs.items():
                    row: tuple[object, ...] = ("not installed", "", "", "")
                    if found:
                        ratios = (best[name] / best["plain DuckDB"], best[name] / best["chronodp"])
                        row = (best[name], *ratios, max(run.peak for run in found))
                    topic.rows.append((events, case, name, *row))
                kept = [run.kept for name, found in runs.items() if name in BOUNDING for run in found]
                apart = max(apart, max(kept) / min(kept) - 1)
    topic.notes = [
        f"a person for every 100 events, {PERIODS} hours, a person's total in an hour clipped to [0, {TOP:g}], at most "
        f"{CASES['most over the limit']} hours a person, or all of them",
        "from a Parquet file to the sums, each run in a process of its own, imports left out; the best of up to "
        f"{ROUNDS}, turn by turn; peak: the most that a run held, its libraries included",
        "from CSV: the same records as text; DuckDB's reader looks at rows to find out types, which chronodp may not",
        "plain DuckDB: GROUP BY person and hour, then a sum by hour; it bounds nothing and is not private",
        "pandas, the same totals: the same keyed choice, written as one writes pandas; tuned by hand: persons as a "
        "category, a seeded shuffle, nothing sorted; polars: hours by a seeded hash, streaming; what they and chronodp "
        f"keep agrees within {apart:.1%}",
        "OpenDP-Polars: a person's first hours, since its choice at random fails on the polars that it pins; the "
        "search for a scale of noise takes seconds whatever the data: the second row has that done before",
        "PipelineDP: LocalBackend on a list of rows, public partitions; it and OpenDP add noise, the others do not",
    ]
    return topic


def _take_turns(
    path: str, limit: int, names: list[str], what: str, report: Callable[[str], None]
) -> dict[str, list[Run]]:
    """Return the runs of each: as many as rounds, fewer of what is slow, none of what is not installed."""
    runs: dict[str, list[Run]] = {name: [] for name in names}
    for number in range(ROUNDS):
        for name, found in runs.items():
            if number and not 0 < sum(run.seconds for run in found) < ENOUGH:
                continue
            report(f"{what}: {name}, round {number + 1}...")
            run = alone(_run, name, path, limit)
            if run is not None:
                found.append(run)
    return runs


def _run(name: str, path: str, limit: int) -> Run | None:
    try:
        work = CONTENDERS[name](path, limit)
    except ImportError:
        return None
    start = time.perf_counter()
    kept = work()
    return Run(time.perf_counter() - start, peak(), kept)


def _chronodp(path: str, limit: int) -> Work:
    for name in ("duckdb", "pandas", "pyarrow", "sqlglot.dialects.duckdb"):  # what it imports when it first needs it
        importlib.import_module(name)
    from chronodp.engines import DuckDB, Question, find_source
    from chronodp.privacy import Calendar, Grid

    calendar = Calendar("1h", "2026-01-01", "2026-01-31")
    clip = (0, round(TOP / STEP))
    question = Question(calendar, "moment", "person", "amount", Grid(STEP), clip, max_periods=limit)
    return lambda: float(DuckDB().totals(find_source(path), question, key=KEY).sums.sum()) * STEP


def _plain(path: str, _: int) -> Work:
    import duckdb

    query = f"""SELECT hour, sum(total) AS total FROM (
        SELECT person, (epoch_us(moment) - {START}) // {HOUR} AS hour, sum(amount) AS total
        FROM '{path}' GROUP BY ALL
    ) GROUP BY ALL"""
    return lambda: sum(total for _, total in duckdb.connect().execute(query).fetchall())


def _as_csv(path: str) -> str:
    """Return the same records as a CSV file, written once."""
    import duckdb

    text = Path(path).with_suffix(".csv")
    if not text.exists() or text.stat().st_mtime < Path(path).stat().st_mtime:
        duckdb.connect().execute(f"COPY (FROM read_parquet('{path}')) TO '{text}' (HEADER)")
    return str(text)


def _chronodp_csv(path: str, limit: int) -> Work:
    return _chronodp(_as_csv(path), limit)


def _plain_csv(path: str, _: int) -> Work:
    return _plain(_as_csv(path), _)


def _pandas(path: str, limit: int) -> Work:
    import pandas as pd
    import pyarrow  # noqa: F401

    def work() -> float:
        rows = pd.read_parquet(path)
        rows["person"] = rows["person"].astype("category")
        rows["hour"] = (rows["moment"] - pd.Timestamp("2026-01-01")) // pd.Timedelta("1h")
        cells = rows.groupby(["person", "hour"], sort=False, observed=True)["amount"].sum().clip(0.0, TOP).reset_index()
        if limit < PERIODS:
            cells = cells.sample(frac=1.0, random_state=1).groupby("person", sort=False, observed=True).head(limit)
        return float(cells.groupby("hour")["amount"].sum().to_numpy(dtype=float).sum())

    return work


def _same_in_pandas(path: str, limit: int) -> Work:
    """The very same totals, keyed choice included, as one would write it."""
    import pandas as pd
    import pyarrow  # noqa: F401

    from chronodp.engines.choice import PRIME, seeds_of

    def work() -> float:
        rows = pd.read_parquet(path).dropna()
        rows["hour"] = (rows["moment"] - pd.Timestamp("2026-01-01")) // pd.Timedelta("1h")
        rows["steps"] = np.floor(rows["amount"] / STEP + 0.5).astype("int64")
        cells = rows.groupby(["person", "hour"])["steps"].sum().clip(0, round(TOP / STEP)).reset_index()
        people = pd.DataFrame({"person": cells["person"].unique()})
        people[["a", "c", "e"]] = [seeds_of(KEY, person) for person in people["person"]]
        cells = cells.merge(people, on="person")
        moved = (cells["hour"] + cells["c"]) % PRIME
        fourth = (moved * moved % PRIME) ** 2 % PRIME
        cells["order"] = (cells["a"] * (fourth * moved % PRIME) + cells["e"]) % PRIME
        kept = cells.sort_values(["person", "order"]).groupby("person").head(limit)
        return float(kept.groupby("hour")["steps"].sum().sum()) * STEP

    return work


def _polars(path: str, limit: int) -> Work:
    import polars as pl

    def work() -> float:
        hour = ((pl.col("moment").dt.epoch("us") - START) // HOUR).alias("hour")
        cells = pl.scan_parquet(path).group_by("person", hour).agg(pl.col("amount").sum().clip(0.0, TOP))
        if limit < PERIODS:
            order = pl.struct("person", "hour").hash(1).alias("order")
            cells = cells.with_columns(order).sort("order").group_by("person").head(limit)
        sums = cells.group_by("hour").agg(pl.col("amount").sum()).collect(engine="streaming")
        return float(sums["amount"].sum())

    return work


def _opendp(path: str, limit: int) -> Work:
    release = _opendp_release(path, limit)

    def work() -> float:
        return release()()

    return work


def _opendp_priced(path: str, limit: int) -> Work:
    return _opendp_release(path, limit)()


def _opendp_release(path: str, limit: int) -> Callable[[], Work]:
    """Return what searches for the scale of noise; what that returns reads the data."""
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")

    def release() -> Work:
        hour = ((pl.col("moment").dt.epoch("us") - START) // HOUR).alias("hour")
        context = dp.Context.compositor(
            data=pl.scan_parquet(path).with_columns(hour).select("person", "hour", "amount"),
            privacy_unit=dp.unit_of(contributions=1, identifier="person"),
            privacy_loss=dp.loss_of(epsilon=1.0),
            split_evenly_over=1,
            margins=[dp.polars.Margin(by=["hour"], max_length=10**6, max_groups=PERIODS)],
        )
        query = context.query()
        if limit < PERIODS:
            query = query.truncate_num_groups(limit, by=["hour"], keep="first")
        cells = query.group_by("person", "hour").agg(pl.col("amount").sum())
        amount: Any = pl.col("amount").fill_null(0.0).fill_nan(0.0)
        sums = cells.group_by("hour").agg(amount.dp.sum((0.0, TOP)))
        answer = sums.with_keys(pl.LazyFrame({"hour": range(PERIODS)})).release()
        return lambda: float(answer.collect()["amount"].sum())

    return release


def _pipelinedp(path: str, limit: int) -> Work:
    import pyarrow.parquet

    dp = importlib.import_module("pipeline_dp")

    def work() -> float:
        table = pyarrow.parquet.read_table(path)
        hours = (table["moment"].to_numpy().astype("int64") - START) // HOUR
        rows = list(zip(table["person"].to_pylist(), hours.tolist(), table["amount"].to_pylist(), strict=True))
        accountant = dp.NaiveBudgetAccountant(total_epsilon=1.0, total_delta=1e-6)
        parameters = dp.AggregateParams(
            metrics=[dp.Metrics.SUM],
            max_partitions_contributed=limit,
            max_contributions_per_partition=1,
            min_sum_per_partition=0.0,
            max_sum_per_partition=TOP,
        )
        columns = dp.DataExtractors(*map(itemgetter, range(3)))
        answer = dp.DPEngine(accountant, dp.LocalBackend()).aggregate(rows, parameters, columns, list(range(PERIODS)))
        accountant.compute_budgets()
        return float(sum(sums.sum for _, sums in answer))

    return work


CONTENDERS: dict[str, Callable[[str, int], Work]] = {
    "chronodp": _chronodp,
    "plain DuckDB": _plain,
    "chronodp, from CSV": _chronodp_csv,
    "plain DuckDB, from CSV": _plain_csv,
    "pandas, the same totals": _same_in_pandas,
    "pandas, tuned by hand": _pandas,
    "polars": _polars,
    "OpenDP-Polars": _opendp,
    "OpenDP-Polars, noise found before": _opendp_priced,
    "PipelineDP": _pipelinedp,
}
BOUNDING = ("chronodp", "chronodp, from CSV", "pandas, the same totals", "pandas, tuned by hand", "polars")


def main() -> None:
    with Console(stderr=True).status("Preparing...") as status:
        topic = measure(large="--large" in sys.argv[1:], report=status.update)
    show(lambda: topic)


if __name__ == "__main__":
    main()

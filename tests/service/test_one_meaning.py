"""A mean is of the same people, rows or totals at every door, and its table says which."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import chronodp as cdp
from chronodp.errors import MissingBound
from chronodp.service.curator import Curator
from chronodp.service.policy_file import read_policy
from chronodp.service.question import QueryRequest
from tests.cli.conftest import run
from tests.service.town import write_policy

MEANS: list[tuple[dict[str, Any], str]] = [
    ({"of": "people"}, "person"),
    ({"of": "rows", "at_most": 24}, "row"),
    ({"of": "totals"}, "person and day"),
]
DATES: dict[str, Any] = {"every": "1D", "start": "2026-01-01", "end": "2026-01-03"}


def readings() -> pandas.DataFrame:
    """Two days of 60 meters, of which some are read every hour and others once: rows, people and totals differ."""
    chance = np.random.default_rng(3)
    rows = [
        {"read_at": day + pandas.Timedelta(hours=hour), "meter": f"m{meter}", "region": "north", "kwh": value}
        for meter in range(60)
        for day in pandas.date_range("2026-01-01", periods=2)
        for hour in range(1 if meter % 3 else 24)
        for value in [round(float(chance.uniform(0.05, 0.2)) * (3 if meter % 3 else 1), 3)]
    ]
    return pandas.DataFrame(rows)


def truth(of: str) -> list[float]:
    cells = readings().assign(day=lambda rows: rows["read_at"].dt.floor("D")).groupby(["day", "meter"])["kwh"]
    found = {"people": cells.mean(), "rows": cells.apply(lambda part: part), "totals": cells.sum()}[of]
    return [float(value) for value in found.groupby(level="day").mean()]


@pytest.fixture
def curator(tmp_path: Path) -> Iterator[Curator]:
    readings().to_parquet(tmp_path / "rows.parquet")
    opened = Curator(read_policy(write_policy(tmp_path)), str(tmp_path / "budget.db"))
    yield opened
    opened.close()


@pytest.mark.parametrize(("said", "per"), MEANS, ids=lambda given: given if isinstance(given, str) else "")
def test_the_same_words_are_the_same_numbers_at_every_door(
    said: dict[str, Any], per: str, curator: Curator, tmp_path: Path
) -> None:
    series = cdp.TimeSeries(
        str(tmp_path / "rows.parquet"), time="read_at", user="meter", unit=cdp.User(), max_periods=2, **DATES
    )
    here: Any = series.mean("kwh", clip=(0.0, 5.0), **said).plan(epsilon=1e6)
    exact = here.read(key="key", progress=lambda _: None)

    measure = {"kind": "mean", "column": "kwh", "clip": [0.0, 5.0], **said}
    asked = QueryRequest.model_validate({"measure": measure, "every": "1D", "epsilon": 0.5, "max_periods": 2})
    there: Any = curator.plan(curator.policy.datasets["meters"], asked)
    assert there.design.table.measure == here.design.table.measure
    small: Any = series.mean("kwh", clip=(0.0, 5.0), **said).plan(epsilon=0.5)
    same = zip(
        there.read(key="key", progress=lambda _: None), small.read(key="key", progress=lambda _: None), strict=True
    )
    assert all(np.array_equal(one, other) for one, other in same)

    words = [part for name, value in said.items() for part in (f"--{name.replace('_', '-')}", str(value))]
    flags = ["--time", "read_at", "--user", "meter", "--max-periods", "2", "--clip", "0", "5", "--mean", "kwh"]
    dates = [part for name, value in DATES.items() for part in (f"--{name}", value)]
    run("budget", "open", "d", "--epsilon", "1e7", "--ledger", str(tmp_path / "cli.db"))
    paid = ["--epsilon", "1e6", "--dataset", "d", "--request", "one", "--ledger", str(tmp_path / "cli.db"), "--json"]
    told = json.loads(run("release", str(tmp_path / "rows.parquet"), *flags, *dates, *words, *paid))
    assert json.loads(told["release"])["design"]["table"]["measure"] == json.loads(
        json.dumps(cdp.privacy.to_document(here.design.table.measure))
    )
    assert [row["value"] for row in told["series"]] == pytest.approx(truth(said["of"]), abs=1e-3)
    assert {row["per"] for row in told["series"]} == {per}
    assert len(exact) >= 1


def test_means_of_people_rows_and_totals_are_three_numbers() -> None:
    three = [truth(of)[0] for of in ("people", "rows", "totals")]
    assert min(abs(one - other) for one, other in itertools.pairwise(three)) > 0.1


def test_a_mean_that_does_not_say_whose_is_refused_everywhere() -> None:
    series = cdp.TimeSeries(readings(), time="read_at", user="meter", unit=cdp.User(), max_periods=2, **DATES)
    with pytest.raises(MissingBound, match="'people', each with the mean of their rows"):
        series.mean("kwh", clip=(0.0, 5.0))
    with pytest.raises(ValueError, match="of"):
        QueryRequest.model_validate({"measure": {"kind": "mean", "column": "kwh", "clip": [0, 5]}, "epsilon": 1.0})


def test_the_unit_names_who_a_number_is_of_in_tables_and_on_pages(tmp_path: Path) -> None:
    called = cdp.User(called="customer")
    months: dict[str, Any] = {"every": "1mo", "start": "2026-01-01", "end": "2026-02-01"}
    series = cdp.TimeSeries(readings(), time="read_at", user="meter", unit=called, max_periods=1, **months)
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("d", unit=called, epsilon=1e8, delta=1e-3)
        for name, query, per in (
            ("totals", series.mean("kwh", clip=(0.0, 9.0), of="totals"), "customer and month"),
            ("people", series.mean("kwh", clip=(0.0, 9.0), of="people"), "customer"),
            ("rows", series.mean("kwh", clip=(0.0, 9.0), of="rows", at_most=3), "row"),
            ("median", series.quantiles("kwh", [0.5], edges=[0, 1, 9]), "customer"),
        ):
            made: Any = query.plan(epsilon=1e6).release(ledger, dataset="d", request=name, progress=lambda _: None)
            assert set(made.to_pandas()["per"]) == {per}
            page = made.report(tmp_path / f"{name}.html").read_text(encoding="utf-8")
            assert f"<td>{per}</td>" in page
        counted = series.count().plan(epsilon=1e6).release(ledger, dataset="d", request="n", progress=lambda _: None)
        assert "per" not in counted.to_pandas()

"""A series published for ever, the whole way: files, DuckDB, a ledger, three years of months."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.conftest import Trials
from tests.lifetime.lives import QUIET, Plain, month, series
from tests.series.releases import Silent
from typer.testing import CliRunner

import chronodp as cdp
from chronodp.cli.shell import app
from chronodp.errors import InvalidArgument, MissingBound
from chronodp.ledger import Ledger
from chronodp.lifetime.shares import quanta_of
from chronodp.randomness import seeded
from chronodp.service.remote import Curated

REGIONS = ["north", "south"]


def write_months(folder: Path, months: int, people: int = 40) -> list[tuple[Path, pd.DataFrame]]:
    """A file a month; people come and go, and use more or less."""
    dice, made = np.random.default_rng(3), []
    comes, stays = dice.integers(-6, months, people), dice.integers(1, 40, people)
    for number in range(months):
        here = np.flatnonzero((comes <= number) & (number < comes + stays))
        days = dice.integers(0, 28, len(here))
        frame = pd.DataFrame(
            {
                "meter": [f"meter {one}" for one in here],
                "at": pd.Timestamp(month(number)[0], tz="UTC") + pd.to_timedelta(days, "D"),
                "kwh": np.round(dice.gamma(1.5, 0.5, len(here)) * 64) / 64,
                "region": [REGIONS[one % 2] for one in here],
            }
        )
        path = folder / f"{month(number)[0][:7]}.parquet"
        frame.to_parquet(path)
        made.append((path, frame))
    return made


@pytest.mark.slow
def test_three_years_of_months(tmp_path: Path, trials: Trials) -> None:
    files = write_months(tmp_path, trials(36, least=22))  # beyond the second time that it is taken up again
    meters = series(str(files[0][0]), user="meter")
    asked = meters.sum("kwh", clip=(0.0, 2.0)).by(region=REGIONS)
    plan = asked.lifetime(epsilon=1.0, delta=1e-6, max_periods=9)
    design = plan.design
    plain = Plain(design.life, design.base.noises[0].step, quanta_of(design.base.law))
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=1.0, delta=1e-6)
        load = plan.open(ledger, dataset="meters", name="load", tally=tmp_path / "load.tally")
        total = 0.0
        for number, (path, frame) in enumerate(files):
            start, end = month(number)
            if number in (7, 20):
                load = cdp.Lifetime.resume(ledger, "load", tally=tmp_path / "load.tally")
            if number == 12:
                load.compact()
            made = load.issue(path, start=start, end=end, request=start[:7], entropy=Silent(), **QUIET)
            people = list(zip(frame["meter"], frame["kwh"], strict=True))
            expected = plain.total(people, clip=2.0)
            assert made.to_pandas()["value"].sum() == pytest.approx(expected, abs=1e-9)
            total += expected
        assert 0 < total < sum(frame["kwh"].clip(upper=2.0).sum() for _, frame in files)
        known = load.diagnose()
        assert known.people == sum(used > 0 for used in plain.used.values())
        assert max(plain.used.values()) <= design.life
        load.verify()
        assert len(ledger.history("meters")) == 1
        assert load.status.issues == len(files)


@pytest.mark.slow
def test_an_issue_is_a_release_like_any_other(tmp_path: Path) -> None:
    (path, _), *_ = write_months(tmp_path, 1)
    asked = series(str(path), user="meter").sum("kwh", clip=(0.0, 3.0)).by(region=REGIONS)
    plan = asked.lifetime(epsilon=1.0, delta=1e-6, max_periods=120)
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=1.0, delta=1e-6)
        load = plan.open(ledger, dataset="meters", name="load", tally=tmp_path / "load.tally")
        made = load.issue(path, start="2026-01-01", end="2026-02-01", request="2026-01", entropy=seeded(1), **QUIET)
        saved = made.save(tmp_path / "jan.json")
        public = ledger.public_key
    again = cdp.Release.load(saved)
    assert again.text == made.text
    life = again.design.life
    assert life is not None
    assert (life.name, life.issue, life.max_periods) == ("load", 1, 120)
    ends = again.each_period().to_pandas()
    width = (ends["upper"] - ends["lower"]).iloc[0] / 2
    assert width == pytest.approx(plan.half_width())
    assert again.each_period().over("region").to_pandas().shape == (1, 4)
    assert "whoever has used up their life is not in the number" in again.each_period().note
    page = again.report(tmp_path / "jan.html").read_text(encoding="utf-8")
    for said in ("the same for ever", "people in their first 120 counted months", "told apart by meter"):
        assert said in page
    assert "grows with every release" not in page
    result = CliRunner().invoke(app, ["verify", str(saved), "--public-key", public], catch_exceptions=False)
    assert "The certificate is genuine" in result.output


@pytest.mark.slow
def test_several_periods_of_one_issue_are_limited_by_what_is_left_of_a_life(tmp_path: Path) -> None:
    rows = [(who, f"2026-{m:02d}-{day:02d}T12:00Z") for who in ("a", "b") for m in (1, 2) for day in range(1, 11)]
    frame = pd.DataFrame(rows, columns=["who", "at"]).assign(at=lambda rows: pd.to_datetime(rows["at"], utc=True))
    days = series(frame, every="1D", max_periods=31)
    plan = days.count().lifetime(epsilon=1.0, max_periods=15)
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("visits", unit=cdp.User(), epsilon=1.0)
        load = plan.open(ledger, dataset="visits", name="days", tally=tmp_path / "tally")
        ends = {1: ("2026-01-01", "2026-02-01"), 2: ("2026-02-01", "2026-03-01")}
        made = [
            load.issue(frame, start=start, end=end, request=start, entropy=Silent(), **QUIET)
            for start, end in ends.values()
        ]
        assert [one.to_pandas()["value"].sum() for one in made] == [20, 10]  # ten days each, then five
        assert made[0].design.table.max_periods == 15
        assert [len(one.to_pandas()) for one in made] == [31, 28]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["mean", "variance", "histogram", "rows"])
def test_other_measures_are_issued_too(tmp_path: Path, kind: str) -> None:
    (path, frame), *_ = write_months(tmp_path, 1)
    meters = series(str(path), user="meter")
    asked: dict[str, Any] = {
        "mean": lambda: meters.mean("kwh", clip=(0.0, 4.0), of="totals"),
        "variance": lambda: meters.variance("kwh", clip=(0.0, 4.0)),
        "histogram": lambda: meters.histogram("kwh", edges=[0.0, 1.0, 8.0]),
        "rows": lambda: meters.mean("kwh", clip=(0.0, 4.0), of="rows", at_most=2),
    }
    plan = asked[kind]().lifetime(epsilon=1.0, delta=1e-6, max_periods=1)
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=1.0, delta=1e-6)
        load = plan.open(ledger, dataset="meters", name="load", tally=tmp_path / "tally")
        ends: dict[str, Any] = {"start": "2026-01-01", "end": "2026-02-01", "entropy": Silent()} | QUIET
        values = load.issue(path, request="1", **ends).to_pandas()["value"]
        expected = {"mean": frame["kwh"].mean(), "variance": frame["kwh"].var(ddof=0), "rows": frame["kwh"].mean()}
        if kind == "histogram":
            assert values.tolist() == [(frame["kwh"] < 1).sum(), (frame["kwh"] >= 1).sum()]
        else:
            assert values.iloc[0] == pytest.approx(expected[kind], abs=1e-3)
        nobody = load.issue(path, request="2", **ends)
        assert nobody.to_pandas()["value"].iloc[0] != pytest.approx(values.iloc[0])
        assert load.diagnose().used_up == len(frame)


def test_records_without_people_or_with_something_to_find_have_no_lives() -> None:
    rows = series(user=None, unit=cdp.Event())
    with pytest.raises(MissingBound, match="user is missing"):
        rows.count().lifetime(epsilon=1.0, max_periods=12)
    with pytest.raises(InvalidArgument, match="known before a life is sold"):
        series(max_periods=cdp.Find()).count().lifetime(epsilon=1.0, max_periods=12)


def test_a_curators_series_is_opened_by_its_owner() -> None:
    held = Curated(client=None, dataset="meters", user="who")  # type: ignore[arg-type]  # nothing is asked of it
    asked = replace(series().count(), records=held)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="opened by the owner"):
        asked.lifetime(epsilon=1.0, max_periods=12)


def test_the_front_door_reads_nothing_before_it_is_paid(tmp_path: Path) -> None:
    plan = series(tmp_path / "not there yet.parquet").count().lifetime(epsilon=1.0, delta=1e-6, max_periods=120)
    assert plan.half_width() == pytest.approx(90.7, abs=0.05)
    assert len(plan.alternatives) == 7

"""A job for schedulers: one request a period, the same numbers whenever it is called, none before a period is over."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, strategies as st
from typer.testing import CliRunner

from chronodp import Ledger, User
from chronodp.cli.job_periods import read_period
from chronodp.cli.shell import app
from chronodp.errors import ChronodpError, InvalidArgument
from tests.cli.conftest import charges, run

TODAY = date(2026, 11, 17)
JOB = """
data = "visits-{period}.csv"
time = "at"
user = "who"
every = "1D"
max_periods = 5
count = true
epsilon = 0.5

[job]
dataset = "ward"
request = "visits-{period}"
out = ["told-{period}.csv"]
page = "told-{period}.html"
"""


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with Ledger("budget.db") as ledger:
        ledger.open("ward", unit=User(), epsilon=1.0)
    for month in ("2026-01", "2026-02", "2026-03"):
        Path(f"visits-{month}.csv").write_text(f"at,who\n{month}-03,a\n{month}-05,b\n", encoding="utf-8")
    Path("job.toml").write_text(JOB, encoding="utf-8")
    return tmp_path


def refused(*words: str) -> str:
    with pytest.raises(ChronodpError) as caught:
        CliRunner().invoke(app, ["run", *words], catch_exceptions=False)
    return str(caught.value)


@pytest.mark.slow
def test_each_period_is_paid_once(desk: Path) -> None:
    run("run", "job.toml", "--for", "2026-01")
    told = Path("told-2026-01.csv").read_text(encoding="utf-8")
    assert len(pd.read_csv("told-2026-01.csv")) == 31
    Path("told-2026-01.csv").unlink()
    again = json.loads(run("run", "job.toml", "--for", "2026-01", "--json"))
    assert again["request"] == "visits-2026-01"
    assert Path("told-2026-01.csv").read_text(encoding="utf-8") == told
    assert charges("ward") == 1
    run("run", "job.toml", "--for", "2026-02")
    assert len(pd.read_csv("told-2026-02.csv")) == 28
    assert charges("ward") == 2
    assert "budget" in refused("job.toml", "--for", "2026-03")
    assert not Path("told-2026-03.csv").exists()
    assert (desk / "told-2026-02.html").exists()


def test_a_period_that_is_not_over_is_refused() -> None:
    for ahead in ("2999", "2999-Q1", "2999-01", "2999-W01", "2999-01-01", f"{date.today() + timedelta(days=1)}"):
        assert "a period that is over" in refused("job.toml", "--for", ahead)
    assert charges("ward") == 0
    said = refused("job.toml", "--for", "20261")
    assert "2026-11, 2026-W46 or 2026-11-17" in said
    assert "'20261'" in said


def test_what_a_job_must_say() -> None:
    for change, words in [
        (('request = "visits-{period}"', 'request = "visits"'), "job.request must be a text with {period} in it"),
        (('out = ["told-{period}.csv"]', 'out = ["told.csv"]'), "job.out must be a text with {period} in it"),
        (('page = "told-{period}.html"', 'page = "told.html"'), "job.page must be a text with {period} in it"),
        (('every = "1D"', 'every = "1D"\nstart = "2026-01-01"'), "start must be one of"),
        (('time = "at"', 'time = "at"\ntimezone = "Mars/Olympus"'), "timezone must be an IANA name"),
        (('told-{period}.csv"', 'told-{period}.txt"'), "out must be"),
        (('data = "visits-{period}.csv"', 'data = "none-{period}.csv"'), "there is no file none-2026-01.csv"),
    ]:
        Path("job.toml").write_text(JOB.replace(*change), encoding="utf-8")
        assert words in refused("job.toml", "--for", "2026-01"), change
        assert charges("ward") == 0, change
    Path("job.toml").write_text(JOB.replace('"1D"', '"1mo"').replace("= 5", "= 1"), encoding="utf-8")
    said = refused("job.toml", "--for", "2026-01-05")
    assert "for must be a period that whole periods of 1mo fill" in said
    assert "such as 2026, 2026-11" in said
    for key, said in [("ledger", "the ledger is named"), ("keys", "the owner's keys are named")]:
        Path("job.toml").write_text(f'{key} = "b.db"\n{JOB}', encoding="utf-8")
        refusal = refused("job.toml", "--for", "2026-01")
        assert f"line 1: {key} must be left out: {said} on the command line, by --{key}" in refusal, key
        assert "perhaps" not in refusal, key


def test_periods() -> None:
    for written, start, end, name in [
        ("2026", "2026-01-01", "2027-01-01", "2026"),
        ("2026-Q4", "2026-10-01", "2027-01-01", "2026-Q4"),
        ("2024-02", "2024-02-01", "2024-03-01", "2024-02"),
        ("2026-12", "2026-12-01", "2027-01-01", "2026-12"),
        ("2026-W53", "2026-12-28", "2027-01-04", "2026-W53"),
        ("2024-02-29", "2024-02-29", "2024-03-01", "2024-02-29"),
        ("yesterday", "2026-11-16", "2026-11-17", "2026-11-16"),
        ("last-week", "2026-11-09", "2026-11-16", "2026-W46"),
        ("last-month", "2026-10-01", "2026-11-01", "2026-10"),
        ("last-quarter", "2026-07-01", "2026-10-01", "2026-Q3"),
        ("last-year", "2025-01-01", "2026-01-01", "2025"),
    ]:
        period = read_period(written, TODAY)
        assert (str(period.start), str(period.end), period.name) == (start, end, name), written
        assert read_period(period.name, TODAY) == period, written
    wrong = ("26-11", "2026-13", "2026-00", "2026-11-31", "2025-W53", "2026-W00", "2026-Q5")
    for written in (*wrong, "", "9999", "0000", "2026-11 ", "now"):
        with pytest.raises(InvalidArgument, match="for must be"):
            read_period(written, TODAY)


@given(st.dates(min_value=date(1900, 1, 1), max_value=date(2900, 1, 1)))
def test_the_last_period_ends_on_or_before_a_day_and_the_next_does_not(day: date) -> None:
    for word in ("yesterday", "last-week", "last-month", "last-quarter", "last-year"):
        period = read_period(word, day)
        assert period.start < period.end <= day
        assert period.end + (period.end - period.start) + timedelta(days=4) > day  # months differ by three days at most

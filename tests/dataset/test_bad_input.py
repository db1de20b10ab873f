"""What cannot be used is refused in words, before anything is spent, and never with a value of the data."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest

import chronodp as cdp
from chronodp import errors
from chronodp.privacy import Calendar
from chronodp.series import Count
from chronodp.series.measures import Blocks, Total

SECRET_NAME, SECRET_VALUE = "zaphod", 424242.125
HOURS = 48


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path_factory.mktemp("ledger") / "budget.db") as opened:
        opened.open("people", unit=cdp.User(), epsilon=1000.0, delta=1e-3)
        yield opened


def frame(**columns: Any) -> pd.DataFrame:
    times = pd.date_range("2026-01-01", periods=HOURS, freq="h", tz="UTC")
    table = pd.DataFrame({"at": times, "who": [SECRET_NAME] * HOURS, "kwh": [SECRET_VALUE] * HOURS, "region": "north"})
    return table.assign(**columns)


def series(data: object = None, **changes: Any) -> cdp.TimeSeries:
    options: dict[str, Any] = {
        "time": "at", "user": "who", "every": "1h", "start": "2026-01-01", "end": "2026-01-03", "unit": cdp.User(),
        "max_periods": 3,
    }  # fmt: skip
    return cdp.TimeSeries(frame() if data is None else data, **(options | changes))


def release(ledger: cdp.Ledger, query: Any, request: str) -> cdp.Release:
    made: cdp.Release = query.plan(epsilon=0.5, delta=1e-6).release(ledger, dataset="people", request=request)
    return made


def kwh(**changes: Any) -> Any:
    return series(**changes).sum("kwh", clip=(0.0, 5.0))


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "missing value": (
        lambda: series().sum("kwhh", clip=(0, 5)),
        errors.UnknownColumn,
        "at, who, kwh, region; did you mean kwh",
    ),
    "missing time": (lambda: kwh(time="att"), errors.UnknownColumn, "did you mean at"),
    "missing user": (lambda: kwh(user="person"), errors.UnknownColumn, "no column 'person'"),
    "missing group": (lambda: kwh().by(place=["a"]), errors.UnknownColumn, "by: the table has no column 'place'"),
    "number as time": (
        lambda: kwh(data=frame(at=range(HOURS))),
        errors.UnsuitableColumn,
        "a timestamp, a date or a text such as 2026-01-31T12:00 is needed; if it counts from 1970, declare it",
    ),
    "truth as time": (lambda: kwh(data=frame(at=True)), errors.UnsuitableColumn, "'at' holds bool"),
    "time as value": (lambda: series().sum("at", clip=(0, 5)), errors.UnsuitableColumn, "'at' holds timestamp"),
    "time as user": (lambda: kwh(user="at"), errors.UnsuitableColumn, "a text or a whole number is needed"),
    "time as group": (lambda: series().count().by(at=[1]), errors.UnsuitableColumn, "a text or a whole number"),
    "empty key": (lambda: series().count().by(region=[""]), errors.InvalidArgument, "texts that are not empty"),
    "reversed clip": (lambda: series().sum("kwh", clip=(5, 0)), errors.InvalidArgument, "low <= high"),
    "infinite clip": (lambda: series().sum("kwh", clip=(0, float("inf"))), errors.InvalidArgument, "got inf"),
    "empty clip": (lambda: series().sum("kwh", clip=(0, 0)), errors.InvalidArgument, "not both 0"),
    "no pair": (lambda: series().sum("kwh", clip=5), errors.InvalidArgument, "a pair"),  # type: ignore[arg-type]
    "flat variance": (
        lambda: series().variance("kwh", clip=(2, 2)),
        errors.InvalidArgument,
        "low < high for a variance",
    ),
    "no column of a variance": (lambda: series().variance("", clip=(0, 5)), errors.InvalidArgument, "name of a column"),
    "flat mean": (lambda: series().mean("kwh", clip=(2, 2), of="people"), errors.InvalidArgument, "low < high"),
    "flat mean of totals": (
        lambda: series().mean("kwh", clip=(2, 2), of="totals"),
        errors.InvalidArgument,
        "low < high",
    ),
    "no column": (lambda: series().sum(None, clip=(0, 5)), errors.InvalidArgument, "name of a column"),  # type: ignore[arg-type]
    "no column of a mean": (
        lambda: series().mean("", clip=(0, 5), of="people"),
        errors.InvalidArgument,
        "name of a column",
    ),
    "no column of bins": (lambda: series().histogram(5, edges=[0, 1]), errors.InvalidArgument, "name of a column"),  # type: ignore[arg-type]
    "no measure": (lambda: series().ask("count"), errors.InvalidArgument, "a measure such as"),  # type: ignore[arg-type]
    "finished totals of rows": (lambda: series().ask(Total(1.0)), errors.InvalidArgument, "go to Aggregate"),
    "blocks of another grid": (
        lambda: series().ask(Blocks("peak", Count(), Calendar("1h", "2025-01-01", "2025-01-02"))),
        errors.InvalidArgument,
        "makes blocks of a query",
    ),
    "overflow": (lambda: series().count(at_most=2**40), errors.InvalidArgument, "at_most"),
    "no max_periods": (lambda: kwh(max_periods=None), errors.MissingBound, "max_periods is missing"),
    "zero max_periods": (lambda: kwh(max_periods=0), errors.InvalidArgument, "from 1 to 48"),
    "needless max_periods": (lambda: kwh(unit=cdp.Event()), errors.InvalidArgument, "left out"),
    "no user": (lambda: kwh(user=None), errors.MissingBound, "name the column with the person"),
    "long window": (lambda: kwh(unit=cdp.Window(100), max_periods=None), errors.InvalidArgument, "from 1 to 48"),
    "end off the grid": (lambda: kwh(end="2026-01-02T00:30"), errors.InvalidArgument, "2026-01-02 01:00:00"),
    "end before start": (lambda: kwh(end="2025-01-01"), errors.InvalidArgument, "after the start"),
    "unknown zone": (lambda: kwh(timezone="Mars/Phobos"), errors.InvalidArgument, "name of a time zone"),
    "too many periods": (lambda: kwh(every="1s", end="2036-01-01"), errors.InvalidArgument, "at most 16,777,216"),
    "too many groups": (
        lambda: kwh().by(region=range(4000), place=range(4000)),
        errors.InvalidArgument,
        "134,217,728 cells",
    ),
    "repeated keys": (lambda: kwh().by(region=["a", "b", "a"]), errors.InvalidArgument, "no key is repeated"),
    "no keys": (lambda: kwh().by(region=[]), errors.InvalidArgument, "at least one public key"),
    "keys as text": (lambda: kwh().by(region="north"), errors.InvalidArgument, "a list"),
    "the same split twice": (lambda: kwh().by(region=["a"]).by(region=["b"]), errors.InvalidArgument, "already"),
    "too many of groups": (lambda: kwh().by(region=["a"], max_groups=2), errors.InvalidArgument, "max_groups"),
    "edges reversed": (lambda: series().histogram("kwh", edges=[2, 1]), errors.InvalidArgument, "ascending"),
    "edges not numbers": (lambda: series().histogram("kwh", edges=[0, float("nan")]), errors.InvalidArgument, "edges"),
    "public people under add_remove": (
        lambda: series().mean("kwh", clip=(0, 5), people=10, of="totals"),
        errors.InvalidArgument,
        "no public fact",
    ),
    "no such file": (lambda: kwh(data="nowhere.parquet"), errors.UnreadableSource, "no file nowhere.parquet"),
    "no such glob": (lambda: kwh(data="nowhere/*.parquet"), errors.UnreadableSource, "no file matches"),
    "another format": (lambda: kwh(data="rows.txt"), errors.InvalidArgument, ".parquet"),
    "remote": (lambda: kwh(data="s3://bucket/rows.parquet"), errors.InvalidArgument, "a local path"),
    "two formats": (lambda: kwh(data=["a.csv", "b.parquet"]), errors.InvalidArgument, "one format"),
    "nothing": (lambda: kwh(data={}), errors.InvalidArgument, "got a dict"),
    "not a number of totals": (
        lambda: cdp.Aggregate([1.0, SECRET_VALUE, np.nan], change=1.0, unit=cdp.Event()),
        errors.InvalidArgument,
        "got a list",
    ),
    "totals by two": (
        lambda: cdp.Aggregate([[1.0]], change=1.0, unit=cdp.Event()),
        errors.InvalidArgument,
        "got a list",
    ),
    "no change": (lambda: cdp.Aggregate([1.0], change=0.0, unit=cdp.Event()), errors.InvalidArgument, "change"),
}


@pytest.mark.slow
def test_is_refused_before_anything_is_spent(ledger: cdp.Ledger, subtests: pytest.Subtests) -> None:
    for name in [*REFUSED]:
        with subtests.test(name=name):
            make, kind, said = REFUSED[name]
            before = ledger.status("people")
            with pytest.raises(kind) as caught:
                release(ledger, make(), f"refused {name}")
            assert said in str(caught.value)
            assert isinstance(caught.value, errors.ChronodpError)
            shown = "".join(traceback.format_exception_only(caught.value)) + repr(caught.value.__cause__)
            assert SECRET_NAME not in shown
            assert str(int(SECRET_VALUE)) not in shown
            assert caught.value.__cause__ is None
            assert caught.value.__suppress_context__ or caught.value.__context__ is None
            after = ledger.status("people")
            assert (after.charges, after.unreleased) == (before.charges, before.unreleased)


def test_parameters_outside_what_is_allowed(subtests: pytest.Subtests) -> None:
    for parameters in (
        [{"epsilon": bad} for bad in (0, -1, float("nan"), "1", None, 1e-12, 1e300)]
        + [{"epsilon": 1.0, "delta": bad} for bad in (-0.1, 1, 2, float("nan"), "0")]
        + [{"epsilon": 1.0, "tuned_for": "running totals"}]
    ):
        with (
            subtests.test(parameters=parameters),
            pytest.raises(errors.InvalidArgument, match=r"epsilon|delta|tuned_for"),
        ):
            kwh().plan(**parameters)


ACCEPTED: dict[str, Callable[[], Any]] = {
    "empty": lambda: kwh(data=frame().iloc[:0]),
    "one row": lambda: kwh(data=frame().iloc[:1]),
    "null users": lambda: kwh(data=frame(who=None)),
    "null values": lambda: kwh(data=frame(kwh=None)),
    "no numbers": lambda: kwh(data=frame(kwh=[np.nan, np.inf, -np.inf] * (HOURS // 3))),
    "rows twice": lambda: kwh(data=pd.concat([frame(), frame()])),
    "outside the grid": lambda: kwh(start="2030-01-01", end="2030-01-03"),
    "without offset": lambda: kwh(data=frame(at=pd.date_range("2026-01-01", periods=HOURS, freq="h"))),
    "whole numbers": lambda: kwh(data=frame(who=range(HOURS), kwh=range(HOURS))),
    "booleans": lambda: kwh(data=frame(kwh=True)),
    "an unread column that mixes types": lambda: kwh(data=frame(region=[1, "a"] * (HOURS // 2))),
    "unknown keys only": lambda: kwh().by(region=["west"]),
    "odd column names": lambda: series(
        frame().rename(columns={"at": "a b", "who": 'w"ho', "kwh": "select"}), time="a b", user='w"ho'
    ).sum("select", clip=(0, 1)),
}


@pytest.mark.filterwarnings("ignore::chronodp.errors.UnreadRows")
def test_rows_are_dropped_and_the_whole_grid_is_released(ledger: cdp.Ledger, subtests: pytest.Subtests) -> None:
    for name in [*ACCEPTED]:
        with subtests.test(name=name):
            made = release(ledger, ACCEPTED[name](), f"accepted {name}")
            assert len(made.to_pandas()) == HOURS
            assert np.all(np.isfinite(made.to_pandas()["value"]))


@pytest.mark.parametrize("damage", ["half", "junk", "empty", "flipped"])
def test_damaged_parquet(damage: str, ledger: cdp.Ledger, tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.Table.from_pandas(frame()), tmp_path / "rows.parquet")
    whole = (tmp_path / "rows.parquet").read_bytes()
    forms = {
        "half": whole[: len(whole) // 2],
        "junk": SECRET_NAME.encode() * 100,
        "empty": b"",
        "flipped": whole[:8] + bytes(byte ^ 255 for byte in whole[8:200]) + whole[200:],
    }
    (tmp_path / "rows.parquet").write_bytes(forms[damage])
    with pytest.raises(errors.UnreadableSource, match=r"rows\.parquet cannot be read as parquet") as caught:
        release(ledger, kwh(data=tmp_path / "rows.parquet"), f"damaged {damage}")
    assert SECRET_NAME not in str(caught.value)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::chronodp.errors.UnreadRows")
def test_broken_rows_of_a_csv_are_left_out(ledger: cdp.Ledger, tmp_path: Path) -> None:
    frame(kwh=1.0).to_csv(tmp_path / "rows.csv", index=False)
    lines = (tmp_path / "rows.csv").read_text(encoding="utf-8").splitlines()
    lines[5:5] = ["only,two", "2026-01-01 01:00:00+00:00,bo,no number,north", "no time,bo,1.0,north", "a,b,c,d,e,f"]
    (tmp_path / "rows.csv").write_text("\n".join(lines), encoding="utf-8")
    plan = kwh(data=tmp_path / "rows.csv").plan(epsilon=0.5, delta=1e-6)
    looked = plan.diagnose(bounds=True)
    tally, read = looked.tally, looked.reading
    assert tally is not None
    assert (tally.people, tally.cells, tally.cells_kept) == (1, HOURS, 3)
    assert (read.rows, read.used, read.incomplete, list(read.broken.values())) == (HOURS + 2, HOURS, 2, [2])
    assert len(plan.release(ledger, dataset="people", request="broken csv").to_pandas()) == HOURS


@pytest.mark.parametrize(
    ("columns", "argument"),
    [
        ({"kwh": "zaphod"}, "value"),
        ({"kwh": [SECRET_VALUE, SECRET_NAME] * (HOURS // 2)}, "value"),
        ({"at": "2026"}, "time"),
        ({"who": 1.5}, "user"),
    ],
)
@pytest.mark.filterwarnings("ignore::chronodp.errors.UnreadRows")
def test_cells_that_cannot_be_read_refuse_nothing(ledger: cdp.Ledger, columns: dict[str, Any], argument: str) -> None:
    query = kwh(data=frame(**columns))
    looked = query.plan(epsilon=0.5, delta=1e-6).diagnose().reading
    (column,) = (one for one in looked.columns if one.argument == argument)
    assert column.unreadable == HOURS - column.read > 0
    assert len(release(ledger, query, f"{argument} {column.read}").to_pandas()) == HOURS


def test_a_csv_that_is_no_csv(ledger: cdp.Ledger, tmp_path: Path) -> None:
    for name, content in (("empty", b""), ("binary", bytes(range(256)) * 20)):
        (tmp_path / f"{name}.csv").write_bytes(content)
        with pytest.raises(errors.SourceError):
            release(ledger, kwh(data=tmp_path / f"{name}.csv"), name)


def test_what_release_is_handed_is_checked(ledger: cdp.Ledger) -> None:
    plan = kwh().plan(epsilon=0.5, delta=1e-6)
    for wrong in ({"ledger": "budget.db"}, {"entropy": 5}, {"dataset": "nobody"}, {"request": ""}):
        options: dict[str, Any] = {"ledger": ledger, "dataset": "people", "request": "wrong"} | wrong
        with pytest.raises(errors.ChronodpError):
            plan.release(options.pop("ledger"), **options)
    assert "wrong" not in ledger.status("people").unreleased

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


FROM_1970 = "a timestamp, a date or a text such as 2026-01-31T12:00 is needed; if it counts from 1970, declare it"
OTHER_DAY = Blocks("peak", Count(), Calendar("1h", "2025-01-01", "2025-01-02"))
_any: Any = cdp.TimeSeries.sum  # of arguments of no type that it takes
REFUSED: dict[type[errors.ChronodpError], list[tuple[str, Callable[[], Any]]]] = {
    errors.UnknownColumn: [
        ("at, who, kwh, region; did you mean kwh", lambda: series().sum("kwhh", clip=(0, 5))),
        ("did you mean at", lambda: kwh(time="att")),
        ("no column 'person'", lambda: kwh(user="person")),
        ("by: the table has no column 'place'", lambda: kwh().by(place=["a"])),
    ],
    errors.UnsuitableColumn: [
        (FROM_1970, lambda: kwh(data=frame(at=range(HOURS)))),
        ("'at' holds bool", lambda: kwh(data=frame(at=True))),
        ("'at' holds timestamp", lambda: series().sum("at", clip=(0, 5))),
        ("a text or a whole number is needed", lambda: kwh(user="at")),
        ("a text or a whole number", lambda: series().count().by(at=[1])),
    ],
    errors.MissingBound: [
        ("max_periods is missing", lambda: kwh(max_periods=None)),
        ("name the column with the person", lambda: kwh(user=None)),
    ],
    errors.UnreadableSource: [
        ("no file nowhere.parquet", lambda: kwh(data="nowhere.parquet")),
        ("no file matches", lambda: kwh(data="nowhere/*.parquet")),
    ],
    errors.InvalidArgument: [
        ("texts that are not empty", lambda: series().count().by(region=[""])),
        ("low <= high", lambda: series().sum("kwh", clip=(5, 0))),
        ("got inf", lambda: series().sum("kwh", clip=(0, float("inf")))),
        ("not both 0", lambda: series().sum("kwh", clip=(0, 0))),
        ("a pair", lambda: _any(series(), "kwh", clip=5)),
        ("low < high for a variance", lambda: series().variance("kwh", clip=(2, 2))),
        ("name of a column", lambda: series().variance("", clip=(0, 5))),
        ("low < high", lambda: series().mean("kwh", clip=(2, 2), of="people")),
        ("low < high", lambda: series().mean("kwh", clip=(2, 2), of="totals")),
        ("name of a column", lambda: _any(series(), None, clip=(0, 5))),
        ("name of a column", lambda: series().mean("", clip=(0, 5), of="people")),
        ("name of a column", lambda: series().histogram(5, edges=[0, 1])),  # type: ignore[arg-type]
        ("a measure such as", lambda: series().ask("count")),  # type: ignore[arg-type]
        ("go to Aggregate", lambda: series().ask(Total(1.0))),
        ("makes blocks of a query", lambda: series().ask(OTHER_DAY)),
        ("at_most", lambda: series().count(at_most=2**40)),
        ("from 1 to 48", lambda: kwh(max_periods=0)),
        ("left out", lambda: kwh(unit=cdp.Event())),
        ("from 1 to 48", lambda: kwh(unit=cdp.Window(100), max_periods=None)),
        ("2026-01-02 01:00:00", lambda: kwh(end="2026-01-02T00:30")),
        ("after the start", lambda: kwh(end="2025-01-01")),
        ("name of a time zone", lambda: kwh(timezone="Mars/Phobos")),
        ("at most 16,777,216", lambda: kwh(every="1s", end="2036-01-01")),
        ("134,217,728 cells", lambda: kwh().by(region=range(4000), place=range(4000))),
        ("no key is repeated", lambda: kwh().by(region=["a", "b", "a"])),
        ("at least one public key", lambda: kwh().by(region=[])),
        ("a list", lambda: kwh().by(region="north")),
        ("a list of at least one public key", lambda: kwh().by(region=None)),
        ("already", lambda: kwh().by(region=["a"]).by(region=["b"])),
        ("max_groups", lambda: kwh().by(region=["a"], max_groups=2)),
        ("ascending", lambda: series().histogram("kwh", edges=[2, 1])),
        ("edges", lambda: series().histogram("kwh", edges=[0, float("nan")])),
        ("no public fact", lambda: series().mean("kwh", clip=(0, 5), people=10, of="totals")),
        (".parquet", lambda: kwh(data="rows.txt")),
        ("a local path", lambda: kwh(data="s3://bucket/rows.parquet")),
        ("one format", lambda: kwh(data=["a.csv", "b.parquet"])),
        ("got a dict", lambda: kwh(data={})),
        ("got a list", lambda: cdp.Aggregate([1.0, SECRET_VALUE, np.nan], change=1.0, unit=cdp.Event())),
        ("got a list", lambda: cdp.Aggregate([[1.0]], change=1.0, unit=cdp.Event())),
        ("change", lambda: cdp.Aggregate([1.0], change=0.0, unit=cdp.Event())),
    ],
}


@pytest.mark.slow
def test_is_refused_before_anything_is_spent(ledger: cdp.Ledger, subtests: pytest.Subtests) -> None:
    cases = [(kind, said, make) for kind, listed in REFUSED.items() for said, make in listed]
    for number, (kind, said, make) in enumerate(cases):
        with subtests.test(number=number, said=said):
            before = ledger.status("people")
            with pytest.raises(kind) as caught:
                release(ledger, make(), f"refused {number}")
            assert said in str(caught.value)
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
        "half": whole[: len(whole) // 2], "junk": SECRET_NAME.encode() * 100, "empty": b"",
        "flipped": whole[:8] + bytes(byte ^ 255 for byte in whole[8:200]) + whole[200:],
    }  # fmt: skip
    (tmp_path / "rows.parquet").write_bytes(forms[damage])
    with pytest.raises(errors.UnreadableSource, match=r"rows\.parquet cannot be read as parquet") as caught:
        release(ledger, kwh(data=tmp_path / "rows.parquet"), f"damaged {damage}")
    assert SECRET_NAME not in str(caught.value)


def test_what_release_is_handed_is_checked(ledger: cdp.Ledger) -> None:
    plan = kwh().plan(epsilon=0.5, delta=1e-6)
    for wrong in ({"ledger": "budget.db"}, {"entropy": 5}, {"dataset": "nobody"}, {"request": ""}):
        options: dict[str, Any] = {"ledger": ledger, "dataset": "people", "request": "wrong"} | wrong
        with pytest.raises(errors.ChronodpError):
            plan.release(options.pop("ledger"), **options)
    assert "wrong" not in ledger.status("people").unreleased

"""What is read: as an owner declares it, filtered and derived; what owners are told, and in whose words."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.conftest import SCALE

import chronodp as cdp
from chronodp.dataset import TimeSeries
from chronodp.errors import InvalidArgument, RequestConflict, UnknownDocument, UnreadRows
from chronodp.ledger import Ledger
from chronodp.privacy import RecordUnit, User, UserPeriod, Window, dump, load, to_document
from chronodp.randomness import seeded
from chronodp.series import Design, Plan, Table

GERMAN = cdp.Reading(time_format="%d.%m.%Y %H:%M", decimal=",", separator=";", encoding="latin-1")


@pytest.fixture
def german(tmp_path: Path) -> Path:
    file = tmp_path / "zaehler.csv"
    rows = ["zeit;zähler;kwh;notiz"]
    rows += [f"{day}.1.2026 10:00;{'Müller' if day % 2 else 'Weiß'};1,5;ja" for day in range(5, 10)]
    file.write_text(
        "\n".join([*rows, "6.1.2026 10:00;Weiß;2,5", '6.1.2026 10:00;Weiß;2,5;"offen', ""]), encoding="latin-1"
    )
    return file


def series(data: Any, **given: Any) -> cdp.TimeSeries:
    options: dict[str, Any] = {
        "time": "zeit", "user": "zähler", "every": "1D", "start": "2026-01-05", "end": "2026-01-09",
        "timezone": "Europe/Berlin", "unit": cdp.User(), "max_periods": 4,
    }  # fmt: skip
    return cdp.TimeSeries(data, **(options | given))


def totals(plan: cdp.Plan) -> list[float]:
    numbers = plan.read(key="", progress=lambda _: None)[0]
    return [float(number) for number in numbers[:, 0] * plan.design.noises[0].step]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::chronodp.errors.UnreadRows")
def test_what_is_declared_is_read_and_part_of_plan_and_certificate(german: Path, tmp_path: Path) -> None:
    plan = series(german, reading=GERMAN).sum("kwh", clip=(0.0, 5.0)).plan(epsilon=1.0)
    assert totals(plan) == [1.5, 1.5, 1.5, 1.5]
    assert "times as %d.%m.%Y %H:%M, numbers with a decimal ','" in str(plan)
    assert load(dump(plan.design), Design) == plan.design
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=4.0)
        release = plan.release(ledger, dataset="meters", request="a", entropy=seeded(1), progress=lambda _: None)
        assert "text in latin-1" in release.certificate.mechanism
        other = series(german, reading=cdp.Reading(time_format="%d.%m.%Y %H:%M", encoding="latin-1"))
        with pytest.raises(cdp.errors.ChronodpError, match="request"):
            other.sum("kwh", clip=(0.0, 5.0)).plan(epsilon=1.0).release(
                ledger, dataset="meters", request="a", entropy=seeded(1), progress=lambda _: None
            )


@pytest.mark.slow
def test_the_owner_sees_what_is_left_out_and_what_to_declare(german: Path) -> None:
    undeclared = series(german, reading=cdp.Reading(encoding="latin-1")).sum("kwh", clip=(0.0, 5.0)).plan(epsilon=1.0)
    found = undeclared.diagnose(progress=lambda _: None)
    time, person, value = found.reading.columns
    assert (found.reading.rows, found.reading.used, found.reading.incomplete) == (5, 0, 5)
    assert (time.read, time.unreadable, list(time.hints.values())) == (0, 5, [5])
    assert (person.read, person.missing) == (5, 0)
    assert value.hints == {"Reading(decimal=',')": 5}
    assert list(found.reading.broken.values()) == [1, 1]
    assert found.tally is None
    assert "people" not in str(found).lower().replace("owner only", "")
    declared = series(german, reading=GERMAN).sum("kwh", clip=(0.0, 5.0)).plan(epsilon=1.0)
    after = declared.diagnose(progress=lambda _: None).reading
    assert (after.rows, after.used, after.outside_time, after.wall_clocks, after.instants) == (5, 4, 1, 5, 0)
    assert json.dumps(declared.diagnose(bounds=True, progress=lambda _: None).to_dict())


def test_what_cannot_be_declared_is_named(subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"time_format": "%d.%m"}, "time_format"), ({"time_format": 5}, "time_format"),
        ({"time_format": "%Y-%m-%d %q"}, "time_format"), ({"time_format": "%Y-%m-%d %M"}, "time_format"),
        ({"time_format": "(%Y-%m-%d)"}, "time_format"), ({"decimal": ";"}, "decimal"),
        ({"separator": ",,"}, "separator"), ({"separator": "a"}, "separator"),
        ({"separator": ",", "decimal": ","}, "separator"), ({"encoding": "ebcdic"}, "encoding"),
        ({"line_breaks": 1}, "line_breaks"),
    ]  # fmt: skip
    for given, name in cases:
        with subtests.test(given=given, name=name), pytest.raises(InvalidArgument, match=f"^{name} must be"):
            cdp.Reading(**given)


@pytest.mark.parametrize("kind", ["int64", "int32", "float64", "object"])
def test_whole_numbers_are_read_by_their_digits_where_a_pattern_is_declared(kind: str) -> None:
    days = pd.Series([19970101, 19970103, 19970103, 19970230], dtype=kind)
    table = pd.DataFrame({"zeit": days, "zähler": ["a", "a", "b", "c"]})
    dates = {"start": "1997-01-01", "end": "1997-01-05", "timezone": "UTC"}
    plan = series(table, **dates, reading=cdp.Reading(time_format="%Y%m%d")).count().plan(epsilon=1.0)
    assert totals(plan) == [1.0, 0.0, 2.0, 0.0]


def test_only_formats_that_were_seen_to_read_the_column_are_proposed(subtests: pytest.Subtests) -> None:
    for written, formats in [
        (["31/01/2026", "15/01/2026"], ["%d/%m/%Y"]),
        (["01/02/2026", "03/01/2026"], ["%d/%m/%Y", "%m/%d/%Y"]),
        (["19970101", "19970202"], ["%Y%m%d"]),
        (["1767744000", "1767830400"], ["s"]),
        (["1967744000", "1967830400"], []),  # seconds of another year, and of no format
        (["31.01.2026 10:30"], ["%d.%m.%Y %H:%M"]),
        (["garbage", "1.2.3"], []),
    ]:
        with subtests.test(written=written, formats=formats):
            table = pd.DataFrame({"zeit": written, "zähler": "a"})
            time = series(table).count().plan(epsilon=1.0).diagnose().reading.columns[0]
            assert time.hints == {f"Reading(time_format={one!r})": len(written) for one in formats}


# What an owner is told of rows that cannot be read: before anything is spent, and in nothing that is published.


ROWS: Sequence[tuple[str | None, str | None, str]] = (
    ("2026-01-01", "ann", "1"),
    ("2026-01-02", "bob", "n/a"),
    ("2026-05-01", "bob", "2"),  # read, and outside the periods
    ("31/01/2026", "bob", "2"),
    ("19970101", "ann", "n/a"),  # one row lacks two things, and is one row
    ("2026-01-02", None, "x"),
)


def write(table: pd.DataFrame, form: str, folder: Path) -> Any:
    file = str(folder / f"rows.{form}")
    if form == "csv":
        table.to_csv(file, index=False)
    elif form == "parquet":
        table.to_parquet(file)
    return table if form == "pandas" else file


@pytest.fixture(params=["csv", "parquet", "pandas"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return write(pd.DataFrame(ROWS, columns=["at", "who", "kwh"]), request.param, tmp_path)


def meters(data: Any, **given: Any) -> cdp.TimeSeries:
    options: dict[str, Any] = {"time": "at", "user": "who", "every": "1D", "unit": cdp.User(), "max_periods": 2}
    return cdp.TimeSeries(data, start="2026-01-01", end="2026-01-04", **(options | given))


def release(folder: Path, plan: Any, request: str = "a") -> Any:
    with cdp.Ledger(folder / "budget.db") as ledger:
        if not ledger.budgets():
            ledger.open("meters", unit=plan.claim.unit, epsilon=8.0, delta=1e-3, reserve=5e-4)
        return plan.release(ledger, dataset="meters", request=request, entropy=seeded(1), progress=lambda _: None)


KINDS: dict[str, Callable[[Any], Any]] = {
    "people": lambda data: meters(data).sum("kwh", clip=(0.0, 5.0)).plan(epsilon=1.0),
    "mean": lambda data: meters(data).mean("kwh", clip=(0.0, 5.0), of="people").plan(epsilon=1.0),
    "rows": lambda data: (
        meters(data, user=None, unit=cdp.Event(), max_periods=None).sum("kwh", clip=(0.0, 5.0)).plan(epsilon=1.0)
    ),
    "norm": lambda data: meters(data, max_periods=None).sum("kwh", bound=cdp.Norm(5.0)).plan(epsilon=1.0, delta=1e-6),
    "found": lambda data: meters(data).sum("kwh", clip=cdp.Find()).plan(epsilon=1.0, delta=1e-6),
    "quantiles": lambda data: meters(data).quantiles("kwh", [0.5], edges=[0.0, 1.0, 2.0]).plan(epsilon=1.0),
    "together": lambda data: cdp.plan_together(
        {"one": meters(data).sum("kwh", clip=(0.0, 5.0)), "other": meters(data).sum("kwh", clip=(0.0, 2.0))},
        epsilon=1.0,
    ),
}


def test_one_warning_says_how_many_rows_are_left_out_and_why(
    table: Any, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for kind, made in KINDS.items():
        (tmp_path / kind).mkdir()
        with subtests.test(kind=kind):
            with pytest.warns(UnreadRows) as told:
                release(tmp_path / kind, made(table))
            assert len(told) == 1
            who = "" if kind == "rows" else "1 without a name in 'who', "  # where rows stand for themselves
            lacks = f"{who}2 without a time that can be read in 'at', {1 if who else 2} without a number in 'kwh'"
            assert f"2 of 6 rows were read, 4 left out: {lacks}" in str(told[0].message)


@pytest.mark.parametrize("column", ["text", "bytes", "lists", "NaN"])
def test_a_value_column_of_no_numbers_is_told_or_refused_before_anything_is_spent(column: str, tmp_path: Path) -> None:
    cells: dict[str, list[Any]] = {"text": ["x"], "bytes": [b"1"], "lists": [[1]], "NaN": [float("nan")]}
    table = pd.DataFrame({"at": ["2026-01-01"], "who": ["ann"], "kwh": pd.Series(cells[column])})
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnreadRows)
        with pytest.raises(UnreadRows, match="1 without a number in 'kwh'"):
            release(tmp_path, KINDS["people"](table))


def test_periods_without_any_row_are_told(tmp_path: Path) -> None:
    table = pd.DataFrame({"at": ["2026-05-01"], "who": ["ann"]})
    with pytest.warns(UnreadRows, match="1 of 1 rows were read; none counts"):
        release(tmp_path, meters(table).count().plan(epsilon=1.0))


def test_a_table_that_is_read_is_released_without_a_word(tmp_path: Path, subtests: pytest.Subtests) -> None:
    rows = [("2026-01-01", "ann", 1.0), ("2026-05-01", "bob", 0.0), ("2026-01-02", "bob", 0.0)]
    for kind, made in KINDS.items():
        (tmp_path / kind).mkdir()
        with subtests.test(kind=kind):
            release(tmp_path / kind, made(pd.DataFrame(rows, columns=["at", "who", "kwh"])))


def test_an_owner_who_makes_it_an_error_has_spent_nothing(table: Any, tmp_path: Path) -> None:
    plan = KINDS["people"](table)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnreadRows)
        with pytest.raises(UnreadRows):
            release(tmp_path, plan)
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        assert not ledger.stored.was_debited("meters", "a")


def test_nothing_that_is_published_holds_it(table: Any, tmp_path: Path) -> None:
    with pytest.warns(UnreadRows):
        made = release(tmp_path, KINDS["people"](table))
    for published in (made.text, str(made), str(made.certificate), made.to_pandas().to_csv()):
        assert "left out:" not in published
        assert "were read" not in published


# Filters and derived columns at the front door: part of the plan, its words, its certificate and its identity.


DELAYS = pd.DataFrame(
    {
        "at": pd.date_range("2026-01-01", periods=240, freq="h", tz="UTC"),
        "who": [f"p{number % 40}" for number in range(240)],
        "origin": ["JFK" if number % 3 else "LGA" for number in range(240)],
        "delay": [number % 60 - 20.0 for number in range(240)],
        "miles": [100.0 + number for number in range(240)],
        "minutes": [number % 5 for number in range(240)],
    }
)


def delays(**given: Any) -> cdp.TimeSeries:
    return cdp.TimeSeries(
        DELAYS, time="at", user="who", every="1D", start="2026-01-01", end="2026-01-11", unit=cdp.User(),
        max_periods=10, **given,
    )  # fmt: skip


def test_a_plan_says_its_filter_and_its_columns() -> None:
    series = delays(where="origin='JFK'", columns={"late": "delay>15", "speed": "miles/minutes*60"})
    query = series.sum("late", clip=(0.0, 1.0)).where("minutes > 0 OR delay > 0").where("miles < 300")
    joined = "origin = 'JFK' AND (minutes > 0 OR delay > 0) AND miles < 300"
    assert query.table.where == joined
    assert [str(one) for one in query.table.columns or ()] == ["late = delay > 15"]  # speed is not asked for
    plan = query.plan(epsilon=1.0)
    flat = " ".join(str(plan).split())
    assert f"Rows where {joined} Columns late = delay > 15 Noise" in flat
    assert f"rows where {joined}; late = delay > 15" in plan.certificate_for(seeded=False).mechanism
    assert load(dump(plan.design.table), Table) == plan.design.table
    assert plan.on(DELAYS, start="2026-01-02").design.table.where == joined


@pytest.mark.slow
def test_the_numbers_are_those_of_a_table_that_was_filtered_before() -> None:
    kept = DELAYS[(DELAYS.origin == "JFK") & (DELAYS.delay > 0)]
    kept = kept.assign(late=(kept.delay > 15).astype(float))
    plain = cdp.TimeSeries(
        kept, time="at", user="who", every="1D", start="2026-01-01", end="2026-01-11", unit=cdp.User(), max_periods=10
    )
    mine = delays(where="origin = 'JFK' AND delay > 0", columns={"late": "delay > 15"})
    for one, other in (
        (mine.sum("late", clip=(0.0, 1.0)), plain.sum("late", clip=(0.0, 1.0))),
        (mine.mean("late", clip=(0.0, 1.0), of="people"), plain.mean("late", clip=(0.0, 1.0), of="people")),
        (mine.variance("late", clip=(0.0, 1.0)), plain.variance("late", clip=(0.0, 1.0))),
        (mine.histogram("late", edges=[0.0, 0.5, 1.0]), plain.histogram("late", edges=[0.0, 0.5, 1.0])),
        (mine.count().by(late=[True, False]), plain.count().by(late=[1, 0])),
        (mine.sum("late", clip=(0.0, 1.0)).total(every="5D"), plain.sum("late", clip=(0.0, 1.0)).total(every="5D")),
    ):
        found, expected = (
            query.plan(epsilon=1.0, delta=1e-6).read(key="k", progress=lambda _: None) for query in (one, other)
        )
        assert all((a == b).all() for a, b in zip(found, expected, strict=True))
        assert any(part.any() for part in found)


def test_a_request_is_found_by_its_filter(tmp_path: Any) -> None:
    ledger = cdp.Ledger(tmp_path / "budget.db")
    ledger.open("flights", unit=cdp.User(), epsilon=4.0)
    query = delays().count()
    first = query.where("delay>0").plan(epsilon=1.0).release(ledger, dataset="flights", request="r")
    again = delays(where="(delay > 0)").count().plan(epsilon=1.0).release(ledger, dataset="flights", request="r")
    assert again.to_pandas().equals(first.to_pandas())  # the same filter, however it is written
    with pytest.raises(RequestConflict):
        query.where("delay > 1").plan(epsilon=1.0).release(ledger, dataset="flights", request="r")


def test_what_does_not_fit_is_refused_before_anything_is_read() -> None:
    columns = {"late": "delay > 15", "coast": "CASE WHEN origin = 'JFK' THEN 'east' END"}
    with pytest.raises(InvalidArgument, match=r"columns\['coast'\] must be such that a number"):
        delays(columns=columns).sum("coast", clip=(0.0, 1.0))
    with pytest.raises(InvalidArgument, match="time must be a column of the table"):
        delays(columns={"at": "delay + 1"})
    with pytest.raises(InvalidArgument, match="where"):
        delays().count().where(None)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match=r"got 'random\(\)'"):
        delays(where="random() < 0.5")
    document = to_document(delays(where="delay > 0").count().table)
    with pytest.raises(InvalidArgument, match="where"):
        load({**document, "where": "now() > 0"}, Table)
    with pytest.raises(InvalidArgument, match="columns"):
        load({**document, "columns": []}, Table)
    with pytest.raises((InvalidArgument, UnknownDocument)):
        load({**document, "columns": ["late"]}, Table)


# Where those protected are called something, no sentence of a plan, a release or its page calls them people.


_WORDS = re.compile(r"\b(person|people|user)('s)?\b", re.IGNORECASE)

UNITS: list[RecordUnit] = [User(called="aircraft"), UserPeriod("1D", called="aircraft"), Window(2, called="aircraft")]
FLIGHTS = pd.DataFrame(
    {
        "at": pd.to_datetime(["2026-01-01 05:00", "2026-01-01 23:00", "2026-01-02 07:00", "2026-01-03 12:00"]),
        "tail": ["d-abcd", "d-efgh", "d-abcd", "d-ijkl"],
        "hours": [2.0, 11.5, 3.0, 1.0],
    }
)


def flights(unit: RecordUnit) -> TimeSeries:
    most = 3 if unit.whole_person else None
    return TimeSeries(
        FLIGHTS, time="at", user="tail", every="1D", start="2026-01-01", end="2026-01-04", unit=unit, max_periods=most
    )


def plans(series: TimeSeries) -> list[Plan]:
    queries = [
        series.count(), series.count(at_most=4), series.sum("hours", clip=(0, 12)),
        series.mean("hours", clip=(0, 12), of="people"), series.mean("hours", clip=(0, 12), of="totals"),
        series.histogram("hours", edges=[0, 4, 8, 12], of="rows", at_most=2), series.variance("hours", clip=(0, 12)),
        series.histogram("hours", edges=[0, 4, 8, 12]),
    ]  # fmt: skip
    return [query.plan(epsilon=1.0) for query in queries]


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_no_sentence_of_a_plan_or_its_release_says_people(unit: RecordUnit, tmp_path: Path) -> None:
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("fleet", unit=unit, epsilon=100.0)
        made = plans(flights(unit))
        # A measure says the same of each unit, and a unit of each measure.
        for number, plan in enumerate(made if SCALE >= 1 else made[UNITS.index(unit) :: len(UNITS)]):
            release = plan.release(ledger, dataset="fleet", request=f"{number}")
            page = release.report(tmp_path / f"{number}.html").read_text(encoding="utf-8")
            told = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
            for text in (str(plan), repr(plan), str(release), re.sub(r"<[^>]+>", " ", told)):
                assert "aircraft" in text
                assert not _WORDS.search(text), _WORDS.search(text)


def test_the_owner_reads_what_the_protected_are_called() -> None:
    said = str(plans(flights(UNITS[0]))[2].diagnose(bounds=True, progress=lambda _: None))
    assert "Aircraft     3;" in said
    assert "pairs of one aircraft and a cell" in " ".join(said.split())
    assert "People" not in said

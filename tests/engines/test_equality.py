"""The same file and key give the same totals to the last digit, whatever reads it and however it is stored."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest

from chronodp.engines import (
    DuckDB,
    Grouping,
    Question,
    Record,
    Scaling,
    Totals,
    find_source,
    people_index as people_index_module,
    read_series,
    reference_totals,
)
from chronodp.engines.partitions import Partitions
from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar, Grid
from tests.conftest import SCALE, Trials
from tests.engines.neighbours import random_world
from tests.engines.worlds import run_duckdb, run_reference, run_statement, to_arrow

CALENDARS = (
    Calendar("1h", "2026-01-01", "2026-01-03"), Calendar("1D", "2026-10-23", "2026-10-28", "Europe/Berlin"),
    Calendar("1mo", "2026-01-01", "2027-01-01", "America/New_York"), Calendar("7s", "2026-01-01", "2026-01-01T00:07"),
)  # fmt: skip
REGION = Grouping("region", ("north", "south"))
UNLIKE = Scaling(0, (1.0, 0.3))


def questions(calendar: Calendar) -> list[Question]:
    summed = Question(calendar, "at", "who", "number", Grid(2.0**-20), (-(2**20), 3 * 2**20), (REGION,))
    return [
        replace(summed, max_periods=2, max_places=1), replace(summed, max_periods=3), replace(summed, user=None),
        replace(summed, max_periods=2, max_places=1, scaling=UNLIKE),
        replace(summed, rows=2, max_periods=2, scaling=UNLIKE), replace(summed, user=None, scaling=UNLIKE),
        replace(summed, squares=0, user=None), replace(summed, squares=5, max_periods=3),
        replace(summed, value=None, clip=(0, 2**20), max_periods=1, max_places=2),
        replace(summed, edges=(-2.0, 0.0, 0.1, 3.0), clip=(0, 2**20), max_periods=2, max_places=2),
        replace(summed, rows=3, max_periods=2, max_places=1), replace(summed, rows=1, user=None),
        replace(summed, rows=2, edges=(-2.0, 0.0, 0.1, 3.0), clip=(0, 2**20), max_periods=2, max_places=1),
        replace(summed, rows=1, edges=(-2.0, 0.0, 0.1, 3.0), clip=(0, 2**20)),
        replace(summed, rows=1, edges=(-2.0, 0.0, 0.1, 3.0), clip=(0, 2**20), user=None),
    ]  # fmt: skip


def mine(calendar: Calendar) -> list[tuple[int, Question]]:
    """Return all questions at stated counts, and otherwise a fourth: periods are numbered before anything is chosen."""
    numbered = list(enumerate(questions(calendar)))
    return numbered if SCALE >= 1 else numbered[CALENDARS.index(calendar) :: len(CALENDARS)]


def same(one: Totals, other: Totals) -> bool:
    return all(map(np.array_equal, astuple(one), astuple(other)))


@pytest.mark.parametrize("calendar", CALENDARS, ids=str)
@pytest.mark.slow
def test_every_engine_agrees_with_the_reference(calendar: Calendar, trials: Trials) -> None:
    chance = random.Random(1)
    worlds = [random_world(chance, calendar, most=60) for _ in range(trials(2000, least=100))]
    for index, question in mine(calendar):
        expected = run_reference(worlds, question, f"key {index}")
        assert expected.people.sum() > 100
        assert same(run_duckdb(worlds, question, f"key {index}"), expected)
        assert same(run_statement(worlds, question, f"key {index}"), expected)
        assert same(run_statement(worlds, question, f"key {index}", sparse=True), expected)


@pytest.fixture(scope="module")
def town(trials: Trials) -> tuple[pyarrow.Table, Question, Totals]:
    calendar = Calendar("1h", "2026-01-01", "2026-01-08")
    chance = random.Random(7)
    first, last = int(calendar.edges[0]), int(calendar.edges[-1])
    rows = [
        Record(
            f"m{min(int(chance.expovariate(0.02)), 500)}",
            chance.randrange(first - 10**10, last + 10**10),
            chance.choice([chance.uniform(-1, 6), 0.1, float("nan"), None]),
            (chance.choice(["north", "south", "lost", None]),),
        )
        for _ in range(trials(20_000, least=5000))
    ]
    question = replace(questions(calendar)[0], max_periods=5)
    return to_arrow(rows, ["region"]), question, reference_totals(rows, question, key="k")


def stored_forms(table: pyarrow.Table, folder: Path) -> dict[str, Callable[[], Any]]:
    shuffled = table.take(np.random.default_rng(3).permutation(len(table)))
    third = len(table) // 3

    def write(name: str, **options: Any) -> str:
        pyarrow.parquet.write_table(shuffled, folder / name, **options)
        return str(folder / name)

    def split() -> str:
        for number, begin in enumerate(range(0, len(table), third)):
            pyarrow.parquet.write_table(table.slice(begin, third), folder / f"part-{number}.parquet")
        return str(folder / "part-*.parquet")

    def text() -> str:
        clocks = table.set_column(1, "at", table["at"].cast(pyarrow.string()))
        pyarrow.csv.write_csv(clocks, folder / "rows.csv")
        return str(folder / "rows.csv")

    def relation() -> Any:
        return duckdb.connect().from_arrow(table)

    return {
        "arrow": lambda: table,
        "shuffled": lambda: shuffled,
        "parquet": lambda: write("plain.parquet"),
        "recompressed": lambda: write("packed.parquet", compression="zstd", row_group_size=777, use_dictionary=False),
        "split": split,
        "csv": text,
        "pandas": table.to_pandas,
        "polars": lambda: polars.from_arrow(table),
        "lazy polars": lambda: polars.from_arrow(table).lazy(),  # type: ignore[union-attr]
        "relation": relation,
        "dictionary": lambda: table.set_column(0, "who", table["who"].dictionary_encode()),
    }


FORMS = ("arrow", "shuffled", "parquet", "recompressed", "split", "csv", "pandas", "polars", "lazy polars", "relation")


@pytest.mark.slow
@pytest.mark.parametrize("form", [*FORMS, "dictionary"])
def test_every_form_of_the_same_rows_gives_the_same(
    form: str, town: tuple[pyarrow.Table, Question, Totals], tmp_path: Path
) -> None:
    table, question, expected = town
    source = find_source(stored_forms(table, tmp_path)[form]())
    assert same(DuckDB(threads=2).totals(source, question, key="k"), expected)


@pytest.mark.slow
def test_rows_that_went_to_disk_give_the_same(
    town: tuple[pyarrow.Table, Question, Totals], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table, question, expected = town
    for name, value in (("_TARGET", 500), ("_BLOCKS", 64), ("_WORD", 14), ("_ASKED", 100)):
        monkeypatch.setattr(people_index_module, name, value)
    monkeypatch.setattr("chronodp.engines.embedded._BATCH", 2048)
    engine = DuckDB(memory=2**26, threads=2, folder=str(tmp_path))
    monkeypatch.setattr("chronodp.engines.embedded.Partitions", _tiny)
    assert same(engine.totals(find_source(table), question, key="k"), expected)
    assert not list(tmp_path.iterdir())


def _tiny(types: tuple[type[np.generic], ...], *, memory: int, folder: str | None) -> Partitions:
    return Partitions(types, memory=min(memory, 10_000), folder=folder)


def largest_squares(user: str | None) -> tuple[pyarrow.Table, Question, Totals]:
    """Return people at both ends of the widest clip, and what their squares come to."""
    calendar = CALENDARS[0]
    widest = Question(calendar, "at", user, "number", Grid(1.0), (-(2**30), 2**30), squares=32)
    first = int(calendar.edges[0])
    records = [Record(f"m{index}", first, number) for index, number in enumerate((-1e300, 1e300, 5e8 + 1, 0.0))]
    expected = reference_totals(records, widest, key="k")
    assert expected.squares[0] == 2 * 2**62 // 2**32 + (10**9 + 2) ** 2 // 2**32
    return to_arrow(records, []), widest, expected


@pytest.mark.parametrize("user", ["who", None])
def test_the_largest_squares_fit_64_bits(user: str | None) -> None:
    table, widest, expected = largest_squares(user)
    assert same(DuckDB().totals(find_source(table), widest, key="k"), expected)


def test_squares_that_could_leave_64_bits_are_refused_before_anything_is_read() -> None:
    with pytest.raises(InvalidArgument, match="clip must be at most 2,147,483,648 steps wide where squares are added"):
        Question(CALENDARS[0], "at", "who", "number", Grid(1.0), (-(2**30) - 1, 2**30), squares=32)
    with pytest.raises(InvalidArgument, match="squares must be a shift from 0 to 62 bits"):
        Question(CALENDARS[0], "at", "who", "number", Grid(1.0), (0, 1), squares=63)


@pytest.mark.parametrize("kind", ["naive", "date", "aware", "nanoseconds", "text"])
def test_clocks_of_every_kind(kind: str, tmp_path: Path) -> None:
    berlin = Calendar("1h", "2026-10-25", "2026-10-26", "Europe/Berlin")  # 25 hours, from two to three twice
    naive = ["2026-10-25T00:30:00", "2026-10-25T02:30:00", "2026-10-25T03:30:00", "2026-10-25T23:59:59", "2026-10-26"]
    places = {"naive": [0, 2, 4, 24], "nanoseconds": [0, 2, 4, 24], "text": [0, 2, 3, 4, 24], "date": [0]}
    question = Question(berlin, "at", None, None, Grid(1.0), (0, 1))
    if kind == "text":
        lines = ["at,who", *(f"{clock},a" for clock in naive), "2026-10-25T02:30:00+01:00,a", "yesterday,a"]
        (tmp_path / "rows.csv").write_text("\n".join(lines), encoding="utf-8")
        data: Any = tmp_path / "rows.csv"
    else:
        kinds = {
            "naive": pyarrow.timestamp("us"), "nanoseconds": pyarrow.timestamp("ns"), "date": pyarrow.date32(),
            "aware": pyarrow.timestamp("ns", tz="Europe/Berlin"),
        }  # fmt: skip
        clocks = np.array(naive, dtype="datetime64[us]")
        data = pyarrow.table({"at": pyarrow.array(clocks).cast(kinds[kind], safe=False)})
    found = np.flatnonzero(DuckDB().totals(find_source(data), question, key="").sums).tolist()
    if kind == "aware":
        # Clocks that were cast say UTC: half past midnight there is half past two, the first time, in Berlin.
        assert found == [2, 4, 5]
    else:
        assert found == places[kind]


# One series read on a public grid; what is unusable is left out.


ROWS = ["at,who,v", "2026-01-03,ann,3", "2026-01-01,ann,1", "2026-01-02,ann,2", "2026-01-02,bo,7", "nonsense,bo,8"]
ROWS += ["2026-01-02,bo,text", "2026-01-02,,9", "2026-01-02,bo,inf", "2026-01-02,bo,"]
DAYS = Calendar("1D", "2026-01-01", "2026-01-05")


@pytest.mark.slow
def test_one_series_keeps_its_places_whatever_rows_there_are(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("\n".join(ROWS), encoding="utf-8")
    whole = read_series(find_source(file), DAYS, time="at", value="v")
    np.testing.assert_array_equal(whole, [1.0, 6.0, 3.0, np.nan])  # the second: 2, 7 and 9
    for left_out in range(1, len(ROWS)):
        file.write_text("\n".join(ROWS[:left_out] + ROWS[left_out + 1 :]), encoding="utf-8")
        without = read_series(find_source(file), DAYS, time="at", value="v")
        assert int((~np.isclose(without, whole, equal_nan=True)).sum()) <= 1

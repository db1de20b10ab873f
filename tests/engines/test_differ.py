"""Whatever one unit writes into a table, and in whatever form: others are read as before, and nothing else shows."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import math
import random
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet
import pytest

from chronodp.cli import main
from chronodp.engines import DuckDB, Engine, Progress, Question, Record, Reference, Spark, Totals, find_source
from chronodp.engines.reading import Moment, read_name, read_number, read_time
from chronodp.errors import UnreadableSource, UnsuitableColumn
from chronodp.privacy import Grid
from tests.conftest import Trials
from tests.engines.differ import (
    TOKYO,
    Query,
    Reader,
    Table,
    by_rule,
    by_statement,
    difference,
    draw_attack,
    embedded,
    to_instant,
    without_owners_lines,
)
from tests.engines.forms import FORMS, Row
from tests.engines.kinds import FOUL

Records = Callable[[Table, Query], Iterable[Record]]


def first_row_decides(table: Table, query: Query) -> Iterable[Record]:
    """A column of objects has the type of its first cell: with a zone, or without."""
    absolute = next((row.moment.absolute for row in table.rows if row.moment is not None), False)
    return (_moved(row, query, absolute=absolute) for row in table.rows)


def one_type_for_all_files(table: Table, query: Query) -> Iterable[Record]:
    """Files agree on one type: if one has a zone, all times are instants."""
    absolute = any(piece.kinds.at.endswith("+") for piece in table.pieces if piece.rows)
    return (_moved(row, query, absolute=absolute) for row in table.rows)


def offsets_shifted_by_the_zone(table: Table, query: Query) -> Iterable[Record]:
    """An instant becomes a clock in UTC, which is then read as a clock of the time zone."""
    return (_moved(row, query, absolute=False) for row in table.rows)


def quotes_across_lines(table: Table, query: Query) -> Iterable[Record]:
    """A record ends where its quotes close, on whatever line."""
    for path in map(Path, table.data):
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        encoding = "utf-8-sig" if query.reading.encoding == "utf-8" else query.reading.encoding
        text = content.decode(encoding, errors="replace").replace("\r\n", "\n").replace("\r", "\n")
        separator = text[3]  # after the name of the first column
        for cells in list(csv.reader(io.StringIO(text), delimiter=separator))[1:]:
            if len(cells) == 5:
                who, at, number, region, _ = cells
                instant = to_instant(read_time(at, query.reading), query.calendar)
                yield Record(read_name(who), instant, read_number(number, query.reading), (region,))


def mixed_columns_refused(table: Table, _: Query) -> Iterable[Record]:
    """One text among numbers, or one number among texts, is an error."""
    kinds = {type(row.cells[0]) for row in table.rows if row.cells[0] is not None}
    if len(kinds) > 1:
        raise UnsuitableColumn("user: column 'who' holds cells of several types")
    return (row.record for row in table.rows)


def foul_texts_refused(table: Table, _: Query) -> Iterable[Record]:
    """A text that is none in its encoding damages the file."""
    if any(cell is FOUL for row in table.rows for cell in row.cells):
        raise UnreadableSource("the file is damaged")
    return (row.record for row in table.rows)


def missing_times_warned_of(table: Table, _: Query) -> Iterable[Record]:
    """Whoever asks is told that rows are left out."""
    if any(row.moment is None for row in table.rows):
        warnings.warn("rows without a time are left out", stacklevel=1)
    return (row.record for row in table.rows)


def missing_times_printed(table: Table, _: Query) -> Iterable[Record]:
    for row in table.rows:
        if row.moment is None:
            print("a row is left out")
        yield row.record


class _Counting(Reference):
    """Tells how far it is by the rows that it has read."""

    def totals(self, source: Any, question: Question, *, key: str, progress: Progress = lambda _: None) -> Totals:
        for number in range(len(source)):
            progress(number / len(source))
        return super().totals(source, question, key=key, progress=progress)


def progress_by_rows(table: Table, _: Query) -> tuple[object, Engine]:
    return [row.record for row in table.rows], _Counting()


def a_second_reader(table: Table, query: Query) -> Iterable[Record]:
    """What one library gives up another reads again, whose times are 64 bits of nanoseconds and come round."""
    again = any(cell is FOUL for row in table.rows for cell in row.cells)
    for row in table.rows:
        moment = row.moment
        if again and moment is not None:
            nanoseconds = (moment.microseconds * 1000 + 2**63) % 2**64 - 2**63
            moment = replace(moment, microseconds=nanoseconds // 1000)
        yield replace(row.record, instant=to_instant(moment, query.calendar))


def _by_rule(records: Records) -> Reader:
    return lambda table, query: (list(records(table, query)), Reference())


def _moved(row: Row, query: Query, *, absolute: bool) -> Record:
    moment = row.moment and Moment(row.moment.microseconds, absolute)
    return replace(row.record, instant=to_instant(moment, query.calendar))


class Mutant(NamedTuple):
    """A form, a reader that is wrong for it, and how that shows."""

    form: str
    reader: Reader
    caught: str


MUTANTS = {
    "the first row decides the type": Mutant("pandas object", _by_rule(first_row_decides), "changed by"),
    "files agree on one type": Mutant("parquet", _by_rule(one_type_for_all_files), "changed by"),
    "offsets shifted by the zone": Mutant("csv", _by_rule(offsets_shifted_by_the_zone), "read otherwise"),
    "quotes across lines": Mutant("csv", _by_rule(quotes_across_lines), "read otherwise"),
    "mixed columns refused": Mutant("pandas", _by_rule(mixed_columns_refused), "refusal"),
    "foul texts refused": Mutant("parquet", _by_rule(foul_texts_refused), "refusal"),
    "a second reader": Mutant("parquet of enums", _by_rule(a_second_reader), "changed by"),
    "missing times warned of": Mutant("arrow", _by_rule(missing_times_warned_of), "warned"),
    "missing times printed": Mutant("arrow", _by_rule(missing_times_printed), "printed"),
    "progress by rows": Mutant("arrow", progress_by_rows, "progress"),
}


TABLES = 3  # of an attack
ASKED = (
    ("--count", "--by", "region=north,south"),
    ("--sum", "number", "--clip", "-2", "3", "--where", "region = 'north' OR number > 1", "--missing", "0.1"),
    ("--sum", "number", "--find", "clip"),
    ("--count", "--discover", "region", "--max-keys", "2"),
    ("--histogram", "number", "--edges", "0,1,2"),
)
DAYS = (
    "--time", "at", "--user", "who", "--max-periods", "2", "--every", "1D",
    "--start", "2026-01-05", "--end", "2026-01-10", "--timezone", "Asia/Tokyo",
)  # fmt: skip
EMBEDDED = [form for form in FORMS if form != "spark"]


@pytest.mark.slow
@pytest.mark.parametrize("form", EMBEDDED)
def test_no_unit_reaches_others(form: str, trials: Trials, tmp_path: Path) -> None:
    chance = random.Random(f"attack {form}")
    for number in range(trials(10_000 // TABLES // len(EMBEDDED) + 1)):
        attack = draw_attack(chance, form, tmp_path / str(number))
        assert difference(attack, by_statement if number % 4 == 3 else embedded) is None, attack.words


def test_no_unit_reaches_others_on_spark(spark: Any, trials: Trials, tmp_path: Path) -> None:
    def read_spark(table: Table, _: Query) -> tuple[object, Engine]:
        return spark.read.parquet(written(table, tmp_path)), Spark()

    def read_what_spark_wrote(table: Table, query: Query) -> tuple[object, Engine]:
        path = written(table, tmp_path)
        folder = Path(path).with_suffix(".spark")
        spark.read.parquet(path).coalesce(1).write.parquet(str(folder))
        (file,) = folder.glob("*.parquet")
        return embedded(replace(table, data=[str(file.rename(folder / "rows.parquet"))]), query)

    chance = random.Random("attack Spark")
    for number in range(trials(60, least=2)):
        attack = draw_attack(chance, "spark", tmp_path / str(number))
        assert difference(attack, read_spark) is None, attack.words
        # Spark's own times have lost their zone in its files, so that others read them as clocks.
        moved = replace(attack, tables=tuple(replace(table, ruled=False) for table in attack.tables))
        assert difference(moved, read_what_spark_wrote) is None, attack.words


def written(table: Table, folder: Path) -> str:
    """Write a table that Spark shall read to a file of its own, and return its path."""
    path = Path(tempfile.mkdtemp(dir=folder)) / "rows.parquet"
    pyarrow.parquet.write_table(table.data, path)
    return str(path)


@pytest.mark.slow
@pytest.mark.parametrize("form", EMBEDDED)
def test_the_plain_rule_stays_within_the_stated_change(form: str, trials: Trials, tmp_path: Path) -> None:
    chance = random.Random(f"rule {form}")
    for number in range(trials(200)):
        attack = draw_attack(chance, form, tmp_path / str(number))
        assert difference(attack, by_rule) is None, attack.words


@pytest.mark.parametrize("numbers", [[1.0, math.nan], [1.0, math.nan, math.inf], [1.0, math.nan, 7.5]])
def test_what_a_file_says_of_its_numbers_decides_nothing(numbers: list[float], tmp_path: Path) -> None:
    """Statistics in a Parquet file leave out what is no number, and databases conclude from them."""
    places = range(len(numbers))
    ones: list[Any] = [1.0 for _ in places]
    names: list[Any] = [str(place) for place in places]
    for column, who, number in (("number", names, numbers), ("who", numbers, ones)):
        table = pyarrow.table({"at": [dt.date(2026, 1, 6) for _ in places], "who": who, "number": number})
        path = tmp_path / f"{column}.parquet"
        pyarrow.parquet.write_table(table, path)
        question = Question(TOKYO, "at", "who", "number", Grid(1.0), (0, 1))
        found = DuckDB(threads=1).totals(find_source(path), question, key="k")
        assert found.people.sum() == (2 if column == "number" and 7.5 in numbers else 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_readers_that_let_one_decide_for_others_are_caught(name: str, tmp_path: Path) -> None:
    mutant = MUTANTS[name]
    chance = random.Random(f"decides {name}")
    attacks = (draw_attack(chance, mutant.form, tmp_path / str(number)) for number in range(300))
    found = (difference(attack, mutant.reader) for attack in attacks)
    assert any(one is not None and one.startswith(mutant.caught) for one in found)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "parquet", "parquet of enums"])
def test_a_command_ends_and_complains_alike(
    form: str, trials: Trials, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a unit changes of a release is its numbers: they have noise, and stand on standard output."""
    chance = random.Random(f"command {form}")
    monkeypatch.chdir(tmp_path)
    refused = 0
    assert called(
        monkeypatch, capsys, "budget", "open", "people", "--epsilon", "1e6", "--delta", "0.1", "--reserve", "0.01"
    ) == (0, "")
    for number in range(trials(100, least=5)):
        attack = draw_attack(chance, form, tmp_path / str(number))
        reading = attack.query.reading
        words = ["--time-format", reading.time_format, "--encoding", reading.encoding]
        words += ["--separator", reading.separator] if reading.separator else []
        ends = []
        for place, table in enumerate(attack.tables):
            files = str(Path(table.data[0]).parent / "*")
            request = ("--dataset", "people", "--request", f"{number}-{place}", "--epsilon", "1", "--delta", "1e-6")
            asked = (*words, *ASKED[number % len(ASKED)], *DAYS, *request)
            ends.append(called(monkeypatch, capsys, "release", files, *asked))
        assert ends[0] == ends[1] == ends[2], attack.words
        refused += ends[0][0] != 0
    assert 2 * refused <= number


def called(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int | str | None, str]:
    """Return a command's exit code, and what it says on standard error to anybody but the owner."""
    monkeypatch.setattr(sys, "argv", ["chronodp", *arguments])
    code: int | str | None = 0
    try:
        main()
    except SystemExit as stopped:
        code = stopped.code
    return code, without_owners_lines(capsys.readouterr().err)

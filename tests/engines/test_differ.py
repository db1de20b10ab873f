"""Whatever one unit writes into a table, and in whatever form: others are read as before, and nothing else shows."""

from __future__ import annotations

import datetime as dt
import math
import random
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from chronodp.cli import main
from chronodp.engines import DuckDB, Engine, Question, Spark, find_source
from chronodp.privacy import Grid
from tests.conftest import Trials
from tests.engines.differ import (
    TOKYO,
    Query,
    Table,
    by_rule,
    by_statement,
    difference,
    draw_attack,
    embedded,
    without_owners_lines,
)
from tests.engines.first_readers import MUTANTS
from tests.engines.forms import FORMS

TABLES = 3  # of an attack
ASKED = (
    ("--count", "--by", "region=north,south"),
    ("--sum", "number", "--clip", "-2", "3", "--where", "region = 'north' OR number > 1", "--missing", "0.1"),
    ("--sum", "number", "--find", "clip"),
    ("--count", "--discover", "region", "--max-keys", "2"),
    ("--histogram", "number", "--edges", "0,1,2"),
)
DAYS = (
    "--time", "at", "--user", "who", "--max-periods", "2", "--every", "1D", "--start", "2026-01-05", "--end",
    "2026-01-10", "--timezone", "Asia/Tokyo",
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

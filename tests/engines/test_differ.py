"""Whatever one unit writes into a table, and in whatever form: others are read as before, and nothing else shows."""

from __future__ import annotations

import datetime as dt
import math
import random
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from chronodp.engines import DuckDB, Engine, Question, Spark, find_source
from chronodp.privacy import Grid
from tests.conftest import Trials
from tests.engines.differ import TOKYO, Query, Table, by_rule, difference, draw_attack, embedded
from tests.engines.first_readers import MUTANTS
from tests.engines.forms import FORMS

TABLES = 3  # of an attack
EMBEDDED = [form for form in FORMS if form != "spark"]


@pytest.mark.long
@pytest.mark.parametrize("form", EMBEDDED)
def test_no_unit_reaches_others(form: str, trials: Trials, tmp_path: Path) -> None:
    chance = random.Random(f"attack {form}")
    for number in range(trials(10_000 // TABLES // len(EMBEDDED) + 1)):
        attack = draw_attack(chance, form, tmp_path / str(number))
        assert difference(attack, embedded) is None, attack.words


def test_no_unit_reaches_others_on_spark(spark: Any, trials: Trials, tmp_path: Path) -> None:
    def read_spark(table: Table, _: Query) -> tuple[object, Engine]:
        path = str(tmp_path / f"{id(table)}.parquet")
        pyarrow.parquet.write_table(table.data, path)
        return spark.read.parquet(path), Spark()

    chance = random.Random("attack Spark")
    for number in range(trials(60, least=2)):
        attack = draw_attack(chance, "spark", tmp_path / str(number))
        assert difference(attack, read_spark) is None, attack.words


@pytest.mark.long
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


@pytest.mark.long
@pytest.mark.parametrize("name", MUTANTS)
def test_readers_that_let_one_decide_for_others_are_caught(name: str, tmp_path: Path) -> None:
    mutant = MUTANTS[name]
    chance = random.Random(f"decides {name}")
    attacks = (draw_attack(chance, mutant.form, tmp_path / str(number)) for number in range(300))
    found = (difference(attack, mutant.reader) for attack in attacks)
    assert any(one is not None and one.startswith(mutant.caught) for one in found)

"""What bounds people, what finds bounds, and who holds which key: Spark gives the integers of the reference."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

from chronodp.engines import (
    DuckDB,
    Spark,
    find_source,
    reference_held_keys,
    reference_losses,
    reference_missing,
    reference_sizes,
    reference_totals,
)
from tests.conftest import SCALE, Trials
from tests.engines.finding import (
    asked_lengths,
    asked_losses,
    asked_missing,
    asked_scaled,
    asked_sizes,
    asked_stays,
    crowd,
    largest,
)
from tests.engines.held_keys import ASKED, digest, keyed, keyed_table, random_records, weights_for
from tests.engines.worlds import to_arrow


def test_spark_takes_votes_and_losses_as_the_reference_does(spark: Any, trials: Trials, tmp_path: Path) -> None:
    records = crowd(random.Random(6), trials(1000, least=60))
    pyarrow.parquet.write_table(to_arrow(records, ["region"]), tmp_path / "crowd.parquet")
    source = find_source(spark.read.parquet(str(tmp_path / "crowd.parquet")))
    sizes, losses = list(asked_sizes()), list(asked_losses())
    of_rows = [asked for asked in sizes if asked.rows]
    # The largest sizes, of whole persons and of periods; others add no text of Spark's own.
    more = ([sizes[1], *of_rows[:3:2]], [losses[3]]) if SCALE >= 1 else ([], [])
    for asked in (sizes[4], sizes[-2], of_rows[3], of_rows[-1], *more[0]):
        assert Spark().sizes(source, asked) == reference_sizes(records, asked)
    for lost in (losses[4], losses[9], losses[-1], *more[1]):
        assert Spark().losses(source, lost) == reference_losses(records, lost)
    assert sizes[4].means is losses[9].means is True


# Who was active lately: Spark gives the integers of the reference.


def test_spark_finds_the_stays_of_the_reference(spark: Any, trials: Trials, tmp_path: Path) -> None:
    records = crowd(random.Random(8), trials(1500, least=80))
    table = to_arrow(records, ["region"])
    pyarrow.parquet.write_table(table, tmp_path / "crowd.parquet")
    source = find_source(spark.read.parquet(str(tmp_path / "crowd.parquet")))
    # The first and the last have both windows and all limits, with and without; all others DuckDB is asked.
    for index, question in enumerate(list(asked_stays())[:: 1 if SCALE >= 1 else 23]):
        found, expected = Spark().totals(source, question, key="k"), reference_totals(records, question, key="k")
        assert np.array_equal(found.sums, expected.sums)
        assert np.array_equal(found.people, expected.people)
        if index % 4 == 1:
            told = Spark().tally(source, question, key="k")
            assert told == DuckDB().tally(find_source(table), question, key="k")


# Whole series scaled to a length: Spark gives the integers of the reference.


def test_spark_scales_as_the_reference_does(spark: Any, trials: Trials, tmp_path: Path) -> None:
    records = [*crowd(random.Random(5), trials(2000, least=100)), *largest()]
    table = to_arrow(records, ["region"])
    pyarrow.parquet.write_table(table, tmp_path / "crowd.parquet")
    source = find_source(spark.read.parquet(str(tmp_path / "crowd.parquet")))
    for question in trials.some(list(asked_scaled()), 5):  # no length, the longest, and every grid
        found, expected = Spark().totals(source, question, key="k"), reference_totals(records, question, key="k")
        assert np.array_equal(found.sums, expected.sums)
        assert np.array_equal(found.people, expected.people)
    for index, asked in enumerate(trials.some(list(asked_missing())[1::4], 2)):
        assert Spark().missing(source, asked, key="k") == reference_missing(records, asked, key="k")
        if index and trials(100) < 100:  # the owner's look asks the same of every length
            continue
        told = Spark().tally(source, asked.question, key="k")
        assert told == DuckDB().tally(find_source(table), asked.question, key="k")
    for losses in trials.some(list(asked_lengths()), 4):  # every grid and every cap
        assert Spark().losses(source, losses) == reference_losses(records, losses)


# Who holds which key: Spark gives the integers of the reference, however rows lie and a column is compared.


# Public keys are met in windows, too, and whole persons by what is derived.
NAMES = ["user-period", "window", "event", "rows alone", "derived", *(["beside public keys"] if SCALE >= 1 else [])]


@pytest.mark.parametrize("name", NAMES)
def test_spark_holds_what_the_reference_holds(name: str, spark: Any, tmp_path: Path) -> None:
    asked = ASKED[name]
    records = random_records(random.Random(name), 500, pages=20)
    table = keyed_table(records)
    for part in range(3):
        pyarrow.parquet.write_table(table.slice(part * 200, 200), tmp_path / f"{part}.parquet")
    expected = reference_held_keys(keyed(records, asked), asked, key="k")
    frame = spark.read.parquet(str(tmp_path))
    found = Spark().held_keys(find_source(frame.repartition(5, "region")), asked, key="k")
    assert found.keys == expected.keys
    # One text asks for weights whether keys are dropped or not; many rows are asked both.
    assert digest(found, asked, undropped=SCALE >= 1) == digest(expected, asked, undropped=SCALE >= 1)


def test_many_rows_have_the_digest_of_duckdb(spark: Any, trials: Trials, tmp_path: Path) -> None:
    asked, path = ASKED["user"], str(tmp_path / "all.parquet")
    table = keyed_table(random_records(random.Random(5), trials(100_000, least=20_000), people=5_000, pages=9_000))
    pyarrow.parquet.write_table(table, path, row_group_size=2_000)
    expected = DuckDB(threads=2).held_keys(find_source(table), asked, key="k")
    found = Spark().held_keys(find_source(spark.read.parquet(path).orderBy("number")), asked, key="k")
    assert digest(found, asked) == digest(expected, asked)


def test_a_collation_merges_no_keys(spark: Any) -> None:
    """A column that is compared without case: keys and people stay what their bytes are."""
    rows = [("ann", "A"), ("Ann", "a"), ("bo", "a"), ("cy", "B")]
    frame = spark.createDataFrame([(who, page) for who, page in rows], "who string, page string").selectExpr(
        "CAST(who AS STRING COLLATE UTF8_LCASE) AS who", "CAST(page AS STRING COLLATE UTF8_LCASE) AS page",
        "TIMESTAMP '2026-01-01 01:00:00' AS at", "0.0D AS number", "'north' AS region",
    )  # fmt: skip
    asked = ASKED["user"]
    held = Spark().held_keys(find_source(frame), asked, key="k")
    assert (held.keys, held.people.tolist()) == (("A", "B", "a"), [1, 1, 2])
    dropped = np.array([True, False, False])
    assert held.weigh(weights_for(asked), dropped).tolist() == [0, 2**16, 2**17]

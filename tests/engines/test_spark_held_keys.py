"""Who holds which key: Spark gives the integers of the reference, however rows lie and a column is compared."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

from chronodp.engines import DuckDB, Spark, find_source, reference_held_keys
from tests.conftest import SCALE, Trials
from tests.engines.held_keys import ASKED, digest, keyed, keyed_table, random_records, weights_for

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
        "CAST(who AS STRING COLLATE UTF8_LCASE) AS who",
        "CAST(page AS STRING COLLATE UTF8_LCASE) AS page",
        "TIMESTAMP '2026-01-01 01:00:00' AS at",
        "0.0D AS number",
        "'north' AS region",
    )
    asked = ASKED["user"]
    held = Spark().held_keys(find_source(frame), asked, key="k")
    assert (held.keys, held.people.tolist()) == (("A", "B", "a"), [1, 1, 2])
    dropped = np.array([True, False, False])
    assert held.weigh(weights_for(asked), dropped).tolist() == [0, 2**16, 2**17]

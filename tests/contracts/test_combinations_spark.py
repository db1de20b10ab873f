"""Spark releases every feature, in few questions, with the numbers of DuckDB."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas
import pyarrow.parquet
import pytest
from tests.contracts.combinations.asking import ledger_in, named, planned, released, same_ledger, table
from tests.contracts.combinations.doors import SPARK, unit_for
from tests.contracts.combinations.features import FEATURES

import chronodp as cdp

KNOWN = {feature.name: feature for feature in FEATURES}


@pytest.mark.parametrize("names", SPARK, ids=" with ".join)
def test_spark_releases_the_same_numbers_as_duckdb(spark: Any, tmp_path: Path, names: tuple[str, ...]) -> None:
    features = tuple(KNOWN[name] for name in names)
    unit, first = unit_for(features), tmp_path / "first"
    first.mkdir()
    ledger_in(first).close_connection()
    pyarrow.parquet.write_table(table(), tmp_path / "rows.parquet")
    frame = spark.read.parquet(str(tmp_path / "rows.parquet"))
    with same_ledger(first, tmp_path / "second") as duckdb, cdp.Ledger(first / "budget.db") as other:
        mine = released(planned(features, unit, frame).plan, other, unit, named(features))
        theirs = released(planned(features, unit, table()).plan, duckdb, unit, named(features))
    pandas.testing.assert_frame_equal(mine, theirs, check_exact=True)

"""Whole series scaled to a length: Spark gives the integers of the reference."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet

from chronodp.engines import DuckDB, Spark, find_source, reference_losses, reference_missing, reference_totals
from tests.conftest import Trials
from tests.engines.finding import crowd
from tests.engines.lengths import asked_lengths, asked_missing, asked_scaled, largest
from tests.engines.worlds import to_arrow


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

"""Who was active lately: Spark gives the integers of the reference."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet

from chronodp.engines import DuckDB, Spark, find_source, reference_totals
from tests.conftest import SCALE, Trials
from tests.engines.finding import crowd
from tests.engines.stays import asked_stays
from tests.engines.worlds import to_arrow


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

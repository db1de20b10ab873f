"""Votes and losses by which bounds are found: Spark gives the integers of the reference."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow.parquet

from chronodp.engines import Spark, find_source, reference_losses, reference_sizes
from tests.conftest import SCALE, Trials
from tests.engines.finding import asked_losses, asked_sizes, crowd
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

"""The page on Spark does what it says: its code runs, block after block."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import chronodp as cdp

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "release-from-spark.md"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_page_runs(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    meters = spark.range(500).selectExpr(
        "CAST(timestamp_seconds(1767225600 + 3600 * id) AS TIMESTAMP) AS read_at",
        "concat('meter ', id % 20) AS meter_id",
        "CAST(id % 7 AS DOUBLE) AS kwh",
        "IF(id % 2 = 0, 'north', 'south') AS region",
    )
    folder = str(tmp_path / "meters")
    meters.write.parquet(folder)
    meters.createOrReplaceTempView("meters")
    ledger = cdp.Ledger(tmp_path / "budget.db")
    ledger.open("meters", unit=cdp.User(), epsilon=4.0, delta=1e-6)
    names: dict[str, Any] = {"spark": spark, "folder": folder, "ledger": ledger, "released": []}
    names["checkpoint"] = str(tmp_path / "checkpoint")
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        exec(block, names)
    assert len(names["release"].to_pandas()) == 31 * 24 * 2
    assert names["named"].count().plan(epsilon=1.0).origin.source
    assert [row["window"] for row in names["released"]] == list(range(24))
    assert len(ledger.history("meters")) == 2

"""People who were active lately, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from tests.cli.conftest import run

FLAGS = (
    *("rows.parquet", "--time", "at", "--user", "who", "--every", "1D", "--start", "2026-01-07", "--end", "2026-02-06"),
    *("--active", "7D", "--epsilon", "1", "--delta", "1e-6"),
)
FILE = """
data = "rows.parquet"
time = "at"
user = "who"
every = "1D"
start = 2026-01-07
end = 2026-02-06
active = "7D"
max_stays = 2
epsilon = 1.0
delta = 1e-6
"""


@pytest.mark.slow
def test_flags_and_file_plan_and_release_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    days = [pd.Timestamp("2026-01-01") + pd.Timedelta(days=day) for day in range(36)]
    pd.DataFrame(
        [(f"p{who}", day) for who in range(50) for day in days[who % 7 :: 9]], columns=["who", "at"]
    ).to_parquet("rows.parquet")
    (tmp_path / "active.toml").write_text(FILE, encoding="utf-8")
    said = json.loads(run("plan", *FLAGS, "--max-stays", "2", "--json"))
    assert said == json.loads(run("plan", "-c", "active.toml", "--json"))
    assert said["design"]["table"]["measure"] == {"kind": "active", "max_stays": 2, "window": "7D"}
    assert said["alternatives"][0]["cap"] == "2 stays"
    both = json.loads(run("plan", *FLAGS, "--max-stays", "2", "--max-periods", "1", "--json"))
    assert {row["cap"] for row in both["alternatives"]} == {"2 stays", "1 active periods", "nobody cut"}
    run("budget", "open", "people", "--epsilon", "20", "--delta", "1e-5")
    run("release", *FLAGS, "--dataset", "people", "--request", "wau", "--out", "wau.json")
    assert "active" in (tmp_path / "wau.json").read_text(encoding="utf-8")

"""A release of more than a million numbers on the command line: Arrow out, checked by verify."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas
import pyarrow.ipc
import pytest

from chronodp.ledger import Ledger
from tests.cli.conftest import run


@pytest.mark.slow
def test_a_large_release_is_written_as_arrow_and_verified(
    tmp_path: Path, refuse: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("t,u\n2026-01-01 00:00:01,1\n", encoding="utf-8")
    run("budget", "open", "meters", "--epsilon", "4")
    asked = ["release", "t.csv", "--time", "t", "--user", "u", "--every", "1min", "--start", "2026-01-01"]
    asked += ["--end", "2028-01-01", "--max-periods", "2", "--count", "--epsilon", "1", "--dataset", "meters"]
    asked += ["--request", "r"]
    few = [argument.replace("2028-01-01", "2026-01-02") for argument in asked]
    assert "large.json" in refuse(*asked, "--out", "large.json")
    assert ".arrow for a release of 1,051,200 numbers (more than 1,048,576)" in refuse(*asked, "--json")
    assert ".json for a release of 1,440 numbers (no more than 1,048,576)" in refuse(*few, "--out", "few.arrow")
    with Ledger("budget.db") as ledger:
        assert ledger.status("meters").charges == 0
        key = ledger.public_key
    run(*asked, "--out", "large.arrow", "--out", "large.parquet")
    frame = pandas.read_parquet("large.parquet")
    assert len(frame) == 1_051_200
    assert frame["time"].is_monotonic_increasing
    assert "belongs to this release, with every number of it" in run("verify", "large.arrow", "--public-key", key)
    _change_a_number(Path("large.arrow"))
    assert "part 1 of 2 of the numbers is not the one" in refuse("verify", "large.arrow", "--public-key", key, code=1)


def _change_a_number(path: Path) -> None:
    # A number, not a byte: the parts are packed, and whether a flipped byte can be unpacked hangs on the noise.
    table = pyarrow.ipc.open_file(path.read_bytes()).read_all()
    first, *others = table.to_batches()
    numbers = first.column(0).to_numpy().copy()
    numbers[5] += 1
    with pyarrow.ipc.new_file(str(path), table.schema) as writer:
        for batch in (pyarrow.record_batch([pyarrow.array(numbers)], schema=table.schema), *others):
            writer.write_batch(batch)


@pytest.mark.slow
def test_a_table_that_is_written_in_pieces_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("t,u\n2026-01-01 00:00:01,1\n", encoding="utf-8")
    run("budget", "open", "meters", "--epsilon", "4")
    asked = ["release", "t.csv", "--time", "t", "--user", "u", "--every", "1h", "--start", "2026-01-01"]
    asked += ["--end", "2026-01-02", "--max-periods", "2", "--count", "--epsilon", "1", "--dataset", "meters"]
    asked += ["--request", "r"]
    run(*asked, "--out", "whole.csv", "--out", "whole.parquet")
    monkeypatch.setattr("chronodp.series.shown_view._MOST_AT_ONCE", 7)
    run(*asked, "--out", "pieces.csv", "--out", "pieces.parquet")
    assert Path("whole.csv").read_bytes() == Path("pieces.csv").read_bytes()
    pandas.testing.assert_frame_equal(pandas.read_parquet("whole.parquet"), pandas.read_parquet("pieces.parquet"))

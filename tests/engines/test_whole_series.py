"""One series read on a public grid; what is unusable is left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from chronodp.engines import find_source, read_series
from chronodp.privacy import Calendar

ROWS = """at,who,v
2026-01-03,ann,3
2026-01-01,ann,1
2026-01-02,ann,2
2026-01-02,bo,7
nonsense,bo,8
2026-01-02,bo,text
2026-01-02,,9
2026-01-02,bo,inf
2026-01-02,bo,
"""
DAYS = Calendar("1D", "2026-01-01", "2026-01-05")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


@pytest.mark.slow
def test_one_series_keeps_its_places_whatever_rows_there_are(file: Path) -> None:
    whole = read_series(find_source(file), DAYS, time="at", value="v")
    np.testing.assert_array_equal(whole, [1.0, 6.0, 3.0, np.nan])  # the second: 2, 7 and 9
    lines = ROWS.splitlines(keepends=True)
    for left_out in range(1, len(lines)):
        file.write_text("".join(lines[:left_out] + lines[left_out + 1 :]), encoding="utf-8")
        without = read_series(find_source(file), DAYS, time="at", value="v")
        assert int((~np.isclose(without, whole, equal_nan=True)).sum()) <= 1

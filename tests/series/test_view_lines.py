"""Which lines of many a chart draws, and what it says of them: also of none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import chronodp as cdp
from chronodp.ledger import Ledger
from chronodp.series import Release


def released(folder: Path, keys: list[str], *, people: int = 3) -> Release:
    """Release a count by declared keys, of which later ones have more people."""
    rows = [("2026-01-01", f"{key}-{who}", key) for at, key in enumerate(keys) for who in range(people * at)]
    series = cdp.TimeSeries(
        pandas.DataFrame(rows, columns=["at", "who", "page"]),
        time="at",
        user="who",
        every="1D",
        start="2026-01-01",
        end="2026-01-02",
        unit=cdp.User(),
        max_periods=1,
    )
    with Ledger(folder / "budget.db") as ledger:
        ledger.open("web", unit=cdp.User(), epsilon=100.0)
        return series.count().by(page=keys).plan(epsilon=50.0).release(ledger, dataset="web", request="one")


@pytest.mark.slow
def test_of_many_lines_the_largest_are_drawn_and_counted(tmp_path: Path) -> None:
    keys = [f"page {number}" for number in range(30)]
    release = released(tmp_path, keys, people=10)
    figure: Any = release.plot()
    drawn = [trace.name for trace in figure.data if trace.fill is None]
    assert drawn == keys[6:]
    assert "drawn are the largest 24 of 30, the table has all" in figure.layout.title.subtitle.text
    assert "drawn" not in release.each_period().note


@pytest.mark.slow
def test_of_published_lines_those_with_values_are_drawn(tmp_path: Path) -> None:
    keys = [f"page {number}" for number in range(30)]
    view = released(tmp_path, keys, people=10).each_period().publish(relative=0.0005)
    shown = view.to_pandas().dropna(subset="value")["page"].tolist()
    figure: Any = view.plot()
    drawn = [trace.name for trace in figure.data if trace.fill is None and trace.name]
    assert 0 < len(shown) < 24
    assert [name for name in keys if name in drawn] == shown
    assert f"drawn are {len(shown)} of 30, those with most values, the table has all" in view.drawn_note


def test_keys_that_differ_in_a_nul_stay_apart(tmp_path: Path) -> None:
    release = released(tmp_path, ["nul", "nul\x00"])
    assert release.to_pandas()["page"].tolist() == ["nul", "nul\x00"]
    assert release.to_arrow()["page"].to_pylist() == ["nul", "nul\x00"]


@pytest.mark.parametrize("note", ["", "No key of page had enough people"])
def test_a_chart_of_nothing_says_so(note: str) -> None:
    from chronodp.report import series_figure

    figure = series_figure([], title="Visits", value_name="people", note=note)
    assert figure.layout.annotations[0].text == (note or "nothing to show")
    assert not figure.layout.xaxis.visible
    assert np.all([not trace for trace in figure.data])

"""What a program hands to the streams of a live run is checked before anything is debited or released."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chronodp as cdp
from chronodp.alerts import design_alert
from chronodp.errors import InvalidArgument
from chronodp.live.streams import open_streams
from chronodp.series import Stream, design_stream
from chronodp.series.windowed import Uniform, design_windowed
from tests.cases import raising

BAD_TOTALS = [None, 3.0, [1.0, 2.0], [["a"]], [[np.nan]], [[1.0], [np.inf]], [[1.0, 2.0]], [[1.0], [2.0, 3.0]]]
WINDOW = cdp.Window(3)
STREAM = design_stream(
    cdp.EachPeriod(), unit=WINDOW, horizon=9, max_periods=None, change=1.0, keys=1, max_groups=1, epsilon=1.0, delta=0.0
)
DESIGNS: dict[str, Any] = {
    "stream": STREAM,
    "windowed": design_windowed(Uniform(), unit=WINDOW, change=1.0, columns=1, epsilon=1.0),
    "alert": design_alert(above=5.0, change=1.0, unit=WINDOW, max_alerts=2, epsilon=1.0),
}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as store:
        store.open("doors", unit=WINDOW, epsilon=10.0)
        yield store


@pytest.mark.parametrize("kind", DESIGNS)
def test_totals_that_are_no_table_of_finite_numbers_release_nothing(ledger: cdp.Ledger, kind: str) -> None:
    (stream,) = open_streams({kind: DESIGNS[kind]}, ledger=ledger, dataset="doors")
    for totals in BAD_TOTALS:
        with raising(InvalidArgument, match="totals", case=totals):
            stream.release_windows(0, totals, level=0.95)
        assert stream.period == 0, totals
    assert len(stream.release_windows(0, [[1], [2]], level=0.95)) == 2  # whole numbers in a list are numbers


def test_designs_are_given_by_name(ledger: cdp.Ledger) -> None:
    cases: list[Any] = [None, [STREAM], STREAM, {"one": 3}, {"one": None}]
    for designs in cases:
        with raising(InvalidArgument, match="designs", case=designs):
            open_streams(designs, ledger=ledger, dataset="doors")
    with pytest.raises(InvalidArgument, match="ledger"):  # its path is none
        open_streams({"one": STREAM}, ledger="budget.db", dataset="doors")  # type: ignore[arg-type]
    assert not ledger.history("doors")


def test_a_stream_to_be_opened_by_another_is_checked() -> None:
    cases: list[tuple[Any, Any]] = [(None, 3), (STREAM, 3), (DESIGNS["alert"], None)]
    for design, entropy in cases:
        with raising(InvalidArgument, case=(design, entropy)):
            Stream.opening(design, "one", entropy=entropy)

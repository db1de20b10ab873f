"""Reading ratios of many places: the time beside one pass of numpy over the same cells."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import chronodp as cdp
from benchmarks.harness import Topic, alone, show
from chronodp.engines import Grouping
from chronodp.series import Count, Table, each
from chronodp.series.readings.axes import Columns, Rows
from chronodp.series.readings.covariance import IndependentPlaces
from chronodp.series.readings.linear import Linear, Source, Term
from chronodp.series.readings.made import RatioReading
from chronodp.series.readings.weights import identity, of_windows
from chronodp.series.shapes import SquareRoot, White
from chronodp.series.workloads import RunningTotal

PLACES, DAYS = 100_000, 365


def measure() -> Topic:
    topic = Topic(
        f"Ratios of {PLACES:,} places on {DAYS} days with their sets, one core",
        "python -m benchmarks.ratios",
        ("what", "seconds of the processor", "times as long as one division of the same cells by numpy"),
    )
    for what in _WHAT:
        taken, plain = alone(_timed, what)
        topic.rows.append((what, taken, taken / plain))
    topic.notes = [f"{PLACES * DAYS:,} cells: value, both ends, kind and reason of each; Gaussian noise"]
    return topic


def _timed(what: str) -> tuple[float, float]:
    reading = _WHAT[what]()
    above, below = (next(iter(part.sources.values())).numbers for part in (reading.numerator, reading.denominator))
    plain = min(_seconds(lambda: above / below) for _ in range(3))
    return _seconds(lambda: reading.cells(0.95)), plain


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _single(key: str, *, shaped: bool) -> Linear:
    chance = np.random.default_rng(len(key))
    numbers = chance.normal(200.0, 30.0, (DAYS, PLACES))
    shape = SquareRoot(RunningTotal()) if shaped else White()
    source = Source(key, key, numbers, "gaussian", 4.0, shape, IndependentPlaces(PLACES))
    days = np.arange(DAYS)
    return Linear((Term(source, of_windows(days, days + 1), identity(PLACES)),))


def _rows() -> tuple[Rows, Columns]:
    table = Table(Count(), cdp.Event(), DAYS)
    places = Grouping("place", tuple(str(place) for place in range(PLACES)))
    return Rows(table, each(DAYS), "single"), Columns((places,))


def _parts() -> RatioReading:
    return RatioReading(*_rows(), _single("some", shaped=False), _single("everyone", shaped=False), (0.0, 1.0))


def _change() -> RatioReading:
    days = _single("some", shaped=True)
    baseline = days.averaged([np.arange(35)]).rows(np.zeros(DAYS, np.int64))
    return RatioReading(*_rows(), days, baseline, (0.0, np.inf), 100.0, -100.0)


_WHAT: dict[str, Callable[[], RatioReading]] = {
    "a part of a whole, two releases": _parts,
    "change against five weeks, shaped noise": _change,
}


if __name__ == "__main__":
    show(measure)

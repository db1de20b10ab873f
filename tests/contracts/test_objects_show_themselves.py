"""Every object that a user meets says in a line, a text and a notebook what it is, and nothing of anybody's rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.fuzz.calls import MARK, ROWS

import chronodp as cdp
from chronodp import spectrum
from chronodp.randomness import seeded

WHEN: dict[str, Any] = {"every": "1D", "start": "2026-01-01", "end": "2026-01-05"}
NAMES: dict[str, Any] = {"time": "at", "user": "who"}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as opened:
        opened.open("rows", unit=cdp.Event(), epsilon=100.0, delta=1e-4, rule="renyi")
        opened.open("people", unit=cdp.User(), epsilon=100.0, delta=1e-4)
        yield opened


def series(**more: Any) -> cdp.TimeSeries:
    return cdp.TimeSeries(ROWS, **NAMES, **WHEN, unit=cdp.User(), **more)


def streams(ledger: cdp.Ledger) -> dict[str, Any]:
    terms: dict[str, Any] = {"change": 1.0, "unit": cdp.Event(), "ledger": ledger, "dataset": "rows"}
    running: dict[str, Any] = {**terms, "horizon": 100, "epsilon": 1.0, "entropy": seeded(1)}
    alone = cdp.Stream(cdp.RunningTotal(), name="alone", **running)
    several = cdp.Stream(cdp.EachPeriod(), name="several", keys=3, **running)
    alone.steps(np.arange(20.0))
    several.steps(np.ones((5, 3)))
    alarm = cdp.Alert(above=500.0, max_alerts=1, epsilon=1.0, name="alarm", **terms)
    alarm.steps([0.0, 1e6])
    return {"alone": alone, "several": several, "alarm": alarm}


def met(ledger: cdp.Ledger, tmp_path: Path) -> dict[str, Any]:
    """What people hold in their hands, by a word for each."""
    bounded = series(max_periods=2)
    counted = bounded.count()
    day = cdp.TimeSeries(ROWS, **NAMES, every="1D", start="2026-01-01", end="2026-01-02", unit=cdp.User())
    life = day.count().lifetime(epsilon=1.0, delta=1e-6, max_periods=12)
    bought = life.open(ledger, dataset="people", name="life", tally=tmp_path / "tally")
    bought.issue(ROWS, start="2026-01-01", end="2026-01-02", request="first", entropy=seeded(2))
    waves = spectrum.Spectrum([float(MARK), 2.0, 1.0, 3.0], change=1.0, unit=cdp.Event()).plan(
        spectrum.WholeSpectrum(), epsilon=1.0
    )
    together = cdp.plan_together({"one": counted, "two": bounded.sum("kwh", clip=(0.0, 3.0))}, epsilon=1.0, delta=1e-6)
    plan = counted.plan(epsilon=1.0, delta=1e-6)
    return {
        **streams(ledger),
        "table": bounded,
        "table to be bounded": series(max_periods=cdp.Find(), where="kwh > 0", columns={"much": "kwh > 3"}),
        "table of rows": cdp.TimeSeries(ROWS, time="at", **WHEN, unit=cdp.Event()),
        "question": counted.by(site=["north", "south"]),
        "question to be bounded": series(max_periods=cdp.Find()).count(),
        "totals": cdp.Aggregate([float(MARK), 2.0, 3.0], change=5.0, unit=cdp.User(), max_periods=2),
        "plan": plan,
        "plan to be bounded": series(max_periods=cdp.Find()).count().plan(epsilon=1.0),
        "plan of keys": counted.by(site=cdp.Discover(max_keys=1)).plan(epsilon=1.0, delta=1e-6),
        "plan of quantiles": bounded.quantiles("kwh", [0.5], edges=[0, 1, 2]).plan(epsilon=1.0),
        "plan of a spectrum": waves,
        "plan together": together,
        "plan of an alert": cdp.Alert.plan(
            quiet=0.0, loud=90.0, change=1.0, unit=cdp.Event(), max_alerts=1, false_alarms=0.1, power=0.9
        ),
        "plan for ever": life,
        "series for ever": bought,
        "its status": bought.status,
        "release": plan.release(ledger, dataset="people", request="days", entropy=seeded(3)),
        "release of a spectrum": waves.release(ledger, dataset="rows", request="waves", entropy=seeded(4)),
        "release together": together.release(ledger, dataset="people", request="both", entropy=seeded(5)),
        "status": ledger.status("people"),
        "ledger": ledger,
    }


@pytest.mark.slow
def test_each_says_what_it_is_and_nothing_of_the_rows(ledger: cdp.Ledger, tmp_path: Path) -> None:
    for word, one in met(ledger, tmp_path).items():
        html = one._repr_html_()
        for text in (repr(one), str(one), html):
            assert MARK not in text, word
        assert repr(one).startswith(type(one).__name__), word
        assert len(repr(one)) < 320, word
        assert "\n" not in repr(one), word
        assert len(str(one).splitlines()) < 60, word
        ElementTree.fromstring(re.sub(r"<br>|&nbsp;", "", f"<div>{html}</div>"))  # what is opened is closed
        assert "<script" not in html, word
        assert len(html) < 60_000, word


def test_what_others_wrote_is_escaped() -> None:
    odd = cdp.TimeSeries(ROWS, time="at", user="<b>who\x1b", **WHEN, unit=cdp.User(), max_periods=2)
    assert "<b>who" not in odd._repr_html_()
    assert "\x1b" not in str(odd) + odd._repr_html_()


def test_a_stream_draws_what_it_released(ledger: cdp.Ledger) -> None:
    made = streams(ledger)
    alone, several, alarm = made["alone"], made["several"], made["alarm"]
    assert "<svg" in alone._repr_html_()
    assert "20 of 100 released" in str(alone)
    assert "whoever knows the seed" in str(alone)
    figure = alone.plot()
    drawn = [trace for trace in figure.data if trace.name == "alone" and trace.mode != "none"]
    assert any(len(trace.y) == 20 for trace in drawn)
    assert {"several 1", "several 2", "several 3"} <= {trace.name for trace in several.plot().data}
    assert "1 of 1 told, at step 1; halted" in str(alarm)
    empty = cdp.Stream(
        cdp.RunningTotal(),
        horizon=3,
        change=1.0,
        unit=cdp.Event(),
        epsilon=1.0,
        ledger=ledger,
        dataset="rows",
        name="e",
    )
    assert "<svg" not in empty._repr_html_()

"""Filters and derived columns at the front door: part of the plan, its words, its certificate and its identity."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import chronodp as cdp
from chronodp.errors import InvalidArgument, RequestConflict, UnknownDocument
from chronodp.privacy import dump, load, to_document
from chronodp.series import Table

ROWS = pd.DataFrame(
    {
        "at": pd.date_range("2026-01-01", periods=240, freq="h", tz="UTC"),
        "who": [f"p{number % 40}" for number in range(240)],
        "origin": ["JFK" if number % 3 else "LGA" for number in range(240)],
        "delay": [number % 60 - 20.0 for number in range(240)],
        "miles": [100.0 + number for number in range(240)],
        "minutes": [number % 5 for number in range(240)],
    }
)


def flights(**given: Any) -> cdp.TimeSeries:
    return cdp.TimeSeries(
        ROWS, time="at", user="who", every="1D", start="2026-01-01", end="2026-01-11", unit=cdp.User(), max_periods=10,
        **given,
    )  # fmt: skip


def test_a_plan_says_its_filter_and_its_columns() -> None:
    series = flights(where="origin='JFK'", columns={"late": "delay>15", "speed": "miles/minutes*60"})
    query = series.sum("late", clip=(0.0, 1.0)).where("minutes > 0 OR delay > 0").where("miles < 300")
    joined = "origin = 'JFK' AND (minutes > 0 OR delay > 0) AND miles < 300"
    assert query.table.where == joined
    assert [str(one) for one in query.table.columns or ()] == ["late = delay > 15"]  # speed is not asked for
    plan = query.plan(epsilon=1.0)
    flat = " ".join(str(plan).split())
    assert f"Rows where {joined} Columns late = delay > 15 Noise" in flat
    assert f"rows where {joined}; late = delay > 15" in plan.certificate_for(seeded=False).mechanism
    assert load(dump(plan.design.table), Table) == plan.design.table
    assert plan.on(ROWS, start="2026-01-02").design.table.where == joined


@pytest.mark.slow
def test_the_numbers_are_those_of_a_table_that_was_filtered_before() -> None:
    kept = ROWS[(ROWS.origin == "JFK") & (ROWS.delay > 0)]
    kept = kept.assign(late=(kept.delay > 15).astype(float))
    plain = cdp.TimeSeries(
        kept, time="at", user="who", every="1D", start="2026-01-01", end="2026-01-11", unit=cdp.User(), max_periods=10
    )
    mine = flights(where="origin = 'JFK' AND delay > 0", columns={"late": "delay > 15"})
    for one, other in (
        (mine.sum("late", clip=(0.0, 1.0)), plain.sum("late", clip=(0.0, 1.0))),
        (mine.mean("late", clip=(0.0, 1.0), of="people"), plain.mean("late", clip=(0.0, 1.0), of="people")),
        (mine.variance("late", clip=(0.0, 1.0)), plain.variance("late", clip=(0.0, 1.0))),
        (mine.histogram("late", edges=[0.0, 0.5, 1.0]), plain.histogram("late", edges=[0.0, 0.5, 1.0])),
        (mine.count().by(late=[True, False]), plain.count().by(late=[1, 0])),
        (mine.sum("late", clip=(0.0, 1.0)).total(every="5D"), plain.sum("late", clip=(0.0, 1.0)).total(every="5D")),
    ):
        found, expected = (
            query.plan(epsilon=1.0, delta=1e-6).read(key="k", progress=lambda _: None) for query in (one, other)
        )
        assert all((a == b).all() for a, b in zip(found, expected, strict=True))
        assert any(part.any() for part in found)


def test_a_request_is_found_by_its_filter(tmp_path: Any) -> None:
    ledger = cdp.Ledger(tmp_path / "budget.db")
    ledger.open("flights", unit=cdp.User(), epsilon=4.0)
    query = flights().count()
    first = query.where("delay>0").plan(epsilon=1.0).release(ledger, dataset="flights", request="r")
    again = flights(where="(delay > 0)").count().plan(epsilon=1.0).release(ledger, dataset="flights", request="r")
    assert again.to_pandas().equals(first.to_pandas())  # the same filter, however it is written
    with pytest.raises(RequestConflict):
        query.where("delay > 1").plan(epsilon=1.0).release(ledger, dataset="flights", request="r")


def test_what_does_not_fit_is_refused_before_anything_is_read() -> None:
    columns = {"late": "delay > 15", "coast": "CASE WHEN origin = 'JFK' THEN 'east' END"}
    with pytest.raises(InvalidArgument, match=r"columns\['coast'\] must be such that a number"):
        flights(columns=columns).sum("coast", clip=(0.0, 1.0))
    with pytest.raises(InvalidArgument, match="time must be a column of the table"):
        flights(columns={"at": "delay + 1"})
    with pytest.raises(InvalidArgument, match="where"):
        flights().count().where(None)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="is derived"):
        flights(columns=columns).count().where("late")
    with pytest.raises(InvalidArgument, match=r"got 'random\(\)'"):
        flights(where="random() < 0.5")
    document = to_document(flights(where="delay > 0").count().table)
    with pytest.raises(InvalidArgument, match="where"):
        load({**document, "where": "now() > 0"}, Table)
    with pytest.raises(InvalidArgument, match="columns"):
        load({**document, "columns": []}, Table)
    with pytest.raises((InvalidArgument, UnknownDocument)):
        load({**document, "columns": ["late"]}, Table)

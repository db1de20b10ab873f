"""Plans carried over to another month, totals of someone else, and what is printed."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.series.releases import BERLIN, EDGES, Forbidden, Silent, made, night, readings, values

import chronodp as cdp
from chronodp.errors import BudgetExhausted, InvalidArgument, RequestConflict


def january(data: object, **changes: Any) -> cdp.TimeSeries:
    options: dict[str, Any] = {"start": "2026-01-01", "end": "2026-02-01", "timezone": "UTC", "max_periods": 24}
    return night(data, **(options | changes))


def month(start: str, hours: int) -> pd.DataFrame:
    times = pd.date_range(start, periods=hours, freq="h", tz="UTC")
    return pd.DataFrame({"at": times, "who": [f"p{hour}" for hour in range(hours)], "kwh": 1.0, "region": "north"})


@pytest.mark.slow
def test_the_same_plan_for_the_next_month(ledger: cdp.Ledger) -> None:
    ledger.open("monthly", unit=cdp.User(), epsilon=1.0, renews="1mo")
    plan = january(month("2026-01-01", 744)).count().by(region=["north", "south"]).plan(epsilon=1.0)
    later = plan.on(month("2026-02-01", 600), start="2026-02-01", end="2026-03-01")
    assert (plan.design.table.horizon, later.design.table.horizon) == (744, 672)
    assert later.design.noises == plan.design.noises
    assert later.design.table.groupings == plan.design.table.groupings
    assert (later.design.epsilon, later.delta) == (plan.design.epsilon, plan.delta)
    first = made(plan, ledger, "january", dataset="monthly", entropy=Silent())
    second = made(later, ledger, "february", dataset="monthly", entropy=Silent())
    assert values(first, 2)[:, 0].tolist() == [1.0] * 744
    assert values(second, 2)[:, 0].tolist() == [1.0] * 600 + [0.0] * 72
    assert second.to_pandas()["time"].iloc[0] == pd.Timestamp("2026-02-01", tz="UTC")
    # January is spent, February was, and neither pays for the other.
    assert [ledger.status("monthly", period=period).charges for period in ("2026-01", "2026-02")] == [1, 1]
    with pytest.raises(BudgetExhausted):
        made(later, ledger, "february again", dataset="monthly", entropy=Forbidden())
    with pytest.raises(RequestConflict):
        made(later, ledger, "january", dataset="monthly", entropy=Forbidden())
    with pytest.raises(InvalidArgument, match="end must be after the start"):
        plan.on(month("2026-02-01", 600), start="2026-02-01")
    same = plan.on(month("2026-01-01", 24))
    assert same.design == plan.design


def test_everyday_of_a_month_carries_over_to_a_shorter_one() -> None:
    plan = january(month("2026-01-01", 744), every="1D", max_periods=31).count().plan(epsilon=1.0)
    later = plan.on(month("2026-02-01", 600), start="2026-02-01", end="2026-03-01")
    assert later.design.noises[0].sensitivity == 28


def test_totals_of_someone_else_with_dates(ledger: cdp.Ledger) -> None:
    totals = [120.5, 95.0, -101.25]
    days = cdp.Aggregate(
        totals, change=5.0, unit=cdp.User(), max_periods=3, every="1D", start="2026-10-24", timezone=BERLIN, name="load"
    )
    plan = days.plan(epsilon=1.0)
    release = made(plan, ledger, entropy=Silent())
    assert values(release)[:, 0] == pytest.approx(totals, abs=1e-6)
    assert release.to_pandas()["time"].astype(str).tolist() == [
        "2026-10-24 00:00:00+02:00",
        "2026-10-25 00:00:00+02:00",
        "2026-10-26 00:00:00+01:00",
    ]
    assert "load" in str(plan)
    assert values(release.running_total())[-1, 0] == pytest.approx(sum(totals), abs=1e-6)
    later = plan.on([1.0, 2.0, 3.0, 4.0], start="2026-11-01")
    assert later.design.table.calendar is not None
    assert len(later.design.table.calendar) == 4
    assert later.design.table.calendar.start.startswith("2026-11-01")
    for wrong, name in (({"every": "1D"}, "every"), ({"start": "2026-01-01"}, "every")):
        with pytest.raises(InvalidArgument) as caught:
            cdp.Aggregate(totals, change=5.0, unit=cdp.Event(), **wrong)  # type: ignore[arg-type]
        assert caught.value.name == name
    by_day = cdp.Aggregate([1.0] * 48, change=5.0, unit=cdp.UserPeriod("1D"), every="1h", start="2026-01-01")
    assert by_day.plan(epsilon=1.0).design.noises[0].sensitivity == pytest.approx(24 * 5, rel=1e-6)


def test_totals_of_someone_else_without_dates(ledger: cdp.Ledger) -> None:
    plan = cdp.Aggregate(np.arange(5), change=2, unit=cdp.User(), max_periods=1).plan(epsilon=1.0)
    assert values(made(plan, ledger, entropy=Silent()))[:, 0].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    with pytest.raises(InvalidArgument, match="end must be left out: the number of totals tells it"):
        plan.on([1.0], end="2026-01-01")
    with pytest.raises(InvalidArgument, match="plan must be about a table of records"):
        plan.diagnose()
    longer = plan.on([1.0] * 9)
    assert longer.design.table.horizon == 9
    far = cdp.Aggregate([1e300, -1e300, 0.0], change=1.0, unit=cdp.User(), max_periods=1).plan(epsilon=1.0)
    assert np.all(np.isfinite(values(made(far, ledger, "far"))))


SECRET_NAME, SECRET_VALUE = "zaphod", 424242.125


def test_nothing_of_the_data_is_printed(ledger: cdp.Ledger) -> None:
    table = readings().assign(who=SECRET_NAME, kwh=SECRET_VALUE)
    series = night(table)
    query = series.sum("kwh", clip=(0.0, 5.0)).by(region=["north", "south"])
    plan = query.plan(epsilon=1.0, delta=1e-6)
    totals = cdp.Aggregate([SECRET_VALUE, 1.0], change=1.0, unit=cdp.User(), max_periods=1)
    made(plan, ledger)
    with pytest.raises(RequestConflict) as conflict:
        made(series.count().plan(epsilon=1.0), ledger)
    with pytest.raises(InvalidArgument) as refused:
        cdp.Aggregate([str(SECRET_VALUE), SECRET_NAME], change=1.0, unit=cdp.Event())
    for thing in (query.records, plan.origin, totals.plan(epsilon=1.0).origin, conflict.value, refused.value):
        for text in (str(thing), repr(thing)):
            assert SECRET_NAME not in text
            assert "424242" not in text
            assert "4.24242" not in text


def test_every_plan_tells_price_error_and_promise(subtests: pytest.Subtests) -> None:
    for delta, unit in itertools.product(
        [0.0, 1e-6], [cdp.Event(), cdp.Event("replace"), cdp.User("replace"), cdp.UserPeriod("1D"), cdp.Window(3)]
    ):
        with subtests.test(delta=delta, unit=unit):
            series = night(unit=unit, max_periods=4 if isinstance(unit, cdp.User) else None)
            queries = [
                series.count(),
                series.count().by(region=["north", "south"]),
                series.sum("kwh", clip=(0.0, 4.0)),
                series.mean("kwh", clip=(0.0, 4.0), of="people"),
                series.mean("kwh", clip=(0.0, 4.0), of="totals"),
                series.histogram("kwh", edges=EDGES, of="rows"),
                series.variance("kwh", clip=(0.0, 4.0)),
                series.histogram("kwh", edges=EDGES),
            ]
            if unit.relation == "replace":
                queries.append(series.mean("kwh", clip=(0.0, 4.0), people=10, of="totals"))
            for query in queries:
                plan = query.plan(epsilon=0.5, delta=delta)
                text = str(plan)
                for label in ("Releases", "Protects", "Does not protect:", "One unit", "Noise", "Error", "Price"):
                    assert f"\n{label} " in f"\n{text}"
                assert max(map(len, text.splitlines())) <= 100
                table = plan.alternatives
                assert len(table) == (2 if delta else 1)
                assert table["rmse_mean"].is_monotonic_increasing
                assert table["noise"][0] == plan.design.law
                assert plan.half_width(0.95) == pytest.approx(table["half_width"][0])
                assert plan.half_width(0.5) < plan.half_width() < plan.half_width(0.999)
                assert plan.claim.cost == plan.design.cost


def test_what_bounding_takes_away_is_for_the_owner(ledger: cdp.Ledger) -> None:
    plan = night(max_periods=1).sum("kwh", clip=(0.0, 4.0)).plan(epsilon=1.0)
    diagnosis = plan.diagnose(bounds=True, progress=lambda _: None)
    assert str(diagnosis).startswith("FOR THE OWNER ONLY")
    assert "chosen by looking at the figures below is not private" in str(diagnosis)
    assert diagnosis.tally is not None
    assert (diagnosis.tally.people, diagnosis.tally.people_over) == (3, 2)
    assert (diagnosis.tally.cells, diagnosis.tally.cells_kept) == (5, 3)
    assert ledger.status("meters").charges == 0
